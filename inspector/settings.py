"""Settings of the session inspector."""

from pathlib import Path

BASE_DIR = Path(__file__).resolve().parent.parent
SECRET_KEY = "replaced-by-helper"
INSTALLED_APPS = ["inspector.apps.InspectorConfig"]
USE_TZ = True
