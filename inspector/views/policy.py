"""The policy editor: the operators' rules for effects in order, trusted servers, a box to try a call, and every version there was."""

from __future__ import annotations

import json
from typing import Any

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_GET, require_http_methods

from inspector.core import reading
from inspector.core.effect_class import EffectClass
from inspector.core.effect_tables import TABLES
from inspector.core.effects import effect_of
from inspector.core.errors import PolicyError
from inspector.core.policy import Policy
from inspector.core.targets import KINDS, kind_of
from inspector.models import PolicyVersion, Target
from inspector.models.roles import ADMINISTER
from inspector.queries import ledger, policies
from inspector.services.apply_policy import Applied
from inspector.services.moves import Refused
from inspector.services.save_policy import checked, save_policy
from inspector.templatetags.words import EFFECTS, safe_text

from .drawing import outline
from .needs import needs
from .policy_draft import Draft, of_form, of_policy

SHOWN = 50
"""Versions listed on the editor's page."""


@needs(ADMINISTER)
@require_http_methods(["GET", "POST"])
def page(request: HttpRequest) -> HttpResponse:
    """GET: the policy in force, or `?from=NUMBER` an older one to go on from. POST: the draft as sent, changed, tried or saved as `do` says."""
    in_force = ledger.policy()
    if request.method == "GET":
        return _show(request, in_force, of_policy(_start(request, in_force)), in_force.version, 200)
    draft, do = of_form(request.POST), request.POST.get("do", "")
    base = request.POST.get("base", "")
    number = int(base) if base.isdecimal() and len(base) < 9 else -1
    status = 200
    if do == "save":
        saved = _save(request, draft, number)
        if saved is not None:
            messages.success(request, f"Version {saved[0].number} is in force. {_words(saved[1])}")
            if saved[1].failed:
                failed = ", ".join(map(str, saved[1].failed))
                messages.warning(request, f"Sessions that could not be read, and keep what was said of them: {failed}.")
            if saved[1].left:
                messages.warning(request, f"{_counted(saved[1].left, 'session')} not judged again yet: run “manage.py judge_again” on the server.")
            return redirect("policy")
        status = 400
    draft.do(do)
    return _show(request, in_force, draft, number, status)


def _start(request: HttpRequest, in_force: Policy) -> Policy:
    asked = request.GET.get("from", "")
    if not asked:
        return in_force
    if not asked.isdecimal() or len(asked) > 9:
        raise Http404("There is no such version.")
    return Policy.from_json(get_object_or_404(PolicyVersion, pk=int(asked)).policy)


def _save(request: HttpRequest, draft: Draft, base: int) -> tuple[PolicyVersion, Applied] | None:
    """Save, or put down in the draft what is wrong."""
    rules, servers = draft.values()
    if draft.errors:
        return None
    try:
        return save_policy(actor=request.user, rules=rules, servers=servers, note=request.POST.get("note", ""), base=base)
    except PolicyError as error:
        draft.errors[draft.place(error.where)] = _sentence(error)
    except ValidationError as error:
        draft.errors["note"] = error.messages[0]
    except Refused as refused:
        draft.errors[""] = f"{refused.says} Your draft is below; copy what you need, then open the page anew."
    return None


def _sentence(error: PolicyError) -> str:
    return f"{error.message[:1].upper()}{error.message[1:]}. {error.hint}."


def _words(applied: Applied) -> str:
    """What judging again came to, in sentences."""
    said = [f"{_counted(applied.sessions, 'session')} judged again."]
    if applied.judged:
        said.append(f"{_counted(len(applied.judged), 'open operation')} with another effect or reason.")
    if applied.reads:
        said.append(f"{len(applied.reads):,} of these only read by the new rules, and stay open until two persons say “No longer needed”.")
    if applied.found:
        said.append(f"{_counted(applied.found, 'call')} newly in the queue of what nobody knows.")
    return " ".join(said)


def _counted(count: int, what: str) -> str:
    return f"{count:,} {what}{'s' if count != 1 else ''}"


def _show(request: HttpRequest, in_force: Policy, draft: Draft, base: int, status: int) -> HttpResponse:
    versions = list(policies.versions()[: SHOWN + 1])
    context = {
        "base": base,
        "in_force": in_force.version,
        "rules": [{"number": number + 1, "index": number, **rule, "errors": _errors(draft, number)} for number, rule in enumerate(draft.rules)],
        "servers": [{"index": number, **server, "error": draft.errors.get(f"servers-{number}", "")} for number, server in enumerate(draft.servers)],
        "wrong": draft.errors,
        "whole": draft.errors.get("") or draft.errors.get("rules", ""),
        "note": request.POST.get("note", ""),
        "note_error": draft.errors.get("note", ""),
        "effects": [(str(name), EFFECTS.get(name, name)) for name in EffectClass],
        "clients": sorted({*TABLES, *reading.CLIENTS} - {"raw"}),
        "targets": list(Target.objects.filter(active=True).values_list("name", flat=True)),
        "tried": _tried(request, draft) if request.POST.get("do") == "try" else None,
        "asked": {key: request.POST.get(f"try-{key}", "") for key in ("client", "tool", "arguments")},
        "versions": versions[:SHOWN],
        "older": len(versions) > SHOWN,
    }
    return render(request, "policy/page.html", context, status=status)


def _errors(draft: Draft, number: int) -> dict[str, str]:
    """Field -> what is wrong with it; `rule` for the rule as a whole."""
    place = f"rules-{number}"
    found = {name.removeprefix(f"{place}-"): says for name, says in draft.errors.items() if name.startswith(f"{place}-")}
    return found | ({"rule": draft.errors[place]} if place in draft.errors else {})


def _tried(request: HttpRequest, draft: Draft) -> dict[str, Any]:
    """How the draft would class a call, or what keeps it from saying so."""
    rules, servers = draft.values()
    tool, text = request.POST.get("try-tool", "").strip(), request.POST.get("try-arguments", "").strip()
    client = request.POST.get("try-client", "")
    if draft.errors:
        return {"error": "First put right what is marked."}
    if not tool:
        return {"error": "Name a tool as the transcript writes it, such as Bash or mcp__billing__refund."}
    try:
        arguments = json.loads(text) if text else None
    except (ValueError, RecursionError) as error:
        return {"error": f"The arguments are no JSON: {error}"}
    try:
        policy = checked(rules=rules, servers=servers, number=ledger.policy_number() + 1)
    except PolicyError as error:
        draft.errors[draft.place(error.where)] = _sentence(error)
        return {"error": "First put right what is marked."}
    effect = effect_of(client, tool, arguments, policy)
    ruled = policy.rule_for(client, tool, arguments)
    target = Target.objects.filter(name=ruled[1].target).first() if ruled and ruled[1].target else None
    kind = KINDS[kind_of(tool, str(effect.name), arguments, client, target.kind if target else "")]
    return {"effect": effect.name, "words": EFFECTS[effect.name], "why": safe_text(effect.why), "rule": ruled[0] if ruled else None, "kind": kind}


@require_GET
def version(request: HttpRequest, number: int) -> HttpResponse:
    """One version: who saved it, when and why, and what it says that the one before did not. Open to everybody who may see sessions."""
    shown = get_object_or_404(PolicyVersion.objects.select_related("author"), pk=number)
    policy, before = Policy.from_json(shown.policy), policies.before(shown)
    titles = (f"Version {before.version}" if before.version else "Built-in tables alone", f"Version {number}")
    context = {
        "version": shown,
        "in_force": ledger.policy_number(),
        "diff": outline.side_by_side(policies.lines(before), policies.lines(policy), safe_text, titles),
        "rules": policy.rules,
        "servers": policy.servers,
        "earlier": before.version,
    }
    return render(request, "policy/version.html", context)
