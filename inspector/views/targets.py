"""Targets: what is declared of the systems that operations act on; and a help page for each kind, with its window of uncertainty."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_GET, require_http_methods

from inspector import probes
from inspector.core.targets import KINDS
from inspector.forms import TargetForm
from inspector.models import Operation, Target
from inspector.models.roles import ADMINISTER
from inspector.services.save_target import save_target

from .drawing import markdown
from .needs import needs


@needs(ADMINISTER)
@require_GET
def page(request: HttpRequest) -> HttpResponse:
    """What is declared, with the operations that wait for each."""
    declared = list(Target.objects.select_related("probe"))
    for target in declared:
        target.open = target.operations.filter(state__in=Operation.OPEN).count()
    return render(request, "targets/page.html", {"targets": declared})


@needs(ADMINISTER)
@require_http_methods(["GET", "POST"])
def edit(request: HttpRequest, pk: int | None = None) -> HttpResponse:
    """One target, or a new one. POST: save it."""
    target = get_object_or_404(Target, pk=pk) if pk is not None else None
    form = TargetForm(request.POST or None, instance=target)
    if target is not None:
        form.fields["name"].disabled = True
    if request.method == "POST" and form.is_valid():
        try:
            saved = save_target(actor=request.user, target=form.instance)
        except ValidationError as error:
            form.add_error(None, error)
        else:
            messages.success(request, f"“{saved.name}” was saved.")
            return redirect("targets")
    context = {"form": form, "target": target, "title": target.name if target else "Declare a target", "tab": "targets"}
    return render(request, "targets/edit.html", context, status=400 if form.errors else 200)


@require_GET
def kinds(request: HttpRequest) -> HttpResponse:
    """Every kind of target, and what its window of uncertainty comes to."""
    return render(request, "targets/kinds.html", {"kinds": KINDS.values()})


@require_GET
def kind(request: HttpRequest, name: str) -> HttpResponse:
    """The help page of one kind. 404 for a kind that there is not."""
    found = KINDS.get(name)
    if found is None:
        raise Http404("There is no such kind of target.")
    context: dict[str, Any] = {
        "kind": found,
        "help": markdown.draw(found.help),
        "probes": [(probe, probes.KINDS[probe].TITLE) for probe in found.probes],
        "declared": Target.objects.filter(kind=name, active=True),
    }
    return render(request, "targets/kind.html", context)
