"""Export: the exact bytes of a revision as a zip in the client's own layout, with the command that resumes it."""

from __future__ import annotations

from django.contrib import messages
from django.http import FileResponse, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from inspector.core.errors import CoreError
from inspector.queries import audit
from inspector.services.export_session import export_zip, resume_command
from inspector.templatetags.words import safe_text

from .desk import get_revision, get_session


@require_http_methods(["GET", "POST"])
def page(request: HttpRequest, pk: int) -> HttpResponseBase:
    """GET: what can be had, with hashes. POST: the zip of one `revision`, with `mask` set without its secrets."""
    session = get_session(pk)
    if request.method == "POST":
        return _zip(request, pk)
    revisions = list(session.revisions.order_by("-number"))
    for revision in revisions:
        parts = revision.parts.select_related("artifact").order_by("number")
        revision.main = parts[0]
        revision.others = len(parts) - 1
        revision.said = safe_text(revision.summary)
    context = {"session": session, "revisions": revisions, "command": resume_command(revisions[0]) if revisions else "", "head": audit.head()}
    return render(request, "export/page.html", context)


def _zip(request: HttpRequest, pk: int) -> HttpResponse | FileResponse:
    session = get_session(pk)
    revision = get_revision(session, request.POST.get("revision"))
    try:
        exported, file = export_zip(revision=revision, actor=request.user, mask_secrets=request.POST.get("mask") == "1")
    except (CoreError, OSError) as error:
        messages.error(request, f"Nothing was exported. {error}")
        return redirect(reverse("export", args=[pk]))
    name = exported.name.removesuffix(".jsonl").removesuffix(".json") + f"-revision-{revision.number}" + ("-masked" if exported.masked else "")
    return FileResponse(file, as_attachment=True, filename=f"{name}.zip", content_type="application/zip")
