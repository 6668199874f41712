"""All nouns of the first version, and the triggers that keep the audit trail append-only on both databases."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

# REPLACE INTO deletes without asking the delete trigger: the third one asks for it.
SQLITE = """
CREATE TRIGGER audit_no_update BEFORE UPDATE ON inspector_auditentry BEGIN SELECT RAISE(ABORT, 'the audit trail is append-only'); END;
CREATE TRIGGER audit_no_delete BEFORE DELETE ON inspector_auditentry BEGIN SELECT RAISE(ABORT, 'the audit trail is append-only'); END;
CREATE TRIGGER audit_no_replace BEFORE INSERT ON inspector_auditentry \
WHEN EXISTS (SELECT 1 FROM inspector_auditentry WHERE seq = NEW.seq OR prev = NEW.prev OR hash = NEW.hash) \
BEGIN SELECT RAISE(ABORT, 'the audit trail is append-only'); END;
"""
POSTGRESQL = """
CREATE FUNCTION inspector_audit_refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'the audit trail is append-only'; END $$;
CREATE TRIGGER audit_no_change BEFORE UPDATE OR DELETE ON inspector_auditentry FOR EACH ROW EXECUTE FUNCTION inspector_audit_refuse();
CREATE TRIGGER audit_no_truncate BEFORE TRUNCATE ON inspector_auditentry FOR EACH STATEMENT EXECUTE FUNCTION inspector_audit_refuse();
"""


def guard_audit(apps, schema_editor):
    """Refuse UPDATE, DELETE and TRUNCATE of audit entries in the database itself."""
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute(POSTGRESQL)
    else:
        for statement in SQLITE.strip().splitlines():
            schema_editor.execute(statement)


def release_audit(apps, schema_editor):
    """Undo `guard_audit`, for a migration back to nothing."""
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute("DROP TRIGGER audit_no_change ON inspector_auditentry")
        schema_editor.execute("DROP TRIGGER audit_no_truncate ON inspector_auditentry")
        schema_editor.execute("DROP FUNCTION inspector_audit_refuse()")
    else:
        schema_editor.execute("DROP TRIGGER audit_no_update")
        schema_editor.execute("DROP TRIGGER audit_no_delete")
        schema_editor.execute("DROP TRIGGER audit_no_replace")


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Artifact",
            fields=[
                ("sha256", models.CharField(max_length=64, primary_key=True, serialize=False)),
                ("size", models.BigIntegerField(db_index=True)),
                ("stored_size", models.BigIntegerField()),
                ("codec", models.CharField(choices=[("zstd-frames", "zstd frames that end at row ends")], default="zstd-frames", max_length=16)),
                ("key", models.CharField(max_length=120, unique=True)),
                ("frames", models.BinaryField()),
                ("created", models.DateTimeField(auto_now_add=True)),
            ],
        ),
        migrations.CreateModel(
            name="AuditEntry",
            fields=[
                ("seq", models.BigIntegerField(primary_key=True, serialize=False)),
                ("prev", models.CharField(max_length=64, unique=True)),
                ("hash", models.CharField(max_length=64, unique=True)),
                ("body", models.TextField()),
                ("at", models.DateTimeField()),
                ("actor", models.CharField(max_length=150)),
                ("action", models.CharField(max_length=60)),
                ("session", models.BigIntegerField(db_index=True, null=True)),
            ],
            options={
                "db_table": "inspector_auditentry",
                "ordering": ["seq"],
                "managed": True,
            },
        ),
        migrations.CreateModel(
            name="Revision",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("number", models.PositiveIntegerField()),
                ("kind", models.CharField(choices=[("imported", "Imported"), ("repaired", "Repaired"), ("forked", "Forked")], max_length=10)),
                ("digest", models.CharField(db_index=True, max_length=64)),
                ("hints", models.JSONField(default=dict)),
                ("plan", models.JSONField(null=True)),
                ("lineage", models.JSONField(default=dict)),
                ("note", models.TextField(blank=True)),
                ("created", models.DateTimeField(auto_now_add=True)),
                (
                    "verdict",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("ready", "Ready to resume"),
                            ("needs-repair", "Needs repair"),
                            ("needs-reconciliation", "Something may have happened"),
                            ("live", "Live"),
                            ("blocked", "Can't be resumed"),
                            ("finished", "Finished"),
                        ],
                        max_length=24,
                    ),
                ),
                ("summary", models.TextField(blank=True)),
                ("profile", models.CharField(blank=True, max_length=40)),
                ("leaf", models.CharField(blank=True, max_length=24)),
                ("refused", models.TextField(blank=True)),
                ("added", models.JSONField(default=list)),
                ("counts", models.JSONField(default=dict)),
                ("author", models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="+", to=settings.AUTH_USER_MODEL)),
                (
                    "parent",
                    models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="children", to="inspector.revision"),
                ),
            ],
            options={
                "ordering": ["session", "number"],
            },
        ),
        migrations.CreateModel(
            name="IndexedRow",
            fields=[
                ("pk", models.CompositePrimaryKey("revision_id", "seq", blank=True, editable=False, primary_key=True, serialize=False)),
                ("seq", models.PositiveIntegerField()),
                ("part", models.PositiveIntegerField()),
                ("idx", models.PositiveIntegerField()),
                ("start", models.BigIntegerField()),
                ("end", models.BigIntegerField()),
                ("kind", models.CharField(max_length=10)),
                ("type", models.CharField(max_length=80)),
                ("uuid", models.CharField(blank=True, max_length=80)),
                ("parent_uuid", models.CharField(blank=True, max_length=80)),
                ("at", models.CharField(blank=True, max_length=40)),
                ("role", models.CharField(blank=True, max_length=20)),
                ("sidechain", models.BooleanField(default=False)),
                ("damage", models.CharField(blank=True, max_length=40)),
                ("faults", models.CharField(blank=True, max_length=200)),
                ("blocks", models.CharField(blank=True, max_length=200)),
                ("calls", models.TextField(blank=True)),
                ("results", models.TextField(blank=True)),
                ("tools", models.TextField(blank=True)),
                ("on_branch", models.BooleanField(default=False)),
                ("pointers", models.TextField(blank=True)),
                ("stage", models.CharField(blank=True, max_length=12)),
                ("reason", models.CharField(blank=True, max_length=40)),
                ("because", models.CharField(blank=True, max_length=24)),
                (
                    "revision",
                    models.ForeignKey(
                        db_index=False, on_delete=django.db.models.deletion.CASCADE, related_name="indexed_rows", to="inspector.revision"
                    ),
                ),
            ],
            options={
                "ordering": ["revision", "seq"],
            },
        ),
        migrations.CreateModel(
            name="Session",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("client", models.CharField(max_length=40)),
                ("native_id", models.CharField(blank=True, max_length=200)),
                ("name", models.CharField(max_length=255)),
                ("slug", models.CharField(blank=True, max_length=255)),
                ("folder", models.CharField(blank=True, max_length=1000)),
                ("title", models.CharField(blank=True, max_length=300)),
                ("first_prompt", models.CharField(blank=True, max_length=300)),
                ("search", models.TextField(blank=True)),
                ("version", models.CharField(blank=True, max_length=40)),
                ("model", models.CharField(blank=True, max_length=120)),
                (
                    "status",
                    models.CharField(
                        choices=[("importing", "Importing"), ("ready", "Ready"), ("failed", "Failed")], default="importing", max_length=12
                    ),
                ),
                (
                    "verdict",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("ready", "Ready to resume"),
                            ("needs-repair", "Needs repair"),
                            ("needs-reconciliation", "Something may have happened"),
                            ("live", "Live"),
                            ("blocked", "Can't be resumed"),
                            ("finished", "Finished"),
                        ],
                        max_length=24,
                    ),
                ),
                ("summary", models.TextField(blank=True)),
                ("live", models.CharField(blank=True, max_length=300)),
                ("picker", models.BooleanField(null=True)),
                ("picker_reason", models.CharField(blank=True, max_length=300)),
                ("size", models.BigIntegerField(default=0)),
                ("rows", models.IntegerField(default=0)),
                ("messages", models.IntegerField(default=0)),
                ("on_branch", models.IntegerField(default=0)),
                ("reached", models.IntegerField(default=0)),
                ("open_operations", models.IntegerField(default=0)),
                ("fatal", models.IntegerField(default=0)),
                ("errors", models.IntegerField(default=0)),
                ("warnings", models.IntegerField(default=0)),
                ("infos", models.IntegerField(default=0)),
                ("last_activity", models.DateTimeField(null=True)),
                ("created", models.DateTimeField(auto_now_add=True)),
                (
                    "source_kind",
                    models.CharField(
                        choices=[
                            ("file", "File"),
                            ("folder", "Folder"),
                            ("tree", "Projects folder"),
                            ("archive", "Archive"),
                            ("store", "Store"),
                            ("fork", "Fork made here"),
                        ],
                        max_length=10,
                    ),
                ),
                ("origin", models.CharField(blank=True, max_length=64)),
                (
                    "relation",
                    models.CharField(blank=True, choices=[("", "None"), ("sub-agent", "Sub-agent"), ("fork", "Fork")], default="", max_length=10),
                ),
                ("agent", models.CharField(blank=True, max_length=120)),
                ("current", models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="+", to="inspector.revision")),
                (
                    "imported_by",
                    models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="+", to=settings.AUTH_USER_MODEL),
                ),
                (
                    "parent",
                    models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="children", to="inspector.session"),
                ),
            ],
            options={
                "permissions": [("erase_session", "Can delete a session and erase its bytes"), ("reveal_secret", "Can show a masked secret")],
            },
        ),
        migrations.AddField(
            model_name="revision",
            name="session",
            field=models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="revisions", to="inspector.session"),
        ),
        migrations.CreateModel(
            name="Finding",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("number", models.PositiveIntegerField()),
                ("code", models.CharField(max_length=80)),
                ("severity", models.CharField(max_length=10)),
                ("rows", models.JSONField(default=list)),
                ("message", models.TextField()),
                ("repairable", models.BooleanField(default=False)),
                ("operation", models.CharField(blank=True, max_length=200)),
                ("revision", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="findings", to="inspector.revision")),
            ],
            options={
                "ordering": ["revision", "number"],
                "indexes": [models.Index(fields=["revision", "number"], name="finding_order"), models.Index(fields=["code"], name="finding_code")],
            },
        ),
        migrations.CreateModel(
            name="RevisionPart",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("number", models.PositiveIntegerField()),
                ("name", models.CharField(max_length=1000)),
                ("first_row", models.PositiveIntegerField(default=0)),
                ("rows", models.PositiveIntegerField(default=0)),
                ("artifact", models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="uses", to="inspector.artifact")),
                ("revision", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="parts", to="inspector.revision")),
            ],
            options={
                "ordering": ["revision", "number"],
                "constraints": [models.UniqueConstraint(fields=("revision", "number"), name="part_number")],
            },
        ),
        migrations.AddIndex(
            model_name="session",
            index=models.Index(fields=["-last_activity", "-id"], name="session_inbox"),
        ),
        migrations.AddIndex(
            model_name="session",
            index=models.Index(fields=["verdict", "-last_activity", "-id"], name="session_verdict"),
        ),
        migrations.AddIndex(
            model_name="session",
            index=models.Index(fields=["client", "native_id"], name="session_native"),
        ),
        migrations.AddIndex(
            model_name="session",
            index=models.Index(fields=["origin"], name="session_origin"),
        ),
        migrations.AddConstraint(
            model_name="revision",
            constraint=models.UniqueConstraint(fields=("session", "number"), name="revision_number"),
        ),
        migrations.RunPython(guard_audit, release_audit),
        migrations.AlterModelOptions("auditentry", options={"managed": False, "ordering": ["seq"]}),
    ]
