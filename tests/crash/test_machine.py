"""The invariants of the ledger in every order of work that the state machine finds; and broken ledgers that it must find by itself."""

from __future__ import annotations

import pytest
from django.db import IntegrityError
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from inspector.services.register_run import register_run

from .broken import BROKEN, broken
from .desk import Desk
from .machine import DeskMachine

pytestmark = pytest.mark.django_db
QUICK = settings(deadline=None, suppress_health_check=list(HealthCheck), database=None, print_blob=False)


@pytest.fixture
def plain(desk: Desk) -> Desk:
    """The desk with a run of no session, which needs no transcript to be judged again."""
    desk.run = register_run(actor=desk.owner, client="machine", name="run")
    return desk


def test_the_invariants_hold(plain: Desk) -> None:
    run_state_machine_as_test(lambda: DeskMachine(plain), settings=settings(QUICK, max_examples=20, stateful_step_count=30))


FOUND_BY_CHANCE = [
    "sweep-back-to-approved", "fence-not-increased", "take-over-of-a-current-lease", "self-approval", "retry-from-uncertain",
    "late-result-overwrites", "resolved-without-a-claim", "moved-without-an-entry",
]  # fmt: skip
"""What few examples reach. For the others, and for these too, `test_broken` has a check of its own."""


@pytest.mark.parametrize("name", FOUND_BY_CHANCE)
def test_the_machine_finds_the_broken_ledger(plain: Desk, name: str) -> None:
    same = settings(QUICK, derandomize=True, phases=[Phase.generate], max_examples=25, stateful_step_count=30, report_multiple_bugs=False)
    with broken(BROKEN[name]), pytest.raises((AssertionError, IntegrityError)):
        run_state_machine_as_test(lambda: DeskMachine(plain), settings=same)
