"""Channels: made, changed, tested and deleted by admins; all of these are audited.

The address of a channel holds passwords and tokens, often in the place of a host. It is
never shown again, recorded or logged: of it, only the scheme is told.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import datetime
from typing import Final

from django.conf import settings
from django.db import IntegrityError, transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from dashboard.alerting.sending import AddressError, check_address
from dashboard.models import AlertMessage, AlertRule, Channel, Role, User
from dashboard.models.audit import record
from dashboard.models.counting import count_alone

from .refusals import AlertRefusedError
from .rights import may_rule, must

MOST_CHANNELS: Final = 200
MOST_ADDRESS: Final = 2000
_SCHEME: Final = re.compile(r"[a-z0-9+.-]{1,20}://", re.IGNORECASE)


def scheme_of(channel: Channel) -> str:
    """Return what may be shown of an address; empty if it cannot be read any more."""
    found = _SCHEME.match(channel.address or "")
    return f"{found[0].lower()}…" if found else ""


def save_channel(
    name: str,
    *,
    by: User,
    address: str = "",
    language: str = "en",
    on: bool = True,
    channel: Channel | None = None,
) -> Channel:
    """Make a channel, or change one, whose address is kept unless one is given.

    Raises AlertRefusedError for values that make no sense, a name that is taken and an
    address that Apprise does not take; PermissionDenied for who is no admin everywhere.
    """
    _must_be_admin(by)
    name, address = name.strip(), address.strip()
    if not name:
        raise AlertRefusedError(_("The channel needs a name."), "name")
    if language not in dict(settings.LANGUAGES):
        raise AlertRefusedError(
            _("There is no language “%(name)s”.") % {"name": language[:16]}, "language"
        )
    if address or channel is None:
        _check(address)
    saved = channel or Channel()
    saved.name, saved.language, saved.on = name, language, on
    if address:
        saved.address = address
    try:
        with transaction.atomic():
            if channel is None:
                _check_room()
            saved.save()
            record(
                by,
                "alert_channel.add" if channel is None else "alert_channel.change",
                target=name,
                details={
                    "scheme": scheme_of(saved),
                    "new_address": bool(address),
                    "language": language,
                    "on": on,
                },
            )
    except IntegrityError:
        raise AlertRefusedError(
            _("There is already a channel named “%(name)s”.") % {"name": name}, "name"
        ) from None
    return saved


@transaction.atomic
def delete_channel(channel: Channel, *, by: User) -> None:
    """Delete a channel; rules that tell it do so no longer."""
    _must_be_admin(by)
    gone, _rows = Channel.objects.filter(pk=channel.pk).delete()
    if gone:
        record(by, "alert_channel.delete", target=channel.name)


def send_test(channel: Channel, *, by: User) -> AlertMessage:
    """Send a test to a channel; the collector sends it within a sweep."""
    _must_be_admin(by)
    return _test(channel, by, timezone.now())


def send_rule_test(rule: AlertRule, *, by: User) -> list[AlertMessage]:
    """Send a test to all channels of a rule, also those of its escalation."""
    must(may_rule(by, rule.cluster, rule.kind, rule.groups), by, Role.ADMIN)
    channels = {*rule.channels.filter(on=True), *rule.escalation.filter(on=True)}
    if not channels:
        raise AlertRefusedError(_("The rule tells no channel that is on."))
    return _tests(sorted(channels, key=lambda each: each.name), by)


def _tests(channels: Iterable[Channel], by: User) -> list[AlertMessage]:
    now = timezone.now()
    return [_test(each, by, now) for each in channels]


@transaction.atomic
def _test(channel: Channel, by: User, now: datetime) -> AlertMessage:
    count_alone("alert tests")
    tests = AlertMessage.objects.filter(channel=channel, what=AlertMessage.What.TEST)
    waiting = tests.filter(state=AlertMessage.State.WAITING).first()
    if waiting is not None:
        return waiting
    message = AlertMessage.objects.create(
        channel=channel,
        channel_name=channel.name,
        what=AlertMessage.What.TEST,
        made_at=now,
        due_at=now,
    )
    record(by, "alert_channel.test", target=channel.name)
    return message


def _check(address: str) -> None:
    if not address:
        raise AlertRefusedError(_("The channel needs an address."), "address")
    if len(address) > MOST_ADDRESS:
        raise AlertRefusedError(
            _("The address has %(length)s characters; it has at most %(limit)s.")
            % {"length": len(address), "limit": MOST_ADDRESS},
            "address",
        )
    try:
        check_address(address)
    except AddressError:
        # What Apprise says of it would repeat the address, with what is secret in it.
        raise AlertRefusedError(
            _("Apprise knows no service with such an address, or a part is missing."),
            "address",
        ) from None


def _check_room() -> None:
    count_alone("alert channels")
    if Channel.objects.count() >= MOST_CHANNELS:
        raise AlertRefusedError(
            _("There are already %(limit)s channels, which is the limit.")
            % {"limit": MOST_CHANNELS},
            "name",
        )


def _must_be_admin(by: User) -> None:
    must(by.at(None).allows(Role.ADMIN), by.at(None), Role.ADMIN)
