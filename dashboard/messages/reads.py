"""Searches, single messages and their fates, as pages and the API show them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from django.conf import settings
from django.db.models import Max, Min

from dashboard.frame.messages.places import Place
from dashboard.gateway import messages as gateway
from dashboard.gateway.asking import settings_of
from dashboard.gateway.message_facts import MessageFacts, facts_of
from dashboard.gateway.message_writes import online_clients
from dashboard.gateway.messages import ReadMessage
from dashboard.gateway.queue_search import Found
from dashboard.models import AuditEntry, Epoch
from rmqcore.errors import RmqError
from rmqcore.model import MessageExt

from .consumption import Verdict, Watched, judge_all
from .forms import Search
from .traces import TraceStep, steps_of

COUNT_AT: Final = 50
"""How many messages a search by offset returns."""


def search(cluster: str, asked: Search) -> Found:
    """Make a search; raise RmqError when the cluster refuses or is silent."""
    given = settings_of(cluster)
    if asked.by == "id":
        return gateway.find_by_id(given, asked.id)
    if asked.by in ("key", "unique"):
        unique = asked.by == "unique"
        found = gateway.find_by_key(
            given, asked.topic, asked.key, asked.span, unique=unique
        )
        return _tagged(found, asked.tag)
    if asked.by == "time":
        return gateway.find_by_time(given, asked.topic, asked.span, tag=asked.tag)
    if asked.by == "offset" and asked.queue is not None:
        return gateway.find_at(given, asked.queue, asked.offset, COUNT_AT)
    find = gateway.find_newest if asked.by == "newest" else gateway.find_oldest
    return find(given, asked.topic, asked.queue)


def _tagged(found: Found, tag: str) -> Found:
    if not tag:
        return found
    kept = [message for message in found.messages if message.tags == tag]
    return Found(kept, found.cuts, found.failed)


@dataclass(frozen=True, slots=True)
class Fate:
    """What became of a message; `problem` says why that could not be asked."""

    verdicts: Sequence[Verdict] = ()
    steps: Sequence[TraceStep] = ()
    facts: MessageFacts | None = None
    problem: str = ""

    @property
    def judged(self) -> int:
        """How many groups take the message: those that filter it are not counted."""
        return sum(each.state != "filtered" for each in self.verdicts)

    @property
    def past(self) -> int:
        """How many of them have consumed the message or are past it."""
        return sum(each.state in {"consumed", "passed"} for each in self.verdicts)


def read(cluster: str, place: Place) -> ReadMessage | None:
    """Return one message; None when its queue has it no more."""
    return gateway.read_message(settings_of(cluster), place.message_queue, place.offset)


def fate_of(cluster: str, message: MessageExt) -> Fate:
    """Return what became of a message in each group of its topic."""
    try:
        topic = settings.ROCKETSCOPE_TRACE_TOPIC
        facts = facts_of(settings_of(cluster), message, topic)
    except RmqError as error:
        return Fate(problem=str(error))
    steps = steps_of(facts.traces or (), message.msg_id)
    watched = _watched(cluster, [each.group for each in facts.groups])
    verdicts = judge_all(message, facts.groups, steps, watched)
    return Fate(verdicts, steps, facts)


def clients_of(cluster: str, place: Place, group: str) -> list[str]:
    """Return the clients of a group that the broker of a message knows."""
    return online_clients(settings_of(cluster), group, place.broker)


def _watched(cluster: str, groups: Iterable[str]) -> Mapping[str, Watched]:
    """Return since when groups were seen, and when their offsets were last moved."""
    names = list(groups)
    seen = (
        Epoch.objects.filter(cluster__name=cluster, group__in=names)
        .order_by()
        .values_list("group")
        .annotate(Min("began_by"))
    )
    moved = (
        AuditEntry.objects.filter(
            cluster=cluster, target__in=names, action__icontains="offset"
        )
        .order_by()
        .values_list("target")
        .annotate(Max("at"))
    )
    since = {group: round(at.timestamp() * 1000) for group, at in seen}
    last = {group: round(at.timestamp() * 1000) for group, at in moved}
    return {group: Watched(since.get(group), last.get(group)) for group in names}
