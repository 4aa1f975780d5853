"""Stories of a strange cluster: what is so, what happens, and who answers what when.

A `History` is plain data: its text is the expression that makes it. `histories()` is
the Hypothesis strategy; it shrinks towards one broker, one topic, plain names, no fault
and one look.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, get_args

from hypothesis import strategies as st

from . import names
from .events import (
    Appeared,
    Committed,
    Consumed,
    Divided,
    Event,
    Fell,
    Joined,
    Left,
    Produced,
    Resized,
    Vanished,
    WentBack,
)
from .truth import (
    AVERAGELY,
    BROADCASTING,
    CLUSTERING,
    POP,
    PULL,
    PUSH,
    Group,
    Printed,
    Process,
    QueueKey,
    Topic,
    Truth,
    divided,
)

Ill = Literal[
    "silent",  # takes requests and never answers
    "late",  # answers when nobody waits any more
    "busy",
    "denied",
    "failed",
    "garbage",
    "cut",  # refuses connections
    "slave",  # the master is dead and its slave, which lags behind, answers
    "headless",  # the master has no address any more; the slave has
]

Look = Literal[
    "all",  # a sweep of all groups
    "watched",  # a look at the watched groups
    "overtaken",  # a sweep of all whose answers are taken in after the next step's look
    "handed over",  # another collector takes the lead, and sweeps
]

CODES: Final = (21, 43, 201, 202, 203, 208, 303, 307)
"""What a collector asks brokers: topics, offsets, groups, statistics, members, what was
pulled, lag in time, what members hold."""

NAME_SERVERS: Final = 2


@dataclass(frozen=True, repr=False)
class Fault(Printed):
    """How a broker answers; `codes` are the requests it goes for, none: all."""

    ill: Ill
    codes: tuple[int, ...] = ()


@dataclass(frozen=True, repr=False)
class NameServer(Printed):
    """How one name server is: which brokers it lacks, or that it is down."""

    lacks: tuple[str, ...] = ()
    down: bool = False


@dataclass(frozen=True, repr=False)
class Step(Printed):
    """Something happens; so many seconds after the last step somebody looks.

    `meanwhile` happens during the look: requests with the codes `unseen` were answered
    before it, all others are answered after it.
    """

    happens: tuple[Event, ...] = ()
    look: Look = "all"
    after_s: int = 10
    faults: Mapping[str, Fault] = field(default_factory=dict)
    naming: Mapping[int, NameServer] = field(default_factory=dict)
    meanwhile: tuple[Event, ...] = ()
    unseen: tuple[int, ...] = ()


@dataclass(frozen=True, repr=False)
class History(Printed):
    """A cluster, and what is seen of it; `watched` groups are looked at each second."""

    truth: Truth
    steps: tuple[Step, ...]
    watched: bool = True

    def truths(self) -> Iterator[tuple[Truth, Truth]]:
        """Yield what is so at each step, before and after what happens meanwhile."""
        truth = self.truth
        for step in self.steps:
            before = _after(truth, step.happens)
            truth = _after(before, step.meanwhile)
            yield before, truth


def _after(truth: Truth, events: tuple[Event, ...]) -> Truth:
    for event in events:
        truth = event.apply(truth)
    return truth


# Strategies


@st.composite
def histories(draw: st.DrawFn, *, steps: int = 6, ill: bool = True) -> History:
    """Draw a history of at most so many steps; `ill` lets brokers and names fail."""
    truth = draw(truths())
    one = _steps(truth, ill=ill)
    found = draw(st.lists(one, min_size=1, max_size=steps))
    return History(truth, tuple(found), draw(st.booleans()))


@st.composite
def truths(draw: st.DrawFn) -> Truth:
    """Draw a cluster of up to three brokers, two topics and three groups."""
    named = draw(_unique(names.brokers(), 3))
    # A topic with the name of a broker is RocketMQ's own.
    topics = draw(_unique(names.topics().filter(lambda each: each not in named), 2))
    brokers = {
        broker: {
            topic: draw(_topics())
            for topic in topics
            if broker == named[0] or draw(st.integers(0, 3))
        }
        for broker in named
    }
    truth = Truth(brokers)
    for name in draw(_unique(names.groups(), 3)):
        truth = truth.with_group(draw(groups(truth, name)))
    for name in truth.groups:
        if not draw(st.integers(0, 3)):
            truth = truth.with_topic(named[0], f"%RETRY%{name}", Topic(((0, 3),)))
    return truth


@st.composite
def groups(draw: st.DrawFn, truth: Truth, name: str) -> Group:
    """Draw a group: who is in it, what they read, how far it is."""
    queues = _read_queues(truth)
    processes = draw(st.lists(processes_of(truth), max_size=4))
    committed = {
        key: draw(st.integers(0, 40)) for key in queues if draw(st.integers(0, 4))
    }
    modes = st.sampled_from((CLUSTERING,) * 4 + (BROADCASTING,))
    mode_at = draw(st.dictionaries(st.sampled_from([*truth.brokers]), modes))
    kind = st.sampled_from((PUSH,) * 4 + (PULL, POP))
    group = Group(name, tuple(processes), committed, draw(modes), mode_at, draw(kind))
    return group if not draw(st.integers(0, 4)) else divided(group, truth)


@st.composite
def processes_of(draw: st.DrawFn, truth: Truth) -> Process:
    """Draw a member: what it is called, reads, holds, and whether it answers."""
    queues = _read_queues(truth)
    topics = sorted({key[0] for key in queues})
    reads = draw(
        st.dictionaries(
            st.sampled_from(topics),
            st.sampled_from(("*", "red || blue", "<script>", "a > 1")),
            min_size=int(bool(draw(st.integers(0, 4)))),
        )
    )
    return Process(
        draw(names.client_ids()),
        reads,
        tuple(draw(st.lists(st.sampled_from(queues), max_size=3, unique=True))),
        draw(st.sampled_from(STRATEGIES)),
        draw(st.none() | st.frozensets(st.sampled_from([*truth.brokers]), min_size=1)),
        bool(draw(st.integers(0, 4))),
        not draw(st.integers(0, 6)),
    )


def _read_queues(truth: Truth) -> list[QueueKey]:
    retries = {f"%RETRY%{name}" for name in truth.groups}
    return [key for key, _offsets in truth.queues() if key[0] not in retries]


STRATEGIES: Final = (
    AVERAGELY,
    AVERAGELY,
    "AllocateMessageQueueAveragelyByCircle",
    "AllocateMessageQueueConsistentHash",
    "AllocateMessageQueueByMachineRoom",
    "com.example.TheirOwn",
    "<script>",
    "",
    None,
)


def _topics() -> st.SearchStrategy[Topic]:
    low = st.sampled_from((0, 0, 5))
    queue = st.builds(lambda low, n: (low, low + n), low, st.integers(0, 30))
    queues = st.lists(queue, min_size=1, max_size=3).map(tuple)
    return st.builds(Topic, queues, st.sampled_from((None, None, None, 1, 4)))


def _unique(named: st.SearchStrategy[str], count: int) -> st.SearchStrategy[list[str]]:
    return st.lists(named, min_size=1, max_size=count, unique=True)


def _steps(truth: Truth, *, ill: bool) -> st.SearchStrategy[Step]:
    broker = st.sampled_from([*truth.brokers])
    events = st.lists(_events(truth), max_size=2).map(tuple)
    codes = st.sampled_from(((), *((code,) for code in CODES), (21, 202), (43, 202)))
    fault = st.builds(Fault, st.sampled_from(get_args(Ill)), codes)
    naming = st.builds(
        NameServer, st.lists(broker, max_size=2, unique=True).map(tuple), st.booleans()
    )
    nothing: st.SearchStrategy[dict[Any, Any]] = st.just({})
    return st.builds(
        Step,
        events,
        st.sampled_from(get_args(Look)),
        st.sampled_from((10, 1, 2, 5, 30)),
        st.dictionaries(broker, fault, max_size=2) if ill else nothing,
        st.dictionaries(st.integers(0, NAME_SERVERS - 1), naming, max_size=2)
        if ill
        else nothing,
        st.just(()) | events,
        st.lists(st.sampled_from(CODES), max_size=3, unique=True).map(tuple),
    )


def _events(truth: Truth) -> st.SearchStrategy[Event]:
    place, count = st.integers(0, 2), st.integers(1, 30)
    group = st.sampled_from([*truth.groups])
    broker = st.sampled_from([*truth.brokers])
    topic = st.sampled_from(sorted({key[0] for key in _read_queues(truth)}))
    key = st.tuples(topic, broker, st.integers(0, 5))
    other = (group | names.groups()).flatmap(lambda name: groups(truth, name))
    offset = st.sampled_from((0, 7, 1_000_000, 2**62))
    return st.one_of(
        st.builds(Produced, count),
        st.builds(Consumed, group, count),
        st.builds(Divided, group),
        st.builds(Left, group, place),
        st.builds(Joined, group, processes_of(truth)),
        st.builds(Fell, group, place),
        st.builds(Resized, broker, topic, st.integers(0, 4), st.none() | place),
        st.builds(WentBack, broker, count),
        st.builds(Committed, group, key, offset),
        st.builds(Vanished, group),
        st.builds(Appeared, other),
    )
