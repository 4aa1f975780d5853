"""The tables of lag worked out row by row in plain Python; what jobs are held against.

Nothing here is shared with the jobs but the names of columns.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from itertools import pairwise
from typing import Any, Final

from analytics import contracts as c
from analytics.division import IN_USE, MEMBER_IDS, WEIGHTS, Candidate, Divider
from analytics.presence import Period

Row = dict[str, Any]
REACH_MS: Final = 60_000
LOOK_BACK_MS: Final = 180_000


class LagByHand:
    """What samples and epochs, as rows with times in ms, say about a period.

    The epochs are those of `told`.
    """

    def __init__(
        self, samples: Iterable[Row], epochs: Iterable[Row], period: Period
    ) -> None:
        self.period = period
        self.step_ms = period.step_ms
        until_ms = period.until_ms
        self.samples = [
            row
            for row in samples
            if period.since_ms - LOOK_BACK_MS <= row[c.TIME] < until_ms + REACH_MS
        ]
        self.epochs = list(epochs)

    def table(self, dataset: str) -> dict[tuple[Any, ...], Row]:
        """Return the rows of a data set by key and step."""
        rows = {
            c.LAG_BY_QUEUE: lambda: self.by_queue,
            c.LAG_BY_GROUP: lambda: self.by((c.CLUSTER, c.GROUP)),
            c.LAG_BY_TOPIC: lambda: self.by((c.CLUSTER, c.GROUP, c.TOPIC)),
            c.LAG_BY_CONSUMER: self.by_consumer,
        }[dataset]()
        keys = [name for name in (*c.QUEUE_KEY, c.CLIENT_ID) if name in rows[0]]
        return {(*(row[name] for name in keys), row[c.SINCE]): row for row in rows}

    def pieces(self) -> Iterator[tuple[Row, int, int, int | None]]:
        """Yield samples, a step that they claim time of, that time and the lag."""
        for row in self.samples:
            at = row[c.TIME]
            begin = at - min(REACH_MS, round(row[c.WEIGHT] * 1000))
            if begin >= self.period.until_ms:
                continue
            step = self.floor(at - 1)
            while True:
                end = min(at, step + self.step_ms, self.period.until_ms)
                yield row, step, max(0, end - max(begin, step)), lag_of(row)
                if step <= begin:
                    break
                step -= self.step_ms

    def floor(self, ms: int) -> int:
        return ms - ms % self.step_ms

    @cached_property
    def steps(self) -> list[Row]:
        """One row per queue, epoch and step of the period."""
        found: dict[Any, dict[int, Row]] = defaultdict(lambda: defaultdict(_nothing))
        for row, step, piece, lag in self.pieces():
            key = (*(row[name] for name in c.QUEUE_KEY), row[c.EPOCH])
            self._add(found[key][step], row, piece / 1000, lag, step)
        for epoch in self.epochs:
            for queue in epoch[c.QUEUES]:
                names = (epoch[c.CLUSTER], epoch[c.GROUP], *queue.values())
                for step, length in self._present(epoch):
                    found[(*names, epoch[c.EPOCH])][step]["length"] = length
        rows = []
        for (*queue, epoch_no), steps in found.items():
            is_told = any(each["length"] is not None for each in steps.values())
            for step, each in steps.items():
                whole = self._overlap(self.period.since_ms, self.period.until_ms, step)
                length = each["length"]
                if length is None:
                    length = 0.0 if is_told else whole
                rows.append(
                    each
                    | dict(zip(c.QUEUE_KEY, queue, strict=True))
                    | {c.EPOCH: epoch_no, c.SINCE: step, "whole": whole}
                    | {"length": length, c.SECONDS: min(each["claimed"], length)}
                    | {c.UNKNOWN_SECONDS: max(0.0, length - each["claimed"])}
                    | {c.LAG_MEAN: _over(each["lag_seconds"], each["claimed"])}
                )
        for of_queue in _grouped(rows, c.QUEUE_KEY).values():
            of_queue.sort(key=lambda row: (_number(row[c.EPOCH]), row[c.SINCE]))
            for place, row in enumerate(of_queue):
                row[c.IN_RATE] = self._rate(of_queue, place, c.MAX)
                row[c.OUT_RATE] = self._rate(of_queue, place, c.COMMITTED)
        return [row for row in rows if row["whole"] > 0]

    @cached_property
    def by_queue(self) -> list[Row]:
        found = []
        for key, rows in _grouped(self.steps, (*c.QUEUE_KEY, c.SINCE)).items():
            length = min(sum(row["length"] for row in rows), rows[0]["whole"])
            if length <= 0:
                continue
            seconds = min(sum(row["claimed"] for row in rows), length)
            over = _sum(row["over"] for row in rows)
            last = [row["last"] for row in rows if row["last"] is not None]
            found.append(
                dict(zip((*c.QUEUE_KEY, c.SINCE), key, strict=True))
                | {
                    c.SECONDS: seconds,
                    c.UNKNOWN_SECONDS: length - seconds,
                    c.LAG_MEAN: _mean(rows, c.LAG_MEAN, "claimed"),
                    c.LAG_PEAK: _most(row[c.LAG_PEAK] for row in rows),
                    c.LAG_LAST: max(last)[1] if last else None,
                    c.LAG_MS_PEAK: _most(row[c.LAG_MS_PEAK] for row in rows),
                    c.OVER_SECONDS: None if over is None else min(over, seconds),
                    c.IN_RATE: _mean(rows, c.IN_RATE, "length"),
                    c.OUT_RATE: _mean(rows, c.OUT_RATE, "length"),
                }
            )
        return found

    def by(self, names: tuple[str, ...]) -> list[Row]:
        """Return the sums of groups, or of topics."""
        peaks = self._peaks(names)
        steps = _grouped(self.steps, (*names, c.SINCE))
        found = []
        for key, rows in _grouped(self.by_queue, (*names, c.SINCE)).items():
            epochs = _grouped(steps[key], (c.EPOCH,)).values()
            lasts = sum(max(row["length"] for row in each) for each in epochs)
            length = min(lasts, steps[key][0]["whole"])
            known = sum(row[c.SECONDS] for row in rows)
            unknown = sum(row[c.UNKNOWN_SECONDS] for row in rows)
            seconds = length * known / (known + unknown)
            found.append(
                dict(zip((*names, c.SINCE), key, strict=True))
                | {
                    c.SECONDS: seconds,
                    c.UNKNOWN_SECONDS: length - seconds,
                    c.QUEUE_COUNT: len(rows),
                    c.KNOWN_QUEUES: sum(row[c.SECONDS] > 0 for row in rows),
                    c.LAG_PEAK: peaks.get(key),
                    **_sums(rows),
                }
            )
        return found

    def by_consumer(self) -> list[Row]:
        in_use, seen = self._in_use(), self._seen()
        owned = []
        for row in self.steps:
            key = (*(row[name] for name in c.QUEUE_KEY), row[c.EPOCH])
            if row["length"] <= 0:
                continue
            clients: set[str | None] = {*in_use.get(key, ())}
            for client in clients or {None}:
                owner = seen.get((*key, row[c.SINCE])) or client
                if owner:
                    owned.append(row | {c.CLIENT_ID: owner})
        names = (c.CLUSTER, c.GROUP, c.CLIENT_ID, c.SINCE)
        in_epochs = []
        for key, rows in _grouped(owned, (*names, c.EPOCH)).items():
            lengths = sum(row["length"] for row in rows)
            in_epochs.append(
                dict(zip((*names, c.EPOCH), key, strict=True))
                | _sums([row | {c.LAG_LAST: _second(row["last"])} for row in rows])
                | {
                    c.QUEUE_COUNT: len(rows),
                    "missing": sum(row[c.SECONDS] == 0 for row in rows),
                    "share": sum(row[c.SECONDS] for row in rows) / lengths,
                    "length": max(row["length"] for row in rows),
                    "whole": rows[0]["whole"],
                }
            )
        found = []
        for key, rows in _grouped(in_epochs, names).items():
            lasts = sum(row["length"] for row in rows)
            length = min(lasts, rows[0]["whole"])
            share = sum(row["length"] * row["share"] for row in rows) / lasts
            most = max(row[c.QUEUE_COUNT] for row in rows)
            missing = max(row["missing"] for row in rows)
            newest = max(rows, key=lambda row: int(row[c.EPOCH]))
            found.append(
                dict(zip(names, key, strict=True))
                | {
                    c.SECONDS: length * share,
                    c.UNKNOWN_SECONDS: length - length * share,
                    c.QUEUE_COUNT: most,
                    c.KNOWN_QUEUES: max(0, most - missing),
                    c.LAG_MEAN: _mean(rows, c.LAG_MEAN, "length"),
                    c.LAG_LAST: newest[c.LAG_LAST],
                    c.LAG_MS_PEAK: _most(row[c.LAG_MS_PEAK] for row in rows),
                    c.IN_RATE: _mean(rows, c.IN_RATE, "length"),
                    c.OUT_RATE: _mean(rows, c.OUT_RATE, "length"),
                }
            )
        return found

    def _add(
        self, found: Row, row: Row, piece: float, lag: int | None, step: int
    ) -> None:
        age = row.get(c.LAG_MS)
        found[c.LAG_MS_PEAK] = _most((found[c.LAG_MS_PEAK], age))
        if lag is not None:
            found["claimed"] += piece
            found["lag_seconds"] = (found["lag_seconds"] or 0.0) + lag * piece
            found[c.LAG_PEAK] = _most((found[c.LAG_PEAK], lag))
            found["last"] = max(found["last"] or (-1, 0), (row[c.TIME], lag))
            if age is not None:
                over = piece if age > c.OVER_MS else 0.0
                found["over"] = (found["over"] or 0.0) + over
        if step == self.floor(row[c.TIME] - 1):
            for offset in (c.MAX, c.COMMITTED):
                if row.get(offset) is not None:
                    found[offset].append((row[c.TIME], row[offset]))

    def _present(self, epoch: Row) -> Iterator[tuple[int, float]]:
        """Yield the steps in which an epoch named its queues, and for how long."""
        ahead = self.period.until_ms + REACH_MS
        begin = max(epoch[c.BEGAN], self.period.since_ms)
        end = ahead if epoch["over"] is None else min(epoch["over"], ahead)
        if begin < end:
            for step in range(self.floor(begin), end, self.step_ms):
                yield step, self._overlap(begin, min(end, self.period.until_ms), step)

    def _overlap(self, begin: int, end: int, step: int) -> float:
        return max(0, min(end, step + self.step_ms) - max(begin, step)) / 1000

    def _rate(self, rows: list[Row], place: int, offset: str) -> float | None:
        own = sorted(rows[place][offset])
        soon = max(2, LOOK_BACK_MS // self.step_ms)
        before = [each for row in rows[:place] for each in sorted(row[offset])[-1:]]
        after = [
            each
            for row in rows[place + 1 : place + 1 + soon]
            for each in sorted(row[offset])[:1]
        ]
        last = own[-1:] or after[:1]
        start = before[-1:]
        most = max(2 * self.step_ms, LOOK_BACK_MS)
        if not start or not last or last[0][0] - start[0][0] > most:
            start = own[:1]
        if not start or not last or last[0][0] <= start[0][0]:
            return None
        grown = last[0][1] - start[0][1]
        return grown * 1000 / (last[0][0] - start[0][0]) if grown >= 0 else None

    def _peaks(self, names: tuple[str, ...]) -> dict[tuple[Any, ...], int]:
        at_once: dict[Any, int] = defaultdict(int)
        for row, step, _piece, lag in self.pieces():
            if lag is not None and row[c.TIME] >= self.period.since_ms:
                at_once[(*(row[name] for name in names), step, row[c.TIME])] += lag
        found: dict[tuple[Any, ...], int] = {}
        for (*key, _at), lag in at_once.items():
            found[tuple(key)] = max(lag, found.get(tuple(key), 0))
        return found

    def _seen(self) -> dict[tuple[Any, ...], str]:
        found: dict[tuple[Any, ...], tuple[int, str]] = {}
        for row in self.samples:
            owner, at = row.get(c.OWNER), row[c.TIME]
            if owner and row[c.EPOCH] is not None and at >= self.period.since_ms:
                step = self.floor(at - 1)
                key = (*(row[name] for name in c.QUEUE_KEY), row[c.EPOCH], step)
                found[key] = max(found.get(key, (0, "")), (at, owner))
        return {key: owner for key, (_at, owner) in found.items()}

    def _in_use(self) -> dict[tuple[Any, ...], set[str]]:
        found: dict[tuple[Any, ...], set[str]] = defaultdict(set)
        for epoch in self.epochs:
            over = epoch["over"]
            if over is not None and over <= self.period.since_ms:
                continue
            if (epoch[c.MODE] or "CLUSTERING") != "CLUSTERING" or not epoch[c.MEMBERS]:
                continue
            members = [member[c.CLIENT_ID] for member in epoch[c.MEMBERS]]
            divided = Divider([Candidate(IN_USE, IN_USE)]).divide(
                {c.OPTIONS: None}
                | epoch
                | {c.STRATEGY: epoch[c.STRATEGY] or "AVG"}
                | {MEMBER_IDS: members, WEIGHTS: None}
            )
            for row in zip(*divided, strict=True):
                cluster, group, number, topic, broker, queue, place, _moved = row
                if place is not None and place >= 0:
                    key = (cluster, group, topic, broker, queue, number)
                    found[key].add(members[place])
        return found


def told(epochs: Iterable[Row]) -> list[Row]:
    """Return the newest row of each epoch, with its end as `over`."""
    newest: dict[Any, Row] = {}
    for row in epochs:
        key = (row[c.CLUSTER], row[c.GROUP], row[c.EPOCH])
        if key not in newest or newest[key][c.TIME] < row[c.TIME]:
            newest[key] = row | {"over": row.get(c.ENDED_BEFORE)}
    found = [newest[key] for key in sorted(newest)]
    for row, following in pairwise(found):
        if (row[c.CLUSTER], row[c.GROUP]) == (following[c.CLUSTER], following[c.GROUP]):
            ends = [row["over"], following[c.BEGAN]]
            row["over"] = min(each for each in ends if each is not None)
    return found


def lag_of(row: Row) -> int | None:
    top, done = row.get(c.MAX), row.get(c.COMMITTED)
    return None if top is None or done is None else max(0, top - done)


def _nothing() -> Row:
    names = ("lag_seconds", c.LAG_PEAK, "last", c.LAG_MS_PEAK, "over", "length")
    return dict.fromkeys(names) | {"claimed": 0.0, c.MAX: [], c.COMMITTED: []}


def _number(epoch: int | None) -> int:
    return -1 if epoch is None else epoch


def _second(pair: tuple[int, int] | None) -> int | None:
    return None if pair is None else pair[1]


def _grouped(
    rows: Iterable[Row], names: Iterable[str]
) -> dict[tuple[Any, ...], list[Row]]:
    found: dict[tuple[Any, ...], list[Row]] = defaultdict(list)
    for row in rows:
        found[tuple(row[name] for name in names)].append(row)
    return found


def _known(values: Iterable[Any]) -> list[Any]:
    return [value for value in values if value is not None]


def _some(make: Callable[[list[Any]], Any], values: Iterable[Any]) -> Any:
    known = _known(values)
    return make(known) if known else None


def _sum(values: Iterable[Any]) -> Any:
    return _some(sum, values)


def _most(values: Iterable[Any]) -> Any:
    return _some(max, values)


def _over(value: float | None, weight: float) -> float | None:
    return None if value is None or not weight else value / weight


def _mean(rows: list[Row], name: str, weight: str) -> float | None:
    known = [row for row in rows if row[name] is not None]
    return _over(
        sum(row[name] * row[weight] for row in known),
        sum(row[weight] for row in known),
    )


def _sums(rows: list[Row]) -> Row:
    summed = (c.LAG_MEAN, c.LAG_LAST, c.IN_RATE, c.OUT_RATE)
    found = {name: _sum(row[name] for row in rows) for name in summed}
    return found | {c.LAG_MS_PEAK: _most(row[c.LAG_MS_PEAK] for row in rows)}
