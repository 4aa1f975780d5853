"""A person's word that a missing broker is gone for good.

What the name servers stop naming is kept with its last values until its end is known.
Nobody but a person can know that a machine will not come back; this word ends it. It
is kept in the cache, where the collector reads it at each sweep, and in the audit
trail. It counts for the absence in which it was said: a broker that is listed again is
there again, and a later absence needs a new word.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Final

import orjson
import redis
from django.conf import settings
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from dashboard.live.names import gone_key
from dashboard.live.state import LiveState, live_state
from dashboard.models import Role, User
from dashboard.models.audit import record

from .reach import reach_of

MAX_REASON: Final = 1000


class BrokerError(ValueError):
    """What was said of a broker cannot be taken; the message says why."""


class UnknownBrokerError(BrokerError):
    """The cluster has no broker of that name, nor misses one."""


class NoStateError(BrokerError):
    """Whether the broker is missing cannot be looked up now, or the word not kept."""


@dataclass(frozen=True, slots=True)
class Gone:
    """Who said when (ms since the epoch) and why that a broker is gone for good."""

    at: int
    by: str
    reason: str


def say_gone(actor: User, cluster: str, broker: str, reason: str) -> Gone:
    """Take a missing broker as gone for good from the next sweep on.

    Raise BrokerError, worded for the person who asked, where the broker is not missing,
    or no reason is given; nothing has changed then.
    """
    if not actor.allows(Role.OPERATOR):
        raise PermissionDenied(
            f"{actor.get_username()} is {actor.role}; this needs {Role.OPERATOR}"
        )
    reason = _checked(reason)
    try:
        state = _state()
        _check_missing(state, cluster, broker)
        return _keep(state, actor, cluster, broker, reason)
    except redis.RedisError as error:
        raise NoStateError(
            _("The current state cannot be read or written: %(error)s")
            % {"error": error}
        ) from error


def _keep(
    state: LiveState, actor: User, cluster: str, broker: str, reason: str
) -> Gone:
    at = round(timezone.now().timestamp() * 1000)
    gone = Gone(at, actor.get_username(), reason)
    # A cache that fails takes the entry with it: neither is there without the other.
    with transaction.atomic():
        record(actor, "broker.gone", target=broker, cluster=cluster, reason=reason)
        state.client.hset(
            gone_key(cluster), broker, orjson.dumps(asdict(gone)).decode()
        )
    return gone


def _state() -> LiveState:
    if not settings.ROCKETSCOPE_REDIS_URL:
        raise NoStateError(_("The current state is not kept: no Redis is configured."))
    return live_state()


def _check_missing(state: LiveState, cluster: str, broker: str) -> None:
    overview = state.overview(cluster)
    if overview is None:
        raise NoStateError(
            _("Nothing has been collected from “%(name)s” yet.") % {"name": cluster}
        )
    known = {each.name: each for each in reach_of(overview).brokers}
    if broker not in known:
        raise UnknownBrokerError(
            _("“%(name)s” has no broker “%(broker)s”.")
            % {"name": cluster, "broker": broker}
        )
    if known[broker].state != "missing":
        raise BrokerError(
            _("The name servers list “%(broker)s”: it is not gone.")
            % {"broker": broker}
        )


def _checked(reason: str) -> str:
    reason = reason.strip()
    if not reason:
        raise BrokerError(_("A reason is needed; it is kept in the audit log."))
    if len(reason) > MAX_REASON:
        raise BrokerError(
            _("The reason has %(length)s characters, at most %(limit)s are kept.")
            % {"length": len(reason), "limit": MAX_REASON}
        )
    return reason
