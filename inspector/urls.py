"""Addresses of the pages."""

from django.urls import include, path

from inspector.views import audit, compare, delete, downloads, errors, export, fork, goto, imports, inbox, panels, repair, rules, session, sign_in
from inspector.views.api import urls as api

urlpatterns = [
    path("", inbox.page, name="inbox"),
    path("imports/", imports.imports, name="imports"),
    path("sessions/<int:pk>/", session.page, name="session"),
    path("sessions/<int:pk>/rows/", session.rows, name="session-rows"),
    path("sessions/<int:pk>/panels/<str:name>/", panels.panel, name="session-panel"),
    path("sessions/<int:pk>/row/", downloads.row_bytes, name="row-bytes"),
    path("sessions/<int:pk>/request.json", downloads.request_json, name="request-json"),
    path("sessions/<int:pk>/request.sh", downloads.request_curl, name="request-curl"),
    path("sessions/<int:pk>/compare/", compare.page, name="compare"),
    path("sessions/<int:pk>/repair/", repair.page, name="repair"),
    path("sessions/<int:pk>/fork/", fork.page, name="fork"),
    path("sessions/<int:pk>/export/", export.page, name="export"),
    path("sessions/<int:pk>/delete/", delete.page, name="delete"),
    path("rules/", rules.rules, name="rules"),
    path("rules/<str:code>/", rules.rule, name="rule"),
    path("errors/", errors.page, name="errors"),
    path("audit/", audit.page, name="audit"),
    path("audit/export/", audit.export, name="audit-export"),
    path("api/", include(api.urlpatterns + api.nothing)),
    path("goto/", goto.goto, name="goto"),
    path("launch/", sign_in.launch, name="launch"),
    path("sign-in/", sign_in.SignIn.as_view(), name="login"),
    path("sign-out/", sign_in.SignOut.as_view(), name="logout"),
]
