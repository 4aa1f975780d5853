"""What Django has to know to import models; it is the same in every installation.

It stands apart because the process that others are forked from imports models before
any other setting is read (`supervisor.forking`).
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
