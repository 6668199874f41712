"""Coming in and going out: the launch link of local mode, name and password of team mode."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib.auth import login
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.views import LoginView, LogoutView
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.decorators import method_decorator
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from inspector.services import launch as launch_link


@method_decorator(login_not_required, name="dispatch")
class SignIn(LoginView):
    """Team mode: the form. Local mode: where to find the launch link, because the local user has no password."""

    template_name = "sign_in/page.html"
    redirect_authenticated_user = True

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        return super().get_context_data(**kwargs) | {"team_mode": settings.TEAM_MODE}

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if not settings.TEAM_MODE:
            return self.get(request, *args, **kwargs)
        return super().post(request, *args, **kwargs)


@method_decorator(login_not_required, name="dispatch")
class SignOut(LogoutView):
    """Local mode asks first: who signs out there needs a new launch link to come back."""

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if not settings.TEAM_MODE and request.user.is_authenticated and "sure" not in request.POST:
            return render(request, "sign_in/out.html")
        return super().post(request, *args, **kwargs)


@login_not_required
@never_cache
@require_GET
def launch(request: HttpRequest) -> HttpResponse:
    """Change the token in the address for a session cookie, once."""
    if settings.TEAM_MODE:
        raise Http404("Launch links belong to local mode.")
    user = launch_link.redeem_token(token=request.GET.get("token", ""))
    if user is None:
        if request.user.is_authenticated:
            return redirect("/")
        return render(request, "launch/refused.html", status=403)
    login(request, user, backend="django.contrib.auth.backends.ModelBackend")
    if request.headers.get("Sec-Fetch-Site", "none") in ("none", "same-origin"):
        return redirect("/")
    # The link was clicked on another site (a web terminal, a chat): a redirect would not carry the SameSite=Strict cookie, a step by our page does.
    return render(request, "launch/step.html", {"to": "/"})
