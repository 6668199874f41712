"""Report that something may have happened which no row and no application tells of."""

from __future__ import annotations

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from inspector.models.roles import HANDLE
from inspector.services.report_operation import report_operation

from .desk import get_session
from .needs import needs


@needs(HANDLE)
@require_http_methods(["GET", "POST"])
def page(request: HttpRequest, pk: int) -> HttpResponse:
    """GET: the form. POST: the uncertain operation, and on to its page."""
    session = get_session(pk)
    wrong = ""
    if request.method == "POST":
        said = {name: request.POST.get(name, "") for name in ("tool", "what", "target")}
        try:
            made = report_operation(session=session, actor=request.user, **said)
        except ValidationError as error:
            wrong = error.messages[0]
        else:
            messages.success(request, "It is an operation now. The session does not resume before somebody found out what happened.")
            return redirect("operation", made.pk)
    return render(request, "session/report.html", {"session": session, "wrong": wrong, "sent": request.POST}, status=400 if wrong else 200)
