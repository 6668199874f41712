"""Addresses of the pages."""

from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.views import LogoutView
from django.urls import path

from inspector.views import sign_in

urlpatterns = [
    path("launch/", sign_in.launch, name="launch"),
    path("sign-in/", sign_in.SignIn.as_view(), name="login"),
    path("sign-out/", login_not_required(LogoutView.as_view()), name="logout"),
]
