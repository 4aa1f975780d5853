"""Dead letters, retries and runs, as pages and the API show them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from django.db.models import Count, QuerySet
from django.utils.translation import gettext as _

from dashboard.frame.messages.masks import Masks, shown_properties
from dashboard.gateway.asking import settings_of
from dashboard.gateway.dead_letters import DeadLetter, DeadLetters, read_dead_letters
from dashboard.gateway.offsets import read_standing
from dashboard.gateway.queue_search import Span
from dashboard.gateway.retry_levels import RetryLevels, read_retry_levels
from dashboard.live.reading import read_overview, read_topics
from dashboard.live.topic_documents import TopicRow
from dashboard.models import ResendRun, ResentLetter
from dashboard.wording.words import word
from rmqcore.errors import RmqError
from rmqcore.model.topic import dead_letter_topic, retry_topic

RUNS_SHOWN: Final = 10
MOST_CAUSES: Final = 6
_MOST_TOPICS: Final = 10
"""Topics of one run whose offsets are asked for."""

State = ResentLetter.State


@dataclass(frozen=True, slots=True)
class Mark:
    """That a dead letter has been resent, or may have been, and by which run."""

    run: int
    state: str


@dataclass(frozen=True, slots=True)
class Cause:
    """One value that dead letters have in common, and how many have it."""

    value: str
    count: int


@dataclass(frozen=True, slots=True)
class Common:
    """The most frequent values of one facet; `more` other values are not shown."""

    shown: Sequence[Cause]
    more: int


def letters_of(cluster: str, group: str, span: Span, now_ms: int) -> DeadLetters:
    """Look at a group's dead letters; raise RmqError when the cluster is silent."""
    silent = silent_brokers(cluster)
    return read_dead_letters(settings_of(cluster), group, span, now_ms, silent)


def levels_of(cluster: str, group: str, now_ms: int) -> RetryLevels:
    """Count what waits in each delay level; raise RmqError without an answer."""
    silent = silent_brokers(cluster)
    return read_retry_levels(settings_of(cluster), group, now_ms, silent)


def silent_brokers(cluster: str) -> Mapping[str, str]:
    """Return the brokers that did not answer when they were last asked, and why.

    The name servers soon forget a broker that was killed, and its topics with it.
    """
    document = read_overview(cluster).document
    brokers = document["brokers"] if document else []
    return {
        each["name"]: each["error"] or word("unknown", "missing")
        for each in brokers
        if not each["answered"]
    }


def marks_of(cluster: str, letters: Iterable[DeadLetter]) -> Mapping[str, Mark]:
    """Return which letters were resent, by their ids; the newest run counts."""
    ids = [each.id for each in letters]
    rows = (
        ResentLetter.objects.filter(
            run__cluster__name=cluster,
            letter_id__in=ids,
            state__in=(State.SENDING, State.SENT),
        )
        .order_by("run_id")
        .values_list("letter_id", "run_id", "state")
    )
    return {letter_id: Mark(run, state) for letter_id, run, state in rows}


def causes_of(letters: Sequence[DeadLetter], masks: Masks) -> Mapping[str, Common]:
    """Count the letters by tag, producer's host, topic and tries, most first.

    The keys are those of the table's facets.
    """
    counters = {
        "tag": Counter(
            shown_properties(each.message, masks).get("TAGS", "") for each in letters
        ),
        "topic": Counter(each.topic or "" for each in letters),
        "host": Counter(each.born_on for each in letters),
        "tries": Counter(str(each.message.reconsume_times) for each in letters),
    }
    return {
        key: Common(
            [Cause(value, count) for value, count in counter.most_common(MOST_CAUSES)],
            max(0, len(counter) - MOST_CAUSES),
        )
        for key, counter in counters.items()
    }


@dataclass(frozen=True, slots=True)
class Traffic:
    """What is collected of a group's retry and dead-letter topics.

    A row is None where there is no such topic, or, if not `collected`, not known.
    """

    collected: bool
    retry: TopicRow | None = None
    dead: TopicRow | None = None


def traffic_of(cluster: str, group: str) -> Traffic:
    """Return the last hour of a group's retries and dead letters."""
    document = read_topics(cluster).document
    if document is None:
        return Traffic(False)
    rows = {each["topic"]: each for each in document["topics"]}
    return Traffic(
        True, rows.get(retry_topic(group)), rows.get(dead_letter_topic(group))
    )


def run_of(cluster: str, group: str, pk: int) -> ResendRun | None:
    """Return a run of a group that is still kept."""
    found = ResendRun.objects.select_related("cluster")
    return found.filter(pk=pk, cluster__name=cluster, group=group).first()


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run is: letters by state."""

    total: int
    by_state: Mapping[str, int]

    def count(self, state: str) -> int:
        return self.by_state.get(state, 0)

    @property
    def sent(self) -> int:
        return self.count(State.SENT)

    @property
    def failed(self) -> int:
        return self.count(State.FAILED)

    @property
    def gone(self) -> int:
        return self.count(State.GONE)

    @property
    def waiting(self) -> int:
        return self.count(State.WAITING)

    @property
    def sending(self) -> int:
        return self.count(State.SENDING)

    @property
    def ended(self) -> int:
        return self.sent + self.failed + self.gone


def progress_of(run: ResendRun) -> Progress:
    """Count a run's letters by their states."""
    rows = run.letters.order_by().values_list("state").annotate(Count("pk"))
    by_state = dict(rows)
    return Progress(sum(by_state.values()), by_state)


@dataclass(frozen=True, slots=True)
class RunRow:
    """A run in a list, and how far it is."""

    run: ResendRun
    progress: Progress


def runs_of(cluster: str, group: str) -> Sequence[RunRow]:
    """Return the newest runs of a group, newest first."""
    runs = all_runs_of(cluster, group)[:RUNS_SHOWN]
    return [RunRow(each, progress_of(each)) for each in runs]


def all_runs_of(cluster: str, group: str) -> QuerySet[ResendRun]:
    """Return all runs of a group that are kept, newest first."""
    rows = ResendRun.objects.filter(cluster__name=cluster, group=group)
    return rows.select_related("cluster")


@dataclass(frozen=True, slots=True)
class Effect:
    """What the group has consumed since of what a run sent.

    `passed` and `ahead` count letters before and behind the group's offsets; `unknown`
    those whose queue did not tell, with the reasons in `errors`.
    """

    passed: int = 0
    ahead: int = 0
    unknown: int = 0
    errors: Sequence[str] = field(default=())


def effect_of(run: ResendRun) -> Effect:
    """Ask how far the group is in the queues to which letters were sent."""
    sent = list(
        run.letters.filter(state=State.SENT).values_list(
            "sent_topic", "sent_broker", "sent_queue_id", "sent_offset"
        )
    )
    committed: dict[tuple[str, str, int | None], int | None] = {}
    errors: list[str] = []
    topics = sorted({each[0] for each in sent})
    if len(topics) > _MOST_TOPICS:
        text = _("%(n)s of %(all)s topics were asked for.")
        errors.append(text % {"n": _MOST_TOPICS, "all": len(topics)})
    for topic in topics[:_MOST_TOPICS]:
        try:
            standing = read_standing(settings_of(run.cluster.name), run.group, topic)
        except RmqError as error:
            errors.append(str(error))
            continue
        sides = standing.brokers.values()
        errors += [f"{side.name}: {side.error}" for side in sides if side.error]
        for at in standing.places:
            committed[topic, at.broker, at.queue_id] = at.committed
    known = [
        (committed[place], offset)
        for topic, broker, queue_id, offset in sent
        if (place := (topic, broker, queue_id)) in committed
    ]
    passed = sum(
        reached is not None and offset is not None and reached > offset
        for reached, offset in known
    )
    return Effect(passed, len(known) - passed, len(sent) - len(known), errors)
