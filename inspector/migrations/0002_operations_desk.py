"""The kept ledger with leases, approvals, claims and evidence; targets, probes, policy, tokens; and the roles."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


def people_become_operators(apps, schema_editor):
    """Whoever could sign in could bring in, repair and export sessions: they still can."""
    users = apps.get_model("auth", "User").objects.filter(is_superuser=False)
    if users.exists():
        group, _ = apps.get_model("auth", "Group").objects.get_or_create(name="operator")
        group.user_set.add(*users)


class Migration(migrations.Migration):
    dependencies = [
        ("inspector", "0001_initial"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Probe",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.SlugField(max_length=80, unique=True)),
                ("kind", models.CharField(max_length=40)),
                ("config", models.JSONField(default=dict)),
                ("parameters", models.JSONField(default=dict)),
                ("active", models.BooleanField(default=True)),
            ],
            options={
                "ordering": ["name"],
            },
        ),
        migrations.AddField(
            model_name="session",
            name="place",
            field=models.CharField(blank=True, max_length=4000),
        ),
        migrations.CreateModel(
            name="ApiToken",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=80)),
                ("digest", models.CharField(max_length=64, unique=True)),
                ("created", models.DateTimeField(auto_now_add=True)),
                ("expires_at", models.DateTimeField(null=True)),
                ("revoked_at", models.DateTimeField(null=True)),
                ("user", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="api_tokens", to=settings.AUTH_USER_MODEL)),
            ],
            options={
                "ordering": ["-pk"],
            },
        ),
        migrations.CreateModel(
            name="Run",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("client", models.CharField(max_length=40)),
                ("name", models.CharField(max_length=200)),
                ("created", models.DateTimeField(auto_now_add=True)),
                (
                    "session",
                    models.OneToOneField(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="run", to="inspector.session"),
                ),
            ],
        ),
        migrations.CreateModel(
            name="Operation",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "origin",
                    models.CharField(
                        choices=[
                            ("recorded", "Found in a transcript"),
                            ("live", "Registered by an application"),
                            ("reported", "Reported by a person"),
                        ],
                        max_length=10,
                    ),
                ),
                ("key", models.CharField(max_length=200)),
                ("intent", models.CharField(max_length=200)),
                ("call_id", models.CharField(blank=True, max_length=200)),
                ("client", models.CharField(max_length=40)),
                ("tool", models.CharField(max_length=200)),
                ("arguments", models.JSONField(null=True)),
                ("target_text", models.TextField(blank=True)),
                ("target_kind", models.CharField(max_length=20)),
                ("environment", models.CharField(blank=True, max_length=80)),
                ("effect", models.CharField(max_length=12)),
                ("why_effect", models.TextField(blank=True)),
                ("policy", models.CharField(max_length=80)),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("proposed", "Waiting for approval"),
                            ("approved", "Approved, not sent"),
                            ("cancelled", "Withdrawn"),
                            ("expired", "Approval no longer valid"),
                            ("dispatched", "In progress"),
                            ("confirmed", "Done"),
                            ("failed", "Refused by the target"),
                            ("uncertain", "We don't know if this happened"),
                            ("resolved", "Resolved"),
                        ],
                        max_length=12,
                    ),
                ),
                (
                    "outcome",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("applied", "It happened"),
                            ("not-applied", "It did not happen"),
                            ("superseded", "No longer needed"),
                            ("compensated", "Undone"),
                        ],
                        max_length=12,
                    ),
                ),
                ("digest", models.CharField(max_length=64)),
                ("idempotency_key", models.CharField(blank=True, max_length=200)),
                ("key_valid_until", models.DateTimeField(null=True)),
                ("fence", models.BigIntegerField(null=True)),
                ("worker", models.CharField(blank=True, max_length=200)),
                ("sent_at", models.DateTimeField(null=True)),
                ("send_by", models.DateTimeField(null=True)),
                ("response", models.JSONField(null=True)),
                ("reason", models.TextField(blank=True)),
                ("recorded", models.JSONField(default=list)),
                ("row", models.CharField(blank=True, max_length=24)),
                ("created", models.DateTimeField(auto_now_add=True)),
                ("changed", models.DateTimeField(auto_now=True)),
                (
                    "proposer",
                    models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="+", to=settings.AUTH_USER_MODEL),
                ),
                (
                    "retry_of",
                    models.OneToOneField(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="retry", to="inspector.operation"),
                ),
                ("run", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="operations", to="inspector.run")),
                ("sessions", models.ManyToManyField(related_name="ledger", to="inspector.session")),
            ],
            options={
                "ordering": ["-pk"],
                "permissions": [
                    ("handle_session", "Can handle sessions: import, repair, fork, export, take over, claim outcomes"),
                    ("decide_operation", "Can approve operations and decide claims"),
                    ("administer_inspector", "Can change policy, targets, probes and tokens"),
                ],
            },
        ),
        migrations.CreateModel(
            name="Evidence",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("text", "Note"),
                            ("link", "Link"),
                            ("file", "File"),
                            ("probe", "Probe"),
                            ("late-result", "Result that came too late"),
                            ("file-mark", "Mark in the file"),
                        ],
                        max_length=12,
                    ),
                ),
                ("says", models.TextField(blank=True)),
                ("url", models.URLField(blank=True, max_length=2000)),
                ("file", models.FileField(blank=True, upload_to="evidence/%Y/%m/")),
                ("file_name", models.CharField(blank=True, max_length=255)),
                ("sha256", models.CharField(blank=True, max_length=64)),
                ("verdict", models.CharField(blank=True, max_length=12)),
                ("details", models.JSONField(default=dict)),
                ("at", models.DateTimeField(auto_now_add=True)),
                ("by", models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="+", to=settings.AUTH_USER_MODEL)),
                ("operation", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="evidence", to="inspector.operation")),
                ("probe", models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name="readings", to="inspector.probe")),
            ],
            options={
                "ordering": ["pk"],
            },
        ),
        migrations.CreateModel(
            name="Claim",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "outcome",
                    models.CharField(
                        choices=[
                            ("applied", "It happened"),
                            ("not-applied", "It did not happen"),
                            ("superseded", "No longer needed"),
                            ("compensated", "Undone"),
                        ],
                        max_length=12,
                    ),
                ),
                ("statement", models.TextField()),
                ("effect_exists", models.BooleanField(null=True)),
                ("made_at", models.DateTimeField(auto_now_add=True)),
                ("digest", models.CharField(max_length=64)),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("open", "Waiting for a second person"),
                            ("approved", "Approved"),
                            ("refused", "Refused"),
                            ("withdrawn", "Withdrawn"),
                        ],
                        default="open",
                        max_length=10,
                    ),
                ),
                ("decided_at", models.DateTimeField(null=True)),
                ("decision_note", models.TextField(blank=True)),
                ("alone", models.BooleanField(default=False)),
                (
                    "claimant",
                    models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="+", to=settings.AUTH_USER_MODEL),
                ),
                (
                    "decided_by",
                    models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="+", to=settings.AUTH_USER_MODEL),
                ),
                ("evidence", models.ManyToManyField(related_name="claims", to="inspector.evidence")),
                ("operation", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="claims", to="inspector.operation")),
                ("related", models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="+", to="inspector.operation")),
            ],
            options={
                "ordering": ["pk"],
            },
        ),
        migrations.CreateModel(
            name="Checkpoint",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("completed-read", "Read completed"),
                            ("saved-proposal", "Proposal saved"),
                            ("approval", "Approved"),
                            ("resolved-mutation", "Change settled"),
                        ],
                        max_length=20,
                    ),
                ),
                ("name", models.CharField(max_length=200)),
                ("details", models.JSONField(default=dict)),
                ("by", models.CharField(max_length=150)),
                ("at", models.DateTimeField(auto_now_add=True)),
                ("run", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="checkpoints", to="inspector.run")),
                (
                    "operation",
                    models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="checkpoints", to="inspector.operation"),
                ),
            ],
            options={
                "ordering": ["run", "pk"],
            },
        ),
        migrations.CreateModel(
            name="Approval",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("digest", models.CharField(max_length=64)),
                ("alone", models.BooleanField(default=False)),
                ("given_at", models.DateTimeField(auto_now_add=True)),
                ("expires_at", models.DateTimeField()),
                ("used_at", models.DateTimeField(null=True)),
                (
                    "approver",
                    models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="+", to=settings.AUTH_USER_MODEL),
                ),
                ("operation", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="approvals", to="inspector.operation")),
            ],
            options={
                "ordering": ["pk"],
            },
        ),
        migrations.CreateModel(
            name="PolicyVersion",
            fields=[
                ("number", models.PositiveIntegerField(primary_key=True, serialize=False)),
                ("policy", models.JSONField()),
                ("note", models.TextField(blank=True)),
                ("created", models.DateTimeField(auto_now_add=True)),
                ("author", models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="+", to=settings.AUTH_USER_MODEL)),
            ],
            options={
                "ordering": ["-number"],
            },
        ),
        migrations.CreateModel(
            name="Target",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.SlugField(max_length=80, unique=True)),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("key", "Knows an operation again by its key"),
                            ("lookup", "Can be asked what happened"),
                            ("http-service", "Can't be asked"),
                            ("same-database", "Its change and its operation are one transaction"),
                        ],
                        max_length=20,
                    ),
                ),
                ("contract", models.TextField(blank=True)),
                ("key_valid_seconds", models.PositiveIntegerField(default=0)),
                ("quiet_seconds", models.PositiveIntegerField(default=300)),
                ("probe_max_age_seconds", models.PositiveIntegerField(default=900)),
                ("active", models.BooleanField(default=True)),
                (
                    "probe",
                    models.ForeignKey(
                        blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name="targets", to="inspector.probe"
                    ),
                ),
            ],
            options={
                "ordering": ["name"],
            },
        ),
        migrations.AddField(
            model_name="operation",
            name="target",
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name="operations", to="inspector.target"),
        ),
        migrations.CreateModel(
            name="Lease",
            fields=[
                (
                    "run",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE, primary_key=True, related_name="lease", serialize=False, to="inspector.run"
                    ),
                ),
                ("holder", models.CharField(max_length=200)),
                ("fence", models.BigIntegerField(default=0)),
                ("taken_at", models.DateTimeField(null=True)),
                ("expires_at", models.DateTimeField()),
                ("user", models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="+", to=settings.AUTH_USER_MODEL)),
            ],
        ),
        migrations.AddConstraint(
            model_name="run",
            constraint=models.UniqueConstraint(condition=models.Q(("session__isnull", True)), fields=("client", "name"), name="run_without_session"),
        ),
        migrations.AddConstraint(
            model_name="claim",
            constraint=models.UniqueConstraint(condition=models.Q(("state", "open")), fields=("operation",), name="one_open_claim"),
        ),
        migrations.AddIndex(
            model_name="operation",
            index=models.Index(fields=["state", "-id"], name="operation_queue"),
        ),
        migrations.AddConstraint(
            model_name="operation",
            constraint=models.UniqueConstraint(fields=("client", "key"), name="operation_key"),
        ),
        migrations.AddConstraint(
            model_name="operation",
            constraint=models.UniqueConstraint(
                condition=models.Q(
                    ("state__in", ["proposed", "approved", "dispatched", "uncertain", "confirmed"]),
                    models.Q(("outcome__in", ["applied", "superseded"]), ("state", "resolved")),
                    _connector="OR",
                ),
                fields=("client", "intent"),
                name="one_per_intent",
            ),
        ),
        migrations.AddConstraint(
            model_name="operation",
            constraint=models.UniqueConstraint(
                condition=models.Q(("idempotency_key__gt", "")), fields=("target", "idempotency_key"), name="one_operation_per_key"
            ),
        ),
        migrations.AddConstraint(
            model_name="operation",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(("outcome__gt", ""), ("state", "resolved")),
                    models.Q(models.Q(("state", "resolved"), _negated=True), ("outcome", "")),
                    _connector="OR",
                ),
                name="outcome_if_resolved",
            ),
        ),
        migrations.RunPython(people_become_operators, migrations.RunPython.noop),
    ]
