"""Delete a session: a permission and a reason; the audit entry stays."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from inspector.forms import DeleteForm
from inspector.models.roles import ERASE
from inspector.services.delete_session import delete_session
from inspector.templatetags.words import bytes_words, titled

from .desk import get_session
from .needs import needs


@needs(ERASE)
@require_http_methods(["GET", "POST"])
def page(request: HttpRequest, pk: int) -> HttpResponse:
    """GET: what would go. POST: delete, for the `reason` given."""
    session = get_session(pk)
    form = DeleteForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        name = titled(session)
        freed = delete_session(session=session, actor=request.user, reason=form.cleaned_data["reason"])
        messages.success(request, f"“{name}” was deleted; {bytes_words(freed)} were erased.")
        return redirect("inbox")
    return render(request, "delete/page.html", {"session": session, "form": form, "revisions": session.revisions.count()})
