"""The operations queue: what nobody knows yet first, filtered by what it waits for, paged by key (never by offset)."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import Case, Count, IntegerField, Q, QuerySet, Value, When

from inspector.models import Claim, Operation

PAGE = 50
State = Operation.State
UNDER_WAY = (State.APPROVED, State.DISPATCHED)
SETTLED = (State.CONFIRMED, State.FAILED, State.RESOLVED, State.CANCELLED, State.EXPIRED)
SHOWS: dict[str, Q] = {
    "unknown": Q(state=State.UNCERTAIN),
    "claims": Q(claims__state=Claim.State.OPEN),
    "approval": Q(state=State.PROPOSED),
    "under-way": Q(state__in=UNDER_WAY),
    "settled": Q(state__in=SETTLED),
    "all": Q(),
}
"""What is shown -> which operations: those with a claim to decide are uncertain as well (or happened and are said to be undone)."""
RANK = Case(
    When(state=State.UNCERTAIN, then=Value(0)),
    When(state=State.PROPOSED, then=Value(1)),
    When(state__in=UNDER_WAY, then=Value(2)),
    default=Value(3),
    output_field=IntegerField(),
)


@dataclass(frozen=True, slots=True)
class QueuePage:
    """One page of operations; `next` is the cursor of the following page, blank on the last."""

    operations: list[Operation]
    next: str


def queue(*, show: str = "all", after: str = "", limit: int = PAGE) -> QueuePage:
    """One page, each operation with `kept` (pieces of evidence) and `open_claims`. A cursor that can't be read counts as the beginning."""
    found = _matching(show).annotate(rank=RANK).order_by("rank", "-pk")
    if (key := _key(after)) is not None:
        rank, pk = key
        found = found.filter(Q(rank__gt=rank) | Q(rank=rank, pk__lt=pk))
    found = found.select_related("run__session", "target", "proposer").annotate(
        kept=Count("evidence", distinct=True), open_claims=Count("claims", filter=Q(claims__state=Claim.State.OPEN), distinct=True)
    )
    operations = list(found[: limit + 1])
    more = len(operations) > limit
    operations = operations[:limit]
    return QueuePage(operations, f"{operations[-1].rank}-{operations[-1].pk}" if more else "")  # type: ignore[attr-defined]


def counts() -> dict[str, int]:
    """How many operations each name of SHOWS has."""
    return {name: _matching(name).count() for name in SHOWS}


def open_count() -> int:
    """Operations that nobody has settled yet."""
    return Operation.objects.filter(state__in=Operation.OPEN).count()


def _matching(show: str) -> QuerySet[Operation]:
    return Operation.objects.filter(pk__in=Operation.objects.filter(SHOWS[show]).values("pk"))


def _key(cursor: str) -> tuple[int, int] | None:
    rank, _, pk = cursor.partition("-")
    return (int(rank), int(pk)) if rank.isdecimal() and pk.isdecimal() and len(cursor) < 22 else None
