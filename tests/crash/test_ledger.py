"""Each rule of the ledger, asked of the services themselves."""

from __future__ import annotations

import pytest

from .checks import CHECKS
from .desk import Desk

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("rule", CHECKS)
def test_the_ledger_keeps_the_rule(desk: Desk, rule: str) -> None:
    CHECKS[rule](desk)
