"""`manage.py verify_store`: stored bytes against their hashes, row indexes against the bytes, files against the database, the audit chain.

An index that differs is written anew from the bytes. Exit code 1 when anything was not as it should be.
"""

from __future__ import annotations

import sys
from datetime import timedelta
from typing import Any

from inspector.core.errors import ReadError
from inspector.management import base
from inspector.models import Artifact, Revision
from inspector.queries import audit, verification
from inspector.queries.artifacts import source_of
from inspector.queries.derivation import derive
from inspector.services.artifacts import delete_file
from inspector.services.rebuild_index import rebuild_index

STRAY = timedelta(days=1)


class Command(base.Command):
    help = __doc__

    def handle(self, *args: Any, **options: Any) -> None:
        damaged = self._artifacts()
        faults = len(damaged) + self._indexes(damaged) + self._files() + self._audit()
        if faults:
            sys.exit(1)

    def _artifacts(self) -> set[str]:
        damaged = set()
        total = 0
        for artifact in Artifact.objects.order_by("pk").iterator():
            total += 1
            fault = verification.artifact_fault(artifact)
            if fault:
                damaged.add(artifact.pk)
                self.stdout.write(f"artifact {artifact.pk}: {fault}")
        self.stdout.write(f"{total} artifacts, {len(damaged)} damaged")
        return damaged

    def _indexes(self, damaged: set[str]) -> int:
        total = faults = 0
        whole = Revision.objects.exclude(parts__artifact__in=damaged)
        for revision in whole.select_related("session").order_by("pk"):
            total += 1
            try:
                derivation = derive(source=source_of(revision), client=revision.session.client)
            except ReadError as error:
                self.stdout.write(f"session {revision.session_id}, revision {revision.number}: {error}")
                faults += 1
                continue
            fault = verification.index_fault(revision, derivation)
            if fault:
                faults += 1
                self.stdout.write(f"session {revision.session_id}, revision {revision.number}: {fault}; the index was written anew")
                rebuild_index(revision=revision, derivation=derivation, why=fault)
        self.stdout.write(f"{total} row indexes, {faults} differed")
        return faults

    def _files(self) -> int:
        strays = list(verification.stray_files(older_than=STRAY))
        for name, old in strays:
            self.stdout.write(f"file {name}: no artifact names it; {'removed' if old else 'left, an import may be going on'}")
            if old:
                delete_file(name)
        return sum(1 for _, old in strays if old)

    def _audit(self) -> int:
        check = audit.verify_chain()
        if check.bad is None:
            newest = audit.head()
            self.stdout.write(f"{check.entries} audit entries, the chain is whole" + (f"; newest hash {newest.hash}" if newest else ""))
            return 0
        self.stdout.write(f"audit entry {check.bad}, the first that does not fit: {check.why}")
        return 1
