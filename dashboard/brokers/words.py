"""Words for what brokers report, and for why something is not known of them."""

from __future__ import annotations

from typing import Final

from django.utils.translation import gettext_lazy as _

from dashboard.wording.words import Word

REASONS: Final[dict[str, Word]] = {
    "not_told": _("The broker does not report it"),
    "older_broker": _("Brokers before 5.0 do not report it"),
    "no_messages": _("The broker has no messages"),
    "no_settings": _("The broker has not reported its settings"),
    "first_minute": _("Its log has been watched for less than a minute"),
    "nothing_written": _("Nothing is written, so the disk does not fill"),
    "age_first": _("Messages reach their age and are deleted before the disk is full"),
    "is_master": _("A master follows nobody"),
    "is_slave": _("Slaves follow masters only"),
    "master_silent": _("Needs an answer of its master, too"),
    "nothing_confirmed": _("The slave has confirmed nothing so far"),
    "never_answered": _("It has not answered yet"),
}
"""More words for the section of unknown values."""

POOLS: Final[dict[str, Word]] = {
    "send": _("sending"),
    "pull": _("pulling"),
    "lite_pull": _("lite pulling"),
    "query": _("querying"),
    "ack": _("acknowledging"),
    "end_transaction": _("ending transactions"),
}

TROUBLES: Final[dict[str, Word]] = {
    "silent": _("Does not answer: {error}"),
    "disk_full": _("The disk is {ratio} full: writes are refused from {limit} on"),
    "deletes": _("The disk is {ratio} full: messages are deleted whatever their age"),
    "fills": _("The disk is full in {span} at this rate"),
    "page_cache": _("A write has held the log for {span}: sends are refused"),
    "waits": _("Requests for {pool} wait {span}"),
    "behind": _("{size} behind its master"),
    "dispatch": _("The index is {size} behind the log"),
}
