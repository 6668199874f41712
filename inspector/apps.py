from typing import Any

from django.apps import AppConfig
from django.db.models.signals import post_migrate


class InspectorConfig(AppConfig):
    name = "inspector"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        post_migrate.connect(_roles, sender=self, dispatch_uid="inspector-roles")


def _roles(**given: Any) -> None:
    from inspector.services.ensure_roles import ensure_roles

    ensure_roles(**given)
