"""The database's own clock: what leases and approvals are measured by, so that machines whose clocks differ agree."""

from __future__ import annotations

from typing import Any

from django.db.models.functions import Now


class DatabaseNow(Now):
    """The time when it is evaluated; on PostgreSQL not that of the transaction's or the statement's begin."""

    def as_postgresql(self, compiler: Any, connection: Any, **context: Any) -> Any:
        return self.as_sql(compiler, connection, template="CLOCK_TIMESTAMP()", **context)
