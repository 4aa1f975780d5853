"""What all commands of `manage.py` that are ours have in common."""

from __future__ import annotations

from django.core.management.base import BaseCommand


class OwnCommand(BaseCommand):
    """A command that starts without Django's checks of the code.

    The checks load every page, which takes longer than most commands do, and they read
    the database, which may be damaged when `restore` is run. The tests run them.
    """

    requires_system_checks = ()
