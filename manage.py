#!/usr/bin/env python3
"""Django's entry. What a person can put right (a setting, the database) is said in one line; anything else is a defect and keeps its trace."""

import os
import sys


def main() -> int:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "inspector.settings")
    from django.core.exceptions import ImproperlyConfigured
    from django.core.management import execute_from_command_line
    from django.db import OperationalError, ProgrammingError

    try:
        execute_from_command_line(sys.argv)
    except ImproperlyConfigured as error:
        print(f"Settings: {error} The table of settings is in README.md.", file=sys.stderr)
    except (OperationalError, ProgrammingError) as error:
        said = " ".join(str(error).split())
        if "no such table" in said or "does not exist" in said:
            print(f"Database: {said}. Run `manage.py migrate` first.", file=sys.stderr)
        elif isinstance(error, OperationalError):
            print(f"Database: {said}. Check DATABASE_URL, INSPECTOR_DATA_DIR and that the server runs.", file=sys.stderr)
        else:
            raise
    else:
        return 0
    return 2


if __name__ == "__main__":
    sys.exit(main())
