"""What can be set: the fields of topics, groups and users, and a broker's settings.

A setting in `SETTINGS` takes effect while the broker runs, in Apache's brokers of 4.9
and 5.x: they read it each time they use it. Others are written all the same if somebody
insists, since brokers accept any name.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from django.utils.functional import Promise
from django.utils.translation import gettext as _now
from django.utils.translation import gettext_lazy as _

from dashboard.gateway.broker_settings import is_secret
from dashboard.gateway.configured import Kind

from .refusals import AdministrationError

Words = str | Promise

READ_WRITE: Final = (
    ("6", _("read and write")),
    ("4", _("read only")),
    ("2", _("write only")),
)


@dataclass(frozen=True, slots=True)
class Field:
    """One value that can be set: a number within limits, a switch, or a choice.

    `choices` are pairs of value and words. `default` is what a new one has.
    """

    key: str
    title: Words
    default: str
    hint: Words = ""
    low: int | None = None
    high: int | None = None
    choices: tuple[tuple[str, Words], ...] = ()

    @property
    def is_number(self) -> bool:
        return self.low is not None

    def check(self, value: str) -> str:
        """Return a value as RocketMQ writes it, or refuse it, naming the limit."""
        value = value.strip()
        if self.is_number:
            return self._checked_number(value)
        allowed = [choice for choice, _words in self.choices]
        if allowed and value not in allowed:
            raise AdministrationError(
                _now("%(field)s cannot be “%(value)s”; possible: %(allowed)s.")
                % {
                    "field": self.title,
                    "value": value,
                    "allowed": ", ".join(filter(None, allowed)),
                }
            )
        return "" if value == NONE else value

    def _checked_number(self, value: str) -> str:
        whole = value.removeprefix("-")
        number = int(value) if whole.isascii() and whole.isdecimal() else None
        low, high = self.low or 0, self.high or 0
        if number is None or not low <= number <= high:
            raise AdministrationError(
                _now("%(field)s is “%(value)s”; a number from %(low)s to %(high)s.")
                % {"field": self.title, "value": value, "low": low, "high": high}
            )
        return str(number)


def _switch(key: str, title: Words, default: str, hint: Words = "") -> Field:
    return Field(
        key, title, default, hint, choices=(("true", _("yes")), ("false", _("no")))
    )


MESSAGE_TYPE: Final = "message.type"
NONE: Final = "none"
"""The choice that removes a value, where it is offered."""
PASSWORD: Final = "password"  # noqa: S105 - the name of a field
MOST_QUEUES: Final = 1024

TOPIC: Final = (
    Field(
        "writeQueueNums",
        _("Queues for writing, on each broker"),
        "8",
        _("Producers choose among these."),
        0,
        MOST_QUEUES,
    ),
    Field(
        "readQueueNums",
        _("Queues for reading, on each broker"),
        "8",
        _("Consumers divide these. To shrink a topic, shrink writing first."),
        0,
        MOST_QUEUES,
    ),
    Field("perm", _("Permission"), "6", choices=READ_WRITE),
    _switch(
        "order",
        _("Ordered topic"),
        "false",
        _(
            "A mark at the broker. The list of brokers that old clients ask name "
            "servers for is not written."
        ),
    ),
    Field(
        MESSAGE_TYPE,
        _("Message type"),
        NONE,
        _("Brokers of 5.x refuse messages of another type. 4.x ignores this."),
        choices=(
            (NONE, _("not set")),
            ("NORMAL", "NORMAL"),
            ("FIFO", "FIFO"),
            ("DELAY", "DELAY"),
            ("TRANSACTION", "TRANSACTION"),
        ),
    ),
)

GROUP: Final = (
    _switch(
        "consumeEnable",
        _("May consume"),
        "true",
        _("Without it the broker refuses the group's pulls; members stay online."),
    ),
    _switch("consumeBroadcastEnable", _("May broadcast"), "true"),
    _switch(
        "consumeMessageOrderly",
        _("Retries in order (5.x POP)"),
        "false",
        _("For groups that use the clients of 5.x on FIFO topics."),
    ),
    Field(
        "retryMaxTimes",
        _("Retries before a message is dead"),
        "16",
        _("Clients from 3.4.9 on send a number of their own, which wins."),
        -1,
        1000,
    ),
    Field("retryQueueNums", _("Queues of the retry topic"), "1", "", 0, MOST_QUEUES),
    Field(
        "consumeTimeoutMinute",
        _("Longest consumption, in minutes"),
        "15",
        _("The broker only keeps it; clients use their own setting."),
        1,
        1440,
    ),
    _switch(
        "notifyConsumerIdsChangedEnable",
        _("Tell members at once when members change"),
        "true",
        _("Without it they notice within 20 s."),
    ),
    _switch(
        "consumeFromMinEnable",
        _("May begin at the oldest message"),
        "true",
    ),
)

USER: Final = (
    Field(
        "userType",
        _("Kind of user"),
        "Normal",
        _("A super user may do everything; policies do not apply to it."),
        choices=(("Normal", _("normal")), ("Super", _("super"))),
    ),
    Field(
        "userStatus",
        _("Status"),
        "enable",
        choices=(("enable", _("enabled")), ("disable", _("disabled"))),
    ),
    Field(
        PASSWORD,
        _("Password"),
        "",
        _("It is asked for together with the reason, and neither shown nor stored."),
        choices=(("new", _("set a new one")),),
    ),
)

WRITING: Final = (
    Field(
        "writing",
        _("Writing to this broker"),
        "allowed",
        _(
            "Name servers forget this when they restart, or when the broker registers "
            "a changed topic. To last, set the permission of the whole broker."
        ),
        choices=(("allowed", _("allowed")), ("stopped", _("stopped"))),
    ),
)

_DAY_MS: Final = 86_400_000

SETTINGS: Final = (
    Field(
        "brokerPermission",
        _("Permission of the whole broker"),
        "6",
        _(
            "Read only drains it: sends are refused at once, and this stays after a "
            "restart, unlike the permission in the name servers' routes."
        ),
        choices=READ_WRITE,
    ),
    Field(
        "fileReservedTime",
        _("Hours that messages are kept"),
        "72",
        _("Older files are deleted at the hour of deleteWhen, or when the disk fills."),
        1,
        8760,
    ),
    Field(
        "deleteWhen",
        _("Hours of the day to delete at"),
        "04",
        _("Two digits, several joined by semicolons."),
    ),
    Field(
        "diskMaxUsedSpaceRatio",
        _("Disk use that starts deleting, in percent"),
        "75",
        _("Above it files are deleted before their time."),
        10,
        95,
    ),
    _switch(
        "autoCreateTopicEnable",
        _("Create topics at the first send"),
        "true",
        _("Without it, sending to a topic that does not exist is an error."),
    ),
    _switch(
        "autoCreateSubscriptionGroup",
        _("Create groups at the first use"),
        "true",
    ),
    Field(
        "defaultTopicQueueNums",
        _("Queues of topics created by a send"),
        "8",
        "",
        1,
        MOST_QUEUES,
    ),
    _switch(
        "slaveReadEnable",
        _("Send readers that are far behind to a slave"),
        "false",
    ),
    _switch("longPollingEnable", _("Hold pulls until a message comes"), "true"),
    _switch("notifyConsumerIdsChangedEnable", _("Tell members of changes"), "true"),
    _switch("brokerFastFailureEnable", _("Refuse sends that wait too long"), "true"),
    Field(
        "waitTimeMillsInSendQueue",
        _("Longest wait of a send, in ms"),
        "200",
        _("After it the broker answers “system busy”."),
        1,
        60_000,
    ),
    Field(
        "osPageCacheBusyTimeOutMills",
        _("Longest write to memory before “busy”, in ms"),
        "1000",
        "",
        1,
        60_000,
    ),
    Field(
        "maxTransferCountOnMessageInMemory",
        _("Messages in one answer to a pull, at most"),
        "32",
        "",
        1,
        10_000,
    ),
    _switch("enablePropertyFilter", _("Filter by SQL expressions"), "false"),
    _switch("rejectTransactionMessage", _("Refuse transactional messages"), "false"),
    Field(
        "transactionTimeOut",
        _("Age at which a transaction is checked, in ms"),
        "6000",
        "",
        1,
        _DAY_MS,
    ),
    Field("transactionCheckMax", _("Checks of a transaction"), "15", "", 1, 1000),
    _switch(
        "useServerSideResetOffset",
        _("Reset offsets at the broker (5.x)"),
        "true",
    ),
)

FIELDS: Final[Mapping[Kind, tuple[Field, ...]]] = {
    "topic": TOPIC,
    "group": GROUP,
    "user": USER,
    "writing": WRITING,
    "broker": SETTINGS,
    "rule": (),
}


def checked(kind: Kind, changes: Mapping[str, str]) -> dict[str, str]:
    """Return the values to set, as RocketMQ writes them; refuse impossible ones.

    Brokers' settings may have any name; fields of other kinds are those of `FIELDS`.
    """
    known = {field.key: field for field in FIELDS[kind]}
    found = {}
    for key, value in changes.items():
        if key in known:
            found[key] = known[key].check(value)
        elif kind in {"broker", "rule"}:
            found[key] = _checked_text(key, value)
        else:
            raise AdministrationError(
                _now("“%(key)s” is not one of %(known)s.")
                % {"key": key, "known": ", ".join(known)}
            )
    return found


def is_hot(setting: str) -> bool:
    """Tell whether a broker's setting is known to take effect while it runs."""
    return any(field.key == setting for field in SETTINGS)


def _checked_text(key: str, value: str) -> str:
    if not key or not key.isprintable() or "=" in key:
        raise AdministrationError(_now("“%(key)s” is not a name.") % {"key": key})
    if not value.isprintable() or len(value) > 1000:
        raise AdministrationError(
            _now("The value of %(key)s has to be one line of at most 1,000 characters.")
            % {"key": key}
        )
    if is_secret(key):
        # It would be part of addresses and of the audit trail.
        raise AdministrationError(
            _now("%(key)s is a secret; it is changed in the broker's own file.")
            % {"key": key}
        )
    return value.strip()
