"""The application for a WSGI server: `gunicorn inspector.wsgi` for a team; `manage.py serve` uses it too."""

import gc
import os

from django.conf import settings
from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "inspector.settings")
application = get_wsgi_application()
str(settings.SECRET_KEY)  # a missing key is said when the server starts, not at the first request

# What was loaded so far stays for good: the collector need not visit it during a request, where it would make one slow page.
gc.collect()
gc.freeze()
