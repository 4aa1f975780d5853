"""What models are made with: Django's settings that are the same everywhere.

They stand apart because the process that others are forked from imports models with
these alone, before any setting is read (`supervisor.forking`).
"""

from __future__ import annotations

INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "channels",
    "csp",
    "dashboard",
]
AUTH_USER_MODEL = "dashboard.User"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
