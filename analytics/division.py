"""Who would have owned what in an epoch, by each candidate; plain Python, no Spark.

A candidate is one of RocketMQ's strategies, the one in use with more or fewer members,
or the balanced plan. Owners are given as positions in the epoch's list of member ids,
which imagined members follow; `NOBODY` stands for a queue without an owner, and None
for every queue where a candidate cannot be computed (missing options, a custom class).
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any, Final, TypeAlias

from analytics import contracts as c
from analytics.errors import JobError
from rmqcore.allocation import (
    BALANCED,
    AllocateStrategy,
    allocate_topics,
    balanced_plan,
    make_strategy,
    required_options,
)
from rmqcore.errors import ArgumentError
from rmqcore.model import MessageQueue, sorted_client_ids

WITHOUT_OPTIONS: Final = ("AVG", "AVG_BY_CIRCLE", "CONSISTENT_HASH")
"""Strategies that need only members and queues."""

IN_USE: Final = c.IN_USE
"""Stands for the strategy that the epoch itself names."""

NOBODY: Final = -1
"""The owner position of a queue that a candidate gives to nobody."""

MEMBER_IDS: Final = "member_ids"
WEIGHTS: Final = "weights"

Owners: TypeAlias = Mapping[MessageQueue, Sequence[str]]


@dataclass(frozen=True)  # without slots, because of the cached property
class Candidate:
    """One way to divide, with `added` more members than there were (fewer if negative).

    `options` are JSON, as `options_from` reads them. Unless they were entered, an
    epoch's own options for the same strategy take precedence; None means no options of
    its own.
    """

    name: str
    strategy: str
    options: Mapping[str, Any] | None = field(default_factory=dict)
    added: int = 0
    entered: bool = True

    def __getstate__(self) -> dict[str, Any]:
        # The built strategy is left out: the options of many groups would make it
        # large, and every task would have to read all of it.
        return {each.name: getattr(self, each.name) for each in fields(self)}

    @cached_property
    def built(self) -> AllocateStrategy | None:
        """The strategy with its options; None where it depends on epochs or loads."""
        if self.strategy in {IN_USE, BALANCED} or self.options is None:
            return None
        return make_strategy(self.strategy, options_from(self.options))

    @property
    def column(self) -> str:
        """The column that holds this candidate's owners."""
        return f"owner_{self.name}"

    @property
    def moved_column(self) -> str:
        """The column that says whether a queue has another owner than before."""
        return f"moved_{self.name}"


def candidates_of(
    options: Mapping[str, Mapping[str, Any]],
    added: Sequence[int] = (),
    only: Sequence[str] = (),
) -> list[Candidate]:
    """Return the candidates of a job, those in fixed order first.

    `options` names further strategies with their options (marked `contracts.KNOWN` if
    nobody entered them); `added` lists numbers of members to add to, or remove from,
    the strategy in use. `only` restricts the candidates to these (and the strategy in
    use, from which the capacity is known). Raises `JobError` for options that the
    strategy does not take, and for unknown names.
    """
    further = sorted(set(options) - set(WITHOUT_OPTIONS))
    found = [_candidate(name, options) for name in (*WITHOUT_OPTIONS, *further)]
    for candidate in found:
        try:
            required_options(candidate.strategy)  # checks that the strategy exists
            _ = candidate.built
        except ArgumentError as error:
            raise JobError(f"options of {candidate.name}: {error}") from error
    found += [Candidate(f"{IN_USE}{n:+d}", IN_USE, added=n) for n in sorted(added)]
    found += [Candidate(BALANCED, BALANCED), Candidate(IN_USE, IN_USE)]
    names = [candidate.name for candidate in found]
    for name in only:
        if name not in names:
            raise JobError(
                f"unknown strategy {name!r}; the known ones are {', '.join(names)}"
            )
    return [each for each in found if not only or each.name in {*only, IN_USE}]


def _candidate(name: str, options: Mapping[str, Mapping[str, Any]]) -> Candidate:
    given = dict(options.get(name, {c.KNOWN: True}))
    is_known = given.pop(c.KNOWN, False)
    if is_known and not given and name not in WITHOUT_OPTIONS:
        return Candidate(name, name, None, entered=False)
    return Candidate(name, name, given, entered=not is_known)


def options_from(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return a strategy's options from JSON: lists of a CONFIG become queues.

    `{"config": {client id: [[topic, broker, queue id], …]}}`; all others are taken as
    they are, so rooms are lists, and rooms of brokers and clients are mappings.
    """
    options = dict(document)
    config = options.get("config")
    if isinstance(config, Mapping):
        options["config"] = {
            client_id: [MessageQueue(*queue) for queue in queues]
            for client_id, queues in config.items()
        }
    return options


class Divider:
    """Divides the epochs of groups; those of one group must come in order.

    The balanced plan starts from the plan of the previous epoch, as if an operator
    followed it; only the first one starts from the owners of the strategy in use.
    """

    def __init__(self, candidates: Iterable[Candidate]) -> None:
        self._candidates = list(candidates)
        self._group: tuple[str, str] | None = None
        self._before: dict[str, Owners] = {}

    @property
    def columns(self) -> list[str]:
        """The names of the columns that `divide` returns, in order."""
        names = [c.CLUSTER, c.GROUP, c.EPOCH, c.TOPIC, c.BROKER, c.QUEUE_ID]
        names += [candidate.column for candidate in self._candidates]
        return names + [candidate.moved_column for candidate in self._candidates]

    def divide(self, epoch: Mapping[str, Any]) -> list[list[Any]]:
        """Return columns with a row per queue, and per owner where it has several.

        Owners are positions, `NOBODY`, or None where a candidate cannot be computed. A
        queue has moved if it had owners in the group's previous epoch and has different
        ones now; if it has several rows, this is noted in the first.
        """
        group = (epoch[c.CLUSTER], epoch[c.GROUP])
        if group != self._group:
            self._group, self._before = group, {}
        queues = [
            MessageQueue(queue[c.TOPIC], queue[c.BROKER], queue[c.QUEUE_ID])
            for queue in epoch[c.QUEUES]
        ]
        ids = list(epoch[MEMBER_IDS])
        places: list[list[Any]] = []
        moved: list[list[bool | None]] = []
        for candidate in self._candidates:
            members = _with(ids, candidate.added)
            owners = self._owners(epoch, candidate, queues, members)
            before = self._before.get(candidate.name)
            # Removed members leave their positions empty.
            listed = ids if candidate.added < 0 else members
            places.append(_places(owners, queues, _places_of(listed, members)))
            moved.append(_moved(owners, before, queues))
            if owners is not None:
                self._before[candidate.name] = owners
        return _unfolded(epoch, queues, places, moved)

    def _owners(
        self,
        epoch: Mapping[str, Any],
        candidate: Candidate,
        queues: Sequence[MessageQueue],
        members: Sequence[str],
    ) -> Owners | None:
        if not members:
            return None
        try:
            if candidate.strategy == BALANCED:
                return self._balanced(epoch, candidate, queues, members)
            return _divided(epoch, candidate, queues, members)
        except (ArgumentError, ValueError, TypeError):
            # The options are missing or fit another epoch: no comparison.
            return None

    def _balanced(
        self,
        epoch: Mapping[str, Any],
        candidate: Candidate,
        queues: Sequence[MessageQueue],
        members: Sequence[str],
    ) -> Owners:
        known = {
            MessageQueue(each[c.TOPIC], each[c.BROKER], each[c.QUEUE_ID]): each[c.LOAD]
            for each in epoch[WEIGHTS] or ()
        }
        before = self._before.get(candidate.name)
        if before is None:
            before = _divided(epoch, Candidate(IN_USE, IN_USE), queues, members)
        weights = {queue: known.get(queue) for queue in queues}
        return balanced_plan(weights, members, owners=before).plan.by_queue


def _divided(
    epoch: Mapping[str, Any],
    candidate: Candidate,
    queues: Sequence[MessageQueue],
    members: Sequence[str],
) -> Owners:
    strategy = candidate.built
    if candidate.strategy == IN_USE or _is_in_use(candidate, epoch):
        options = json.loads(epoch[c.OPTIONS] or "{}")
        strategy = make_strategy(epoch[c.STRATEGY], options_from(options))
    if strategy is None:
        raise ArgumentError(f"options of {candidate.name} are not known")
    plan = allocate_topics(
        strategy, group=epoch[c.GROUP], queues=queues, client_ids=members
    )
    return plan.by_queue


def _is_in_use(candidate: Candidate, epoch: Mapping[str, Any]) -> bool:
    """Say whether the epoch itself tells how it was divided by this strategy."""
    return (
        not candidate.entered
        and epoch[c.STRATEGY] == candidate.strategy
        and epoch[c.OPTIONS] is not None
    )


def _with(ids: Sequence[str], added: int) -> list[str]:
    """Return member ids with more appended, or without the last ones."""
    if added >= 0:
        return [*ids, *(f"~added-{number:03d}" for number in range(added))]
    return sorted_client_ids(ids)[:added]


def _places_of(listed: Sequence[str], members: Sequence[str]) -> dict[str, list[int]]:
    """Return the positions in the list of each remaining member's processes.

    Each process of a client id that is listed twice takes the whole share.
    """
    there = Counter(members)
    found: dict[str, list[int]] = defaultdict(list)
    for place, client_id in enumerate(listed):
        if len(found[client_id]) < there[client_id]:
            found[client_id].append(place)
    return found


def _places(
    owners: Owners | None,
    queues: Sequence[MessageQueue],
    places_of: Mapping[str, Sequence[int]],
) -> list[Any]:
    """Return each queue's owner as a position; a tuple of them where it has several."""
    if owners is None:
        return [None] * len(queues)
    found: list[Any] = []
    for queue in queues:
        holders = owners.get(queue, ())
        places = tuple(place for holder in holders for place in places_of[holder])
        found.append(places[0] if len(places) == 1 else places or NOBODY)
    return found


def _moved(
    owners: Owners | None, before: Owners | None, queues: Sequence[MessageQueue]
) -> list[bool | None]:
    if owners is None:
        return [None] * len(queues)
    if before is None:
        return [False] * len(queues)
    pairs = [(before.get(queue, ()), owners.get(queue, ())) for queue in queues]
    return [bool(old and new) and set(old) != set(new) for old, new in pairs]


def _unfolded(
    epoch: Mapping[str, Any],
    queues: Sequence[MessageQueue],
    places: Sequence[list[Any]],
    moved: Sequence[list[bool | None]],
) -> list[list[Any]]:
    """Return columns; a queue with several owners gets a row for each."""
    rows = range(len(queues))
    copies = [
        max((len(p[row]) for p in places if isinstance(p[row], tuple)), default=1)
        for row in rows
    ]
    origin = [row for row in rows for _copy in range(copies[row])]
    number = [copy for row in rows for copy in range(copies[row])]
    return [
        *([epoch[name]] * len(origin) for name in (c.CLUSTER, c.GROUP, c.EPOCH)),
        [queues[row].topic for row in origin],
        [queues[row].broker_name for row in origin],
        [queues[row].queue_id for row in origin],
        *(
            [_copy_of(p[row], copy) for row, copy in zip(origin, number, strict=True)]
            for p in places
        ),
        *(
            [None if copy else m[row] for row, copy in zip(origin, number, strict=True)]
            for m in moved
        ),
    ]


def _copy_of(place: Any, copy: int) -> Any:
    if isinstance(place, tuple):
        return place[copy] if copy < len(place) else None
    return None if copy else place
