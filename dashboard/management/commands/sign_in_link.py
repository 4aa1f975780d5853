"""Print a link that signs one user in, once, within fifteen minutes."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError
from django.urls import reverse
from django.utils import timezone

from dashboard.accounts.links import first_user, make_sign_in_token
from dashboard.management.base import OwnCommand
from dashboard.models import User


class Command(OwnCommand):
    help = "Print a one-time sign-in link; without --user it is the first admin's."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--user", default="", help="name of an existing user")
        parser.add_argument(
            "--base-url", default="", help="address of the page, without a path"
        )

    def handle(self, *_args: Any, **options: Any) -> None:
        user = _user(options["user"])
        token = make_sign_in_token(user, timezone.now())
        base = (options["base_url"] or _base_url()).rstrip("/")
        # All addresses would load every page, and these have no prefix.
        path = reverse("sign_in_link", urlconf="dashboard.accounts.urls", args=[token])
        self.stdout.write(base + path)


def _user(name: str) -> User:
    if not name:
        return first_user()
    try:
        user = User.objects.get(username=name, is_active=True)
    except User.DoesNotExist:
        raise CommandError(f"there is no active user called {name!r}") from None
    if user.is_from_outside:
        raise CommandError(
            f"{name!r} signs in at {user.identity.issuer}; without --user the link "
            "is for an admin of RocketScope's own"
        )
    return user


def _base_url() -> str:
    """Return the base URL; a server on every address is reached by loopback."""
    host, port = settings.ROCKETSCOPE_LISTEN
    host = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, host)  # noqa: S104
    return f"http://{f'[{host}]' if ':' in host and host[0] != '[' else host}:{port}"
