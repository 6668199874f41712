"""Access tokens: a program that works for a person carries one. Shown once, when it is made."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth import get_user_model
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from inspector.models import ApiToken
from inspector.models.roles import ADMINISTER, may
from inspector.queries import tokens
from inspector.services.issue_token import issue_token
from inspector.services.moves import Refused
from inspector.services.revoke_token import revoke_token

DAYS = (("30", "30 days"), ("90", "90 days"), ("365", "a year"), ("", "until it is revoked"))


@never_cache
@require_http_methods(["GET", "POST"])
def page(request: HttpRequest) -> HttpResponse:
    """One's own tokens; an administrator sees everybody's and makes them for others. POST: `do` is `make` or `revoke`."""
    everybody = may(request.user, ADMINISTER)
    made, wrong = "", ""
    if request.method == "POST" and request.POST.get("do") == "revoke":
        asked = request.POST.get("token", "")
        token = get_object_or_404(ApiToken.objects.select_related("user"), pk=int(asked) if asked.isdecimal() and len(asked) < 18 else 0)
        try:
            revoke_token(token=token, actor=request.user)
            messages.success(request, f"“{token.name}” of {token.user} was revoked: its next request is refused.")
        except Refused as refused:
            messages.error(request, refused.says)
        return redirect("tokens")
    if request.method == "POST":
        days, name = request.POST.get("days", ""), request.POST.get("user", "") or request.user.get_username()
        user = get_user_model().objects.filter(username=name, is_active=True).first()
        try:
            if user is None:
                raise ValidationError(f"Nobody who may sign in is called {name[:150]!r}.")
            kept = issue_token(
                user=user, name=request.POST.get("name", ""), actor=request.user, days=int(days) if days.isdecimal() and len(days) < 6 else None
            )
            made = kept[1]
        except ValidationError as error:
            wrong = error.messages[0]
    listed = ApiToken.objects.select_related("user")
    listed = listed if everybody else listed.filter(user=request.user)
    context = {
        "tokens": listed[:500],
        "current": set(tokens.current().values_list("pk", flat=True)),
        "everybody": everybody,
        "made": made,
        "wrong": wrong,
        "asked": request.POST,
        "days": DAYS,
        "people": get_user_model().objects.filter(is_active=True).values_list("username", flat=True).order_by("username")[:500] if everybody else (),
    }
    return render(request, "tokens/page.html", context, status=400 if wrong else 200)
