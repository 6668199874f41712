"""Help pages: one per rule, from its docstring; and the rules of the provider."""

from __future__ import annotations

from typing import Any

from django.db.models import Count
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_GET

from inspector.core import rulebook
from inspector.core.request import DIALECTS
from inspector.models import Finding, Session
from inspector.templatetags.words import safe_text, titled

from .drawing import markdown


def provider() -> dict[str, str]:
    """Rule id -> what it asks, of every dialect."""
    return {id: text for dialect in DIALECTS.values() for id, text in dialect.RULES.items()}


@require_GET
def rules(request: HttpRequest) -> HttpResponse:
    """All rules, with how many sessions have each; `?found=1`: only those that a session here has."""
    only = request.GET.get("found") == "1"
    current = Session.objects.exclude(current=None).values("current")
    counts = dict(Finding.objects.filter(revision__in=current).values_list("code").annotate(number=Count("revision", distinct=True)).order_by())
    listed: list[dict[str, Any]] = []
    fixes = {code for rule in rulebook.RULES if hasattr(rule, "fix") for code in rule.CODES}
    firsts = {code: first for rule in rulebook.RULES for code, first in getattr(rule, "FIRSTS", {}).items()}
    for code, text in rulebook.PAGES.items():
        if counts.get(code) or not only:
            listed.append(
                {"code": code, "first": firsts.get(code) or text.strip().split("\n")[0], "repairs": code in fixes, "found": counts.get(code, 0)}
            )
    context = {
        "rules": listed,
        "provider": provider().items(),
        "only": only,
        "all": len(rulebook.PAGES),
        "some": sum(1 for code in rulebook.PAGES if counts.get(code)),
    }
    return render(request, "rules/page.html", context)


@require_GET
def rule(request: HttpRequest, code: str) -> HttpResponse:
    """One rule's help, and sessions that have it. 404 for a code that neither a rule nor a provider's rule has."""
    text = rulebook.PAGES.get(code) or provider().get(code)
    if text is None:
        raise Http404("No rule has this code.")
    found = Finding.objects.filter(code=code, revision__in=Session.objects.exclude(current=None).values("current")).select_related(
        "revision__session"
    )
    shown = []
    for finding in found.order_by("-revision_id", "number")[:30]:
        ref = finding.rows[0] if finding.rows else ""
        session = finding.revision.session
        href = reverse("session", args=[session.pk]) + (f"?at={ref}#r{ref}" if ref else "")
        shown.append({"session": titled(session)[:100], "ref": ref, "href": href, "message": safe_text(finding.message)})
    return render(request, "rules/rule.html", {"code": code, "help": markdown.draw(text), "found": shown})
