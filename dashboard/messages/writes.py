"""What is done with messages: looking at a body, sending, and consuming once more.

Each is recorded in the audit, a look at a body too. A message is sent before the entry
is made, because the entry has its id; where sending fails, the entry says so.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from django.utils.translation import gettext as _

from dashboard.frame.messages.places import Place
from dashboard.frame.messages.rights import allow_bodies
from dashboard.frame.reasons import checked_reason
from dashboard.gateway import message_writes as gateway
from dashboard.gateway.asking import settings_of
from dashboard.gateway.message_writes import DirectResult, resent
from dashboard.gateway.messages import ReadMessage
from dashboard.models import AuditEntry, Cluster, Role, User
from dashboard.models.audit import record
from dashboard.rest.refusals import ReadOnlyRefusal
from rmqcore.errors import RmqError
from rmqcore.model import Message

from .reads import read

T = TypeVar("T")


class MessageRefusedError(Exception):
    """Something cannot be done with a message; the message says why."""


class ReadOnlyError(ReadOnlyRefusal, MessageRefusedError):
    """The cluster is not open to writing."""


class MessageGoneError(MessageRefusedError):
    """The queue has no message at that offset, or has it no more."""


@dataclass(frozen=True, slots=True)
class Sent:
    """A message that was sent, and whether it was found again where it was stored."""

    place: Place
    unique_key: str
    offset_msg_id: str
    read_back: bool


def look(actor: User, cluster: str, place: Place) -> ReadMessage:
    """Return a message with its body; the look is recorded.

    Raise PermissionDenied without the right to see bodies, MessageGoneError where
    there is no such message, and RmqError when the cluster refuses.
    """
    allow_bodies(actor)
    found = _read(cluster, place)
    record(
        actor,
        "message.look",
        cluster=cluster,
        target=str(place),
        details={"id": found.message.msg_id, "bytes": len(found.message.body)},
    )
    return found


def resend_to_topic(
    actor: User, cluster: Cluster, place: Place, topic: str, reason: str
) -> Sent:
    """Send a message once more, as a new one, to a topic."""
    reason = _allowed(actor, cluster, reason)
    if not topic:
        raise MessageRefusedError(_("A topic is needed."))
    found = _read(cluster.name, place)
    message = resent(found.message, topic)
    what = {"from": str(place), "origin": found.message.msg_id}
    wanted = _Wanted(actor, "message.resend", cluster.name, topic, reason)
    return _send(wanted, message, what)


def send_test(actor: User, cluster: Cluster, message: Message, reason: str) -> Sent:
    """Send a new message, for trying a topic or its consumers."""
    reason = _allowed(actor, cluster, reason)
    wanted = _Wanted(actor, "message.send", cluster.name, message.topic, reason)
    return _send(wanted, message, {})


def consume_again(
    actor: User,
    cluster: Cluster,
    place: Place,
    *,
    group: str,
    client: str,
    reason: str,
) -> DirectResult:
    """Have an online client of a group consume a message once more, at once."""
    reason = _allowed(actor.at(cluster.name, group), cluster, reason)
    found = _read(cluster.name, place)
    given = settings_of(cluster.name)
    clients = gateway.online_clients(given, group, place.broker)
    if not clients:
        raise MessageRefusedError(
            _("No member of group “%(group)s” is connected to broker %(broker)s.")
            % {"group": group, "broker": place.broker}
        )
    if client not in clients:
        raise MessageRefusedError(
            _("Client “%(client)s” is not online; these are: %(clients)s.")
            % {"client": client, "clients": ", ".join(clients[:10])}
        )
    details = {"from": str(place), "id": found.message.msg_id, "client": client}

    def work() -> DirectResult:
        return gateway.consume_directly(given, group, client, found.message)

    def told(result: DirectResult) -> Mapping[str, Any]:
        return {"result": result.result, "spent_ms": result.spent_ms}

    wanted = _Wanted(actor, "message.consume", cluster.name, group, reason)
    return _recorded(wanted, details, work, told)


# Private, in order of first use


def _read(cluster: str, place: Place) -> ReadMessage:
    found = read(cluster, place)
    if found is None:
        raise MessageGoneError(
            _("There is no message at offset %(offset)s of %(queue)s, or not any more.")
            % {"offset": place.offset, "queue": f"{place.broker} / {place.queue}"}
        )
    return found


def _allowed(actor: User, cluster: Cluster, reason: str) -> str:
    """Return the reason; raise where the actor, the cluster or it forbids a write."""
    actor.must_be(Role.OPERATOR)
    if why := cluster.why_read_only:
        raise ReadOnlyError(why)
    return checked_reason(reason, MessageRefusedError)


@dataclass(frozen=True, slots=True)
class _Wanted:
    """A write that somebody asked for, as the audit has it."""

    actor: User
    action: str
    cluster: str
    target: str
    reason: str


def _send(wanted: _Wanted, message: Message, what: Mapping[str, Any]) -> Sent:
    def work() -> Sent:
        sent, found = gateway.send_message(settings_of(wanted.cluster), message)
        queue = sent.queue
        place = Place(queue.topic, queue.broker_name, queue.queue_id, sent.queue_offset)
        return Sent(place, sent.unique_key, sent.offset_msg_id, found is not None)

    def told(sent: Sent) -> Mapping[str, Any]:
        return {"id": sent.unique_key, "to": str(sent.place), "found": sent.read_back}

    return _recorded(wanted, what, work, told)


def _recorded(
    wanted: _Wanted,
    details: Mapping[str, Any],
    work: Callable[[], T],
    told: Callable[[T], Mapping[str, Any]],
) -> T:
    """Do the work and record it with what came of it, or with its failure."""
    try:
        done = work()
    except RmqError as error:
        _note(wanted, {**details, "error": str(error)}, AuditEntry.Outcome.FAILED)
        raise MessageRefusedError(str(error)) from error
    _note(wanted, {**details, **told(done)}, AuditEntry.Outcome.DONE)
    return done


def _note(
    wanted: _Wanted, details: Mapping[str, Any], outcome: AuditEntry.Outcome
) -> None:
    record(
        wanted.actor,
        wanted.action,
        cluster=wanted.cluster,
        target=wanted.target,
        reason=wanted.reason,
        outcome=outcome,
        details=details,
    )
