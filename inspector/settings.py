"""Settings of the session inspector: everything that a place may change is an environment variable named here and in README.md.

Two modes. *Local* (no configuration): SQLite and artifacts in one data folder, one person, signed in by the launch link that `serve` prints.
*Team* (`DATABASE_URL` is set, or `INSPECTOR_MODE=team`): Django users with passwords, a secret key and a host list from the environment.
Nothing here connects, writes a file or imports a driver, so that `inspect` starts fast and works in a read-only checkout.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from csp.constants import NONCE, NONE, SELF
from django.core.exceptions import ImproperlyConfigured
from django.utils.functional import SimpleLazyObject

BASE_DIR = Path(__file__).resolve().parent.parent


def setting(name: str, default: str = "") -> str:
    """The environment variable `name`; an empty one counts as not set."""
    return os.environ.get(name) or default


def number(name: str, default: int) -> int:
    """The whole number in the environment variable `name`. Raises ImproperlyConfigured for anything else."""
    value = setting(name)
    if not value:
        return default
    if not value.isdecimal():
        raise ImproperlyConfigured(f"{name}={value!r} is not a whole number; the default is {default}.")
    return int(value)


def switch(name: str, default: bool) -> bool:
    """The environment variable `name` as on or off. Raises ImproperlyConfigured for any other word."""
    value = setting(name, "on" if default else "off")
    if value not in ("on", "off"):
        raise ImproperlyConfigured(f"{name}={value!r} must be on or off.")
    return value == "on"


def stores(text: str) -> dict[str, str]:
    """Name -> address, from a JSON object. Raises ImproperlyConfigured, whose message holds no address."""
    try:
        found = json.loads(text)
    except ValueError:
        found = None
    if not isinstance(found, dict) or not all(isinstance(address, str) and address for address in found.values()):
        raise ImproperlyConfigured('INSPECTOR_STORES is no JSON object of addresses: {"name": "postgresql://… or a path"}.')
    return found


def database(url: str, data_dir: Path) -> dict[str, Any]:
    """Django's description of the database at `url`: postgresql://USER:PASSWORD@HOST:PORT/NAME?option=…, sqlite:///PATH, or "" for the data folder.

    A PostgreSQL host may also be a socket folder (`?host=/run/postgresql`). Other query options go to libpq as they are (`?sslmode=require`).
    Raises ImproperlyConfigured for another scheme or a missing name.
    """
    parts = urlsplit(url)
    if not url or parts.scheme == "sqlite":
        return {
            "ENGINE": "django.db.backends.sqlite3",
            "NAME": unquote(parts.path.removeprefix("/")) if url else data_dir / "inspector.sqlite3",
            "OPTIONS": {
                # A transaction that will write takes the lock when it begins: no deadlock between two that have read first.
                "transaction_mode": "IMMEDIATE",
                "timeout": 20,
                "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA secure_delete=ON;",
            },
        }
    name = unquote(parts.path.removeprefix("/"))
    if parts.scheme not in ("postgresql", "postgres") or not name:
        raise ImproperlyConfigured("DATABASE_URL must be postgresql://USER:PASSWORD@HOST:PORT/NAME or sqlite:///PATH.")
    options = dict(parse_qsl(parts.query))
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": name,
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
        "HOST": options.pop("host", unquote(parts.hostname or "")),
        "PORT": options.pop("port", str(parts.port or "")),
        "CONN_MAX_AGE": 60,
        "CONN_HEALTH_CHECKS": True,
        "OPTIONS": options,
    }


def kept_secret(file: Path) -> str:
    """The secret in `file`; made there, readable by its owner only, when there is none yet."""
    if not file.exists():
        draft = file.with_name(f"{file.name}-{os.getpid()}")
        with open(draft, "x", opener=lambda path, flags: os.open(path, flags, 0o600)) as stream:
            stream.write(secrets.token_urlsafe(50))
        with contextlib.suppress(FileExistsError):  # another process was first: its secret counts
            os.link(draft, file)
        draft.unlink()
    return file.read_text()


DATABASE_URL = setting("DATABASE_URL")
TEAM_MODE = {"": bool(DATABASE_URL), "local": False, "team": True}.get(setting("INSPECTOR_MODE"))
if TEAM_MODE is None:
    raise ImproperlyConfigured("INSPECTOR_MODE must be local or team.")

# Where the database, the artifacts and the secret key are kept.
DATA_DIR = Path(setting("INSPECTOR_DATA_DIR", str(BASE_DIR / "var"))).expanduser().resolve()
with contextlib.suppress(OSError):  # a read-only checkout can still `inspect`; the database says it when it cannot be opened
    DATA_DIR.mkdir(mode=0o700, parents=True, exist_ok=True)

DATABASES = {"default": database(DATABASE_URL, DATA_DIR)}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage", "OPTIONS": {"location": DATA_DIR / "files"}},
    # {"BACKEND": "dotted.path.Storage", "OPTIONS": {...}} as JSON: an S3-compatible store, for example.
    "artifacts": json.loads(setting("INSPECTOR_ARTIFACT_STORAGE", "null"))
    or {"BACKEND": "django.core.files.storage.FileSystemStorage", "OPTIONS": {"location": DATA_DIR / "artifacts", "file_permissions_mode": 0o600}},
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}

# --- Limits: what one import may bring. Over a limit, nothing is stored and the error names the limit. ---
LIMITS = {
    # Bytes of one import, unpacked. The largest transcript seen in the wild is 235 MB.
    "bytes": number("INSPECTOR_LIMIT_BYTES", 2_000_000_000),
    # Rows of one file.
    "rows": number("INSPECTOR_LIMIT_ROWS", 2_000_000),
    # Bytes of one row; a row that holds several images as base64 may take tens of megabytes.
    "row_bytes": number("INSPECTOR_LIMIT_ROW_BYTES", 64_000_000),
    # Files of one import: members of an archive, files of a folder.
    "members": number("INSPECTOR_LIMIT_MEMBERS", 20_000),
    # Unpacked bytes per packed byte of an archive member: JSON Lines compress to 1:5–1:30, bombs to 1:1000.
    "compression_ratio": number("INSPECTOR_LIMIT_COMPRESSION_RATIO", 200),
    # Depth of folders in an archive or a tree.
    "nesting": number("INSPECTOR_LIMIT_NESTING", 32),
}
# Stores of frameworks by name: a PostgreSQL address or the path of a SQLite file. Never on a page and never in a log.
STORES = stores(setting("INSPECTOR_STORES", "{}"))
# Key of encrypted stores: of LangGraph's serializer (16, 24 or 32 characters), or of the OpenAI Agents SDK's sessions (any).
STORE_KEY = setting("INSPECTOR_STORE_KEY").encode()
# Days after its import that a session is kept; 0 keeps sessions for ever.
RETENTION_DAYS = number("INSPECTOR_RETENTION_DAYS", 0)
# Whether a person may decide alone what happened, and approve what they proposed: stamped so wherever it is shown. Meant for one person's machine.
SELF_RESOLUTION = switch("INSPECTOR_SELF_RESOLUTION", not TEAM_MODE)
# Minutes that an approval is good for.
APPROVAL_MINUTES = number("INSPECTOR_APPROVAL_MINUTES", 30)
# An upload goes to a temporary file; this bounds only the form fields beside it.
DATA_UPLOAD_MAX_MEMORY_SIZE = 2_500_000
FILE_UPLOAD_HANDLERS = ["django.core.files.uploadhandler.TemporaryFileUploadHandler"]
DATA_UPLOAD_MAX_NUMBER_FILES = LIMITS["members"]

# --- Who may come in ---
if TEAM_MODE:
    SECRET_KEY: Any = setting("INSPECTOR_SECRET_KEY") or SimpleLazyObject(lambda: _refuse_without_key())
    ALLOWED_HOSTS = [host.strip() for host in setting("INSPECTOR_ALLOWED_HOSTS", "127.0.0.1,localhost").split(",")]
else:
    SECRET_KEY = SimpleLazyObject(lambda: kept_secret(DATA_DIR / "secret-key"))
    # The exact names of this machine for itself: a foreign name that resolves to 127.0.0.1 is refused.
    ALLOWED_HOSTS = ["127.0.0.1", "localhost"]
if any("*" in host or host.startswith(".") for host in ALLOWED_HOSTS):
    raise ImproperlyConfigured("INSPECTOR_ALLOWED_HOSTS must be exact names, separated by commas.")


def _refuse_without_key() -> str:
    raise ImproperlyConfigured("Team mode needs INSPECTOR_SECRET_KEY: at least 50 random characters, the same for every process.")


# On behind a proxy that ends TLS (and sets X-Forwarded-Proto itself): cookies only over HTTPS.
HTTPS = switch("INSPECTOR_HTTPS", TEAM_MODE)
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = HTTPS
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if HTTPS else None
SECURE_HSTS_SECONDS = 31_536_000 if HTTPS else 0
SESSION_COOKIE_NAME = "inspector_session"
CSRF_COOKIE_NAME = "inspector_csrf"
SESSION_COOKIE_SAMESITE = CSRF_COOKIE_SAMESITE = "Strict"
CSRF_COOKIE_HTTPONLY = True
SESSION_COOKIE_AGE = 60 * 60 * 24 * 14
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "/"
LOGOUT_REDIRECT_URL = "login"
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 12}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]

CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [NONCE],
        "style-src": [SELF],
        "img-src": [SELF, "data:"],
        "connect-src": [SELF],
        "form-action": [SELF],
        "base-uri": [NONE],
        "frame-ancestors": [NONE],
        "require-trusted-types-for": ["'script'"],
    }
}

INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django_htmx",
    "csp",
    "inspector.apps.InspectorConfig",
]
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "csp.middleware.CSPMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "inspector.middleware.private_answers",
    "inspector.middleware.arrivals",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "inspector.middleware.MembersOnly",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
]
ROOT_URLCONF = "inspector.urls"
WSGI_APPLICATION = "inspector.wsgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    }
]
STATIC_URL = "/static/"
STATICFILES_DIRS = [BASE_DIR / "static"]
# Served from static/ itself, so that a fresh clone needs no collecting step.
WHITENOISE_USE_FINDERS = True

USE_TZ = True
TIME_ZONE = "UTC"
LANGUAGE_CODE = "en"
USE_I18N = False
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "handlers": {"stderr": {"class": "logging.StreamHandler"}},
    "loggers": {
        "django": {"handlers": ["stderr"], "level": "WARNING", "propagate": False},
        # What a stranger asks for (an unknown page, a foreign host name) is answered, not reported.
        "django.request": {"level": "ERROR"},
        "django.security": {"level": "CRITICAL"},
    },
}
