"""Settings: what the environment says is taken exactly or refused in words."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.db import connection

from inspector.settings import database, kept_secret

ROOT = Path(__file__).resolve().parents[2]


def run(code: str, tmp_path: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run code in a fresh process, where the settings are read from this environment."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("INSPECTOR_") and name != "DATABASE_URL"}
    environment = {**kept, "DJANGO_SETTINGS_MODULE": "inspector.settings", "INSPECTOR_DATA_DIR": str(tmp_path / "data"), **environment}
    return subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=environment, capture_output=True, text=True)


def test_a_postgresql_url_is_taken_apart() -> None:
    found = database("postgresql://an%40na:p%2Fw@db.example:6432/in%20spect?sslmode=require", Path("/data"))
    assert (found["USER"], found["PASSWORD"], found["HOST"], found["PORT"], found["NAME"]) == ("an@na", "p/w", "db.example", "6432", "in spect")
    assert found["OPTIONS"] == {"sslmode": "require"}


def test_a_postgresql_url_may_name_a_socket_folder() -> None:
    found = database("postgresql://anna@/inspector?host=/run/postgresql&port=5433", Path("/data"))
    assert (found["HOST"], found["PORT"], found["OPTIONS"]) == ("/run/postgresql", "5433", {})


@pytest.mark.parametrize("url", ["mysql://h/n", "postgresql://host/", "inspector.sqlite3"])
def test_another_url_is_refused(url: str) -> None:
    with pytest.raises(ImproperlyConfigured, match="DATABASE_URL must be"):
        database(url, Path("/data"))


def test_sqlite_is_the_default_and_a_path_may_be_given(tmp_path: Path) -> None:
    assert database("", tmp_path)["NAME"] == tmp_path / "inspector.sqlite3"
    assert database("sqlite:////srv/in%20spect.db", tmp_path)["NAME"] == "/srv/in spect.db"


@pytest.mark.django_db
@pytest.mark.skipif("connection.vendor != 'sqlite'")
def test_sqlite_runs_in_wal_mode_and_waits_for_a_lock() -> None:
    with connection.cursor() as cursor:
        assert cursor.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert cursor.execute("PRAGMA busy_timeout").fetchone() == (20000,)
        assert cursor.execute("PRAGMA foreign_keys").fetchone() == (1,)


def test_the_secret_key_is_made_once_and_is_private(tmp_path: Path) -> None:
    first = kept_secret(tmp_path / "secret-key")
    assert len(first) >= 50
    assert kept_secret(tmp_path / "secret-key") == first
    assert [file.name for file in tmp_path.iterdir()] == ["secret-key"]
    assert (tmp_path / "secret-key").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    ("environment", "says"),
    [
        ({"INSPECTOR_MODE": "cloud"}, "INSPECTOR_MODE must be local or team"),
        ({"INSPECTOR_LIMIT_ROWS": "many"}, "INSPECTOR_LIMIT_ROWS='many' is not a whole number"),
        ({"INSPECTOR_HTTPS": "yes"}, "INSPECTOR_HTTPS='yes' must be on or off"),
        ({"INSPECTOR_MODE": "team", "INSPECTOR_SECRET_KEY": "k", "INSPECTOR_ALLOWED_HOSTS": "*.example.org"}, "must be exact names"),
        ({"INSPECTOR_MODE": "team"}, "Team mode needs INSPECTOR_SECRET_KEY"),
    ],
)
def test_a_wrong_setting_is_refused_in_words(environment: dict[str, str], says: str, tmp_path: Path) -> None:
    done = run("import django; django.setup(); from django.conf import settings; print(settings.SECRET_KEY)", tmp_path, **environment)
    assert done.returncode != 0 and says in done.stderr


def test_team_mode_takes_its_key_and_hosts_from_the_environment(tmp_path: Path) -> None:
    code = "from django.conf import settings as s; print(s.TEAM_MODE, s.SECRET_KEY, s.ALLOWED_HOSTS, s.SESSION_COOKIE_SECURE, s.LIMITS['rows'])"
    environment = {"DATABASE_URL": "postgresql://db/x", "INSPECTOR_SECRET_KEY": "k", "INSPECTOR_ALLOWED_HOSTS": "a.example, b.example"}
    done = run(code, tmp_path, INSPECTOR_LIMIT_ROWS="7", **environment)
    assert done.stdout.split() == ["True", "k", "['a.example',", "'b.example']", "True", "7"], done.stderr


def test_settings_load_no_driver_and_write_no_file(tmp_path: Path) -> None:
    code = "import sys, inspector.settings; print({'sqlite3', 'psycopg', 'orjson', 'waitress', 'django.contrib.auth.models'} & set(sys.modules))"
    done = run(code, tmp_path)
    assert done.stdout.strip() == "set()", done.stderr
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_no_migration_is_missing(db: None) -> None:
    from django.core.management import call_command

    call_command("makemigrations", check=True, dry_run=True, verbosity=0)


def test_the_content_policy_is_the_one_that_was_measured() -> None:
    from csp.utils import build_policy

    assert set(build_policy(nonce="N").split("; ")) == set(
        "default-src 'none'; script-src 'nonce-N'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'; "
        "frame-ancestors 'none'; require-trusted-types-for 'script'".split("; ")
    )
    assert settings.SESSION_COOKIE_SAMESITE == settings.CSRF_COOKIE_SAMESITE == "Strict"
