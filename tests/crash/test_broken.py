"""A ledger that is broken on purpose is caught: a check that does not fail then would check nothing."""

from __future__ import annotations

import pytest

from .broken import BROKEN, Broken, broken
from .checks import CHECKS
from .desk import Desk

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("name", BROKEN)
def test_a_check_catches_the_broken_ledger(desk: Desk, name: str) -> None:
    with broken(BROKEN[name]), pytest.raises(AssertionError):
        CHECKS[BROKEN[name].caught_by](desk)


@pytest.mark.parametrize("module", sorted({each.module for each in BROKEN.values()}))
def test_a_ledger_whose_code_is_put_in_unchanged_is_not_caught(desk: Desk, module: str) -> None:
    name = next(each.caught_by for each in BROKEN.values() if each.module == module)
    with broken(Broken(module, (), name)):
        CHECKS[name](desk)
