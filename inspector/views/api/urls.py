"""Addresses of the API, below `/api/`."""

from __future__ import annotations

from django.http import Http404
from django.urls import path

from . import claims, gate, operations, runs
from .call import Call, endpoint


def _nothing(call: Call, rest: str) -> None:
    raise Http404("There is no such address. Addresses of the API end in a slash, except that of a part; the README lists them.")


urlpatterns = [
    path("runs/", runs.runs),
    path("runs/<int:run>/lease/", runs.lease),
    path("runs/<int:run>/operations/", runs.operations, name="api-run-operations"),
    path("runs/<int:run>/checkpoints/", runs.checkpoints),
    path("operations/<int:pk>/", operations.operation),
    path("operations/<int:pk>/approve/", operations.approve),
    path("operations/<int:pk>/cancel/", operations.cancel),
    path("operations/<int:pk>/dispatch/", operations.dispatch),
    path("operations/<int:pk>/outcome/", operations.outcome),
    path("operations/<int:pk>/evidence/", operations.evidence),
    path("operations/<int:pk>/claim/", operations.claim),
    path("claims/<int:pk>/decide/", claims.decide),
    path("claims/<int:pk>/withdraw/", claims.withdraw),
    path("sessions/<int:pk>/readiness/", gate.conditions),
    path("sessions/<int:pk>/claim/", gate.claim),
    path("sessions/<int:pk>/renew/", gate.renew),
    path("sessions/<int:pk>/release/", gate.release),
    path("sessions/<int:pk>/revisions/<int:revision>/parts/<int:part>", gate.part, name="api-part"),
]
nothing = [path("<path:rest>", endpoint(GET=_nothing, POST=_nothing, PATCH=_nothing, DELETE=_nothing, PUT=_nothing))]
"""What is no address answers as JSON too."""
