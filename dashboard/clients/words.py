"""Words for what is said about a client's version and id."""

from __future__ import annotations

from typing import Final

from django.utils.translation import gettext_lazy as _

from dashboard.wording.words import Word

AGES: Final[dict[str, Word]] = {
    "behind": _("{version} in “{group}”, which has members of {newest}"),
    "before": _("{version} is older than {release}"),
    "twice": _("{n} processes with this id in “{group}”: they read the same queues"),
    "hosts": _("One id on several hosts: {hosts}"),
    "missing": _("Its brokers cannot be heard since {time}"),
}
