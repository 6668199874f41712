"""The desk with one imported session, and the workshop whose workers are real processes on the same test database."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.contrib.auth.models import Group, User
from django.db import connection

from inspector.services.register_run import run_of
from tests.shell.sessions import bring_bytes, transcript

from .desk import Desk, declare_targets
from .workshop import Workshop


@pytest.fixture(scope="session")
def workshop(django_db_setup: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workshop]:
    made = Workshop(tmp_path_factory.mktemp("workshop"))
    yield made
    made.close()


@pytest.fixture
def desk(db: None, owner: User, team_mate: User) -> Desk:
    session = bring_bytes(transcript()).session
    successor = User.objects.create_user("successor")
    successor.groups.set(Group.objects.filter(name="administrator"))
    return Desk(session, run_of(session), owner, team_mate, successor, declare_targets())


@pytest.fixture
def effects_here(transactional_db: None) -> Iterator[None]:
    """The table of an application that keeps its effects in the inspector's own database."""
    with connection.cursor() as cursor:
        number = "BIGSERIAL" if connection.vendor == "postgresql" else "INTEGER"
        cursor.execute(f"CREATE TABLE crash_effects (number {number} PRIMARY KEY, business_id TEXT)")
    yield
    with connection.cursor() as cursor:
        cursor.execute("DROP TABLE crash_effects")
