"""Records that a person has declared a missing broker gone for good.

A broker that the name servers stop naming is kept with its last values until it is
known to be gone. Only a person can know that a machine will not come back, and says so
with this statement. It is kept in the cache, where the collector reads it at each
sweep, and in the audit trail. It counts for the absence during which it was made: a
broker that is listed again is back, and a later absence needs a new statement.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass

import orjson
import redis
from django.conf import settings
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from dashboard.frame.reasons import checked_reason
from dashboard.live.names import gone_key
from dashboard.live.state import LiveState, live_state
from dashboard.models import Role, User
from dashboard.models.audit import record

from .reach import reach_of


class BrokerError(ValueError):
    """A statement about a broker cannot be accepted; the message says why."""


class UnknownBrokerError(BrokerError):
    """The cluster has no broker of that name, present or missing."""


class NoStateError(BrokerError):
    """The broker's state cannot be read now, or the statement cannot be stored."""


@dataclass(frozen=True, slots=True)
class Gone:
    """Who said that a broker is gone for good, when (ms since the epoch) and why."""

    at: int
    by: str
    reason: str


def say_gone(actor: User, cluster: str, broker: str, reason: str) -> Gone:
    """Treat a missing broker as gone for good from the next sweep on.

    Raise BrokerError, worded for the person who asked, if the broker is not missing or
    no reason is given; then nothing has changed.
    """
    actor.must_be(Role.OPERATOR)
    reason = checked_reason(reason, BrokerError)
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
    # If the cache fails, the entry is rolled back: neither exists without the other.
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
