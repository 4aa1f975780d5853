"""Check the statements of a page's documents against the truth. Pure.

A document speaks of the moment `taken_at`. A number in it is right when it can have
been true within the tolerance around that moment. Values that a document marks as
partial, as held or as older than itself are judged only by what it says of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from benchmarks.seven_groups import BY_NAME, QUEUES_PER_BROKER, Group, QueueKey

from .truth import Bounds, Truth

Document = Mapping[str, Any]

OWNERS_MS: Final = 10_000
"""Members are asked one after another, and tell what they held a moment before."""

NEVER: Final = frozenset(
    {"gone", "different_topics", "mixed_strategies", "idle_members", "given_up_topics"}
)
"""Findings that are wrong about each of these groups at any time."""

ALONE: Final = frozenset(filter(None, (group.finding for group in BY_NAME.values())))
"""Findings that are right about one of the groups."""


@dataclass(frozen=True, slots=True)
class Fault:
    """Something false that was shown without a mark."""

    at_ms: int
    group: str
    what: str
    shown: object
    truth: object

    def __str__(self) -> str:
        where = self.group or "the list"
        return f"{where}: {self.what} is shown as {self.shown}, true is {self.truth}"


@dataclass(frozen=True, slots=True)
class Judge:
    """The truth and the tolerances by which documents are judged."""

    truth: Truth
    brokers: Sequence[str]
    tolerance_ms: int

    def group(self, document: Document) -> list[Fault]:
        """Return what is false in a group's document, and not marked."""
        group = BY_NAME.get(document["group"])
        return list(self._group(group, document)) if group else []

    def overview(self, document: Document) -> list[Fault]:
        """Return what is false in the list of groups, and not marked."""
        if document.get("error"):
            return []  # it says that all of it is old
        at_ms = int(document["taken_at"])
        return [
            *self._brokers(document["brokers"], "", at_ms),
            *(
                fault
                for row in document["groups"]
                if row["group"] in BY_NAME
                for fault in self._row(BY_NAME[row["group"]], row, at_ms)
            ),
        ]

    def _group(self, group: Group, document: Document) -> Iterator[Fault]:
        at_ms = int(document["taken_at"])
        yield from self._brokers(document["brokers"], group.name, at_ms)
        for queue in document["queues"]:
            yield from self._queue(group, queue, at_ms)
        totals = document["totals"]
        yield from self._lag(group, totals, at_ms)
        if is_marked(document):
            return
        listed = {_key(queue) for queue in document["queues"]}
        lost = sorted(set(self.truth.keys(group.topic)) - listed)
        if lost:
            yield Fault(at_ms, group.name, "queues", len(listed), f"{len(lost)} more")
        yield from self._members(group, totals["members"], at_ms)
        yield from self._findings(group, document["findings"], at_ms)
        if document["kind"] == "owned":
            for queue in document["queues"]:
                yield from self._owners(group, queue, at_ms)

    def _row(self, group: Group, row: Document, at_ms: int) -> Iterator[Fault]:
        yield from self._lag(group, row, at_ms)
        if row.get("complete") is False or row.get("as_of") is not None:
            return
        expected = len(self.brokers) * QUEUES_PER_BROKER
        if row["queues"] != expected:
            yield Fault(at_ms, group.name, "queues", row["queues"], expected)
        yield from self._members(group, row["members"], at_ms)
        yield from self._findings(group, row["findings"], at_ms)

    def _queue(self, group: Group, queue: Document, at_ms: int) -> Iterator[Fault]:
        key = _key(queue)
        if key not in self.truth.maxima:
            return
        yield from self._numbers(group, queue, key, at_ms)
        last = queue.get("last")
        if last is not None:
            yield from self._numbers(group, last, key, int(last["at"]))

    def _numbers(
        self, group: Group, shown: Document, key: QueueKey, at_ms: int
    ) -> Iterator[Fault]:
        span = at_ms - self.tolerance_ms, at_ms + self.tolerance_ms
        committed = self.truth.committed.get((group.name, key))
        true = {
            "max": self.truth.maxima[key].between(*span),
            "committed": committed.between(*span) if committed else None,
            "lag": self.truth.lag(group.name, key, *span),
        }
        for name, bounds in true.items():
            number = shown[name]
            if number is not None and bounds is not None and not bounds.hold(number):
                what = f"{name} of {key[1]}/{key[2]}"
                yield Fault(at_ms, group.name, what, number, bounds)

    def _lag(self, group: Group, totals: Document, at_ms: int) -> Iterator[Fault]:
        span = at_ms - self.tolerance_ms, at_ms + self.tolerance_ms
        bounds = self.truth.lag_of_all(group.name, group.topic, *span)
        shown = totals["lag"]
        if shown is None or bounds is None:
            return
        if totals["lag_partial"]:
            # It is said to be at least so much.
            bounds = Bounds(0, bounds.high)
        if not bounds.hold(shown):
            yield Fault(at_ms, group.name, "lag", shown, bounds)

    def _members(self, group: Group, shown: int | None, at_ms: int) -> Iterator[Fault]:
        span = at_ms - OWNERS_MS, at_ms + self.tolerance_ms
        bounds = self.truth.members(group.name, *span)
        if shown is not None and bounds is not None and not bounds.hold(shown):
            yield Fault(at_ms, group.name, "members", shown, bounds)

    def _findings(
        self, group: Group, findings: Sequence[Document], at_ms: int
    ) -> Iterator[Fault]:
        keys = {finding["key"] for finding in findings}
        own = {group.finding} if group.finding else set()
        wrong = keys & (NEVER | (ALONE - own))
        if wrong:
            yield Fault(at_ms, group.name, "findings", sorted(wrong), "none of them")
        if group.finding is not None and group.finding not in keys:
            # Both of its members have to be there.
            bounds = self.truth.members(
                group.name, at_ms - 3 * OWNERS_MS, at_ms + self.tolerance_ms
            )
            if bounds is not None and bounds.low == len(group.parts):
                yield Fault(at_ms, group.name, "findings", sorted(keys), group.finding)

    def _owners(self, group: Group, queue: Document, at_ms: int) -> Iterator[Fault]:
        key = _key(queue)
        if (
            queue["owner_source"] not in (None, "reported")
            or "owners" in (queue["unknown"])
        ):
            return
        span = at_ms - OWNERS_MS, at_ms + self.tolerance_ms
        true = self.truth.holders(group.name, key, *span)
        shown = set(queue["owners"]) or {""}
        if not shown <= true:
            what = f"owner of {key[1]}/{key[2]}"
            yield Fault(at_ms, group.name, what, sorted(shown), sorted(true))

    def _brokers(
        self, brokers: Sequence[Document], group: str, at_ms: int
    ) -> Iterator[Fault]:
        for broker in brokers:
            age = broker["age_ms"]
            if not broker["answered"] or age is None:
                continue
            if self.truth.was_silent(broker["name"], at_ms - age, self.tolerance_ms):
                yield Fault(
                    at_ms, group, f"{broker['name']} answered", f"{age} ms ago", "no"
                )
        shown = {broker["name"] for broker in brokers}
        if not set(self.brokers) <= shown:
            yield Fault(at_ms, group, "brokers", sorted(shown), list(self.brokers))


def is_marked(document: Document) -> bool:
    """Tell whether a group's document says that something of it is not of now."""
    return (
        document.get("complete") is False
        or document.get("held") is not None
        or document.get("fault") is not None
    )


def is_whole(document: Document) -> bool:
    """Tell whether a group's document says that every broker told what it knows.

    Its sums may be partial nevertheless: a queue that a group never committed for has
    no lag, however many brokers answer.
    """
    return not is_marked(document) and all(
        broker["answered"] for broker in document["brokers"]
    )


def says_silence(overview: Document, who: str) -> bool:
    """Tell whether the list of a cluster says that a process does not answer."""
    if overview.get("error"):
        return True
    for broker in overview["brokers"]:
        if broker["name"] == who and not broker["answered"]:
            return True
    servers = overview.get("nameservers") or ()
    return who == "nameserver" and not all(each["answered"] for each in servers)


def _key(queue: Document) -> QueueKey:
    return queue["topic"], queue["broker"], queue["queue_id"]
