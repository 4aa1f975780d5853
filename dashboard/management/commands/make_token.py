"""Print a token for the REST API, once."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from dashboard.accounts.tokens import TokenRefusedError, make_token
from dashboard.accounts.users import add_user
from dashboard.management.base import OwnCommand
from dashboard.models import Role, User


class Command(OwnCommand):
    help = (
        "Print a token that acts for a user over REST. It is not kept and not shown "
        "again."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name", help="what the token is for")
        parser.add_argument("--user", required=True, help="for whom it acts")
        parser.add_argument(
            "--add-user",
            action="store_true",
            help="add the user, for a service, with the token's role",
        )
        parser.add_argument("--role", choices=Role.values, default=Role.VIEWER.value)
        parser.add_argument(
            "--cluster",
            action="append",
            default=[],
            help="a cluster to which it is limited; may be given several times",
        )
        parser.add_argument(
            "--days", type=int, help="days until it expires; it does not without this"
        )

    def handle(self, *_args: Any, **options: Any) -> None:
        role = Role(options["role"])
        user = User.objects.filter(username=options["user"]).first()
        if user is None and options["add_user"]:
            user = add_user(options["user"], role, by=None)
        if user is None:
            raise CommandError(f"there is no user called {options['user']!r}")
        try:
            _token, secret = make_token(
                user,
                name=options["name"],
                role=role,
                clusters=options["cluster"],
                days=options["days"],
                by=None,
            )
        except TokenRefusedError as error:
            raise CommandError(str(error)) from None
        self.stdout.write(secret)
