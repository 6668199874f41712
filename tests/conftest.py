"""What every test may ask for: a real database (SQLite in a file, or the PostgreSQL that DATABASE_URL names), three people, a real Chromium.

`pytest` alone runs on SQLite; `bash tests/run` runs the tests that use a database on PostgreSQL as well.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import hypothesis
import pytest
from django.contrib.auth.models import Group, User
from django.db import connections
from django.test import Client

# With CI=true every run looks at the same examples, so that a change is judged by what it changes; otherwise new ones are looked for.
hypothesis.settings.register_profile("same", derandomize=True)
if os.environ.get("CI"):
    hypothesis.settings.load_profile("same")

ROOT = Path(__file__).resolve().parent.parent
Serve = Callable[..., "subprocess.Popen[str]"]
CORPUS = ROOT / "tests" / "corpus"
DATABASE_FIXTURES = {"db", "transactional_db", "live_server"}
BROWSER_FIXTURES = {"chromium"}
CHROMIUM_FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking --disable-component-update --disable-sync"
).split()


def uses_database(item: pytest.Item) -> bool:
    return bool(item.get_closest_marker("django_db") or DATABASE_FIXTURES & set(getattr(item, "fixturenames", ())))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--only-database", action="store_true", help="only tests that use a database and no browser: for the second database")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--only-database"):
        chosen = [item for item in items if uses_database(item) and not BROWSER_FIXTURES & set(getattr(item, "fixturenames", ()))]
        config.hook.pytest_deselected(items=[item for item in items if item not in set(chosen)])
        items[:] = chosen


def pytest_report_header() -> str:
    return f"database: {connections['default'].vendor}"


@pytest.fixture(scope="session")
def django_db_modify_db_settings(django_db_modify_db_settings_parallel_suffix: None, tmp_path_factory: pytest.TempPathFactory) -> None:
    """A name of its own for the test database of this process; SQLite gets a real file, because an in-memory one has other locks."""
    connection = connections["default"]
    name = f"test_inspector_{os.getpid()}"
    connection.settings_dict["TEST"]["NAME"] = str(tmp_path_factory.mktemp("database") / name) if connection.vendor == "sqlite" else name


@pytest.fixture(autouse=True)
def data_dir(request: pytest.FixtureRequest) -> Path | None:
    """A test that uses a database gets an empty data folder."""
    if not uses_database(request.node):
        return None
    folder: Path = request.getfixturevalue("tmp_path") / "data"
    folder.mkdir()
    settings = request.getfixturevalue("settings")
    settings.DATA_DIR = folder
    settings.SELF_RESOLUTION = False  # two persons, as in a team: what one may do alone is asked for by the test that is about it
    storage = "django.core.files.storage.FileSystemStorage"
    settings.STORAGES = {
        **settings.STORAGES,
        "default": {"BACKEND": storage, "OPTIONS": {"location": folder / "files"}},
        "artifacts": {"BACKEND": storage, "OPTIONS": {"location": folder / "artifacts"}},
    }
    return folder


# --- The same three people in every test ---


def _person(name: str, *roles: str) -> User:
    user = User.objects.create_user(name)
    user.groups.set(Group.objects.filter(name__in=roles))
    return user


@pytest.fixture
def owner(db: None) -> User:
    """Brings sessions in and may do everything in the inspector."""
    return _person("owner", "administrator")


@pytest.fixture
def team_mate(db: None) -> User:
    """May do everything too: the second person where two are needed."""
    return _person("team-mate", "administrator")


@pytest.fixture
def stranger(db: None) -> User:
    """Can sign in, and has no role: sees nothing."""
    return _person("stranger")


@pytest.fixture
def viewer(db: None) -> User:
    """May look at everything and change nothing."""
    return _person("viewer", "viewer")


@pytest.fixture
def client_of() -> Callable[[User], Client]:
    """A test client that is signed in as the given person."""

    def signed_in(user: User) -> Client:
        client = Client()
        client.force_login(user)
        return client

    return signed_in


# --- The server as a person starts it ---


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Serve]:
    """Start `serve` on a free port with SQLite in an empty data folder; stopped after the test."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("INSPECTOR_") and name != "DATABASE_URL"}
    started: list[subprocess.Popen[str]] = []

    def start(*args: str, **environment: str) -> subprocess.Popen[str]:
        environment = {**kept, "INSPECTOR_DATA_DIR": str(tmp_path / "data"), **environment}
        command = [sys.executable, "manage.py", "serve", *args]
        started.append(subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True))
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.communicate()


def address_of(process: subprocess.Popen[str]) -> str:
    """The address that the process prints; fails with its errors if it ends before."""
    assert process.stdout and process.stderr
    for line in process.stdout:
        if found := re.search(r"http://\S+", line):
            return found[0]
    pytest.fail(process.stderr.read())


# --- A real browser ---


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """A Playwright browser that drives the Chromium of this machine; skipped where there is none, unless CI=true."""
    found = next((path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None)
    if found is None:
        if os.environ.get("CI") == "true":
            pytest.fail("Chromium is missing and CI=true: nothing may be skipped.")
        pytest.skip("Chromium is missing: install the package chromium")
    from playwright.sync_api import sync_playwright

    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"  # Playwright's event loop lives in this thread; our queries beside it are synchronous
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=CHROMIUM_FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def page(chromium: Any, live_server: Any, owner: User, client_of: Callable[[User], Client]) -> Iterator[Any]:
    """A page of the live server, signed in as owner. An error in a script or against the content policy fails the test."""
    from django.conf import settings

    session = client_of(owner).cookies[settings.SESSION_COOKIE_NAME]
    context = chromium.new_context(base_url=live_server.url, viewport={"width": 1280, "height": 900})
    context.add_cookies([{"name": session.key, "value": session.value, "url": live_server.url, "sameSite": "Strict"}])
    page = context.new_page()
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda message: errors.append(message.text) if "Content Security Policy" in message.text else None)
    yield page
    context.close()
    assert not errors, errors


@pytest.fixture
def axe() -> Callable[[Any], list[str]]:
    """Accessibility violations of a page as `rule: element` lines; empty when the page is clean."""
    from axe_playwright_python.base import AXE_FILE_PATH

    script = Path(AXE_FILE_PATH).read_text()

    def violations(page: Any) -> list[str]:
        page.evaluate(script)  # by the debugger, which the content policy does not bind
        found = page.evaluate("axe.run().then(result => result.violations)")
        return [f"{rule['id']}: {node['html']}" for rule in found for node in rule["nodes"]]

    return violations
