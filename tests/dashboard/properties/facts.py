"""What must hold of the numbers in documents, whatever a cluster does: complaints.

Each function takes a story and yields a sentence for each thing that is not as it must
be. A number is the truth of the moment of its facts, or None with a reason, or stands
under `last` with its time; what is not all there says so.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import isfinite
from typing import Any, get_args

from dashboard.live.documents import GroupState, Queue
from rmqcore.model.snapshot import WITHDRAWN_MS
from tests.support.strange.story import Seen, Story
from tests.support.strange.truth import QueueKey, Shown, Truth

SHOWN: tuple[Shown, ...] = get_args(Shown)
NEEDED = (21, 43)
"""Requests without whose answers queues or commits are not known. Of members, the word
of any broker counts."""
OFFSETS: tuple[Shown, ...] = ("min", "max", "committed")


def moments(story: Story) -> Iterator[tuple[Seen, str, GroupState]]:
    """Yield each document as it stood after a step, with the step of its facts."""
    told = set()
    for seen in story.seen:
        for group, state in seen.documents.items():
            facts = story.at(state["taken_at"])
            stamp = state["run"], state["seq"], group
            if facts is not None and stamp not in told:
                told.add(stamp)
                yield facts, group, state


def numbers_are_true(story: Story) -> Iterator[str]:
    """Each offset and lag is what was so when it was asked, or unknown, with why."""
    for seen, group, state in moments(story):
        for queue in state["queues"]:
            yield from _queue(story, seen, group, queue)


def _queue(story: Story, seen: Seen, group: str, queue: Queue) -> Iterator[str]:
    key = key_of(queue)
    for name in OFFSETS:
        value = queue[name]
        if value is None:
            if name not in queue["unknown"]:
                yield f"{group} {key}: no reason why {name} is not known"
        elif value not in _true(seen, group, key, name):
            true = _true(seen, group, key, name)
            yield f"{group} {key}: {name} is {value}, the truth {true}"
    high, done, lag = queue["max"], queue["committed"], queue["lag"]
    if high is not None and done is not None and lag != max(0, high - done):
        yield f"{group} {key}: lag is {lag} of {high} - {done}"
    if (high is None or done is None) and lag is not None:
        yield f"{group} {key}: lag is {lag}, and max {high}, committed {done}"
    yield from _last(story, group, queue)


def _last(story: Story, group: str, queue: Queue) -> Iterator[str]:
    last: Any = queue.get("last")
    if last is None:
        return
    facts = story.at(last["at"])
    key = key_of(queue)
    if queue["max"] is not None and queue["committed"] is not None:
        yield f"{group} {key}: all is known, and there are last values"
    for name in OFFSETS:
        if facts is None:
            yield f"{group} {key}: last values of no look, {last['at']}"
        elif last[name] is not None and last[name] not in _true(
            facts, group, key, name
        ):
            yield f"{group} {key}: last {name} was never {last[name]}"


def _true(seen: Seen, group: str, key: QueueKey, name: Shown) -> set[int | None]:
    return {truth.value(group, key, name) for truth in truths_of(seen, key[1])}


def truths_of(seen: Seen, broker: str) -> tuple[Truth, ...]:
    """Return what a broker may say in a step; a slave says what was so before."""
    fault = seen.fault(broker)
    if fault is None or fault.ill not in ("slave", "headless"):
        return seen.truths
    # Who does not hear that the master has no address goes on asking it.
    return (seen.behind, *(seen.truths if fault.ill == "headless" else ()))


def unknown_is_never_a_number(story: Story) -> Iterator[str]:
    """No -1, no NaN, no negative number stands for what is not known."""
    for _seen, group, state in moments(story):
        for path, value in _leaves(state, group):
            wrong = isinstance(value, float) and not isfinite(value)
            if wrong or (isinstance(value, int | float) and value < 0):
                yield f"{path} is {value}"
    for seen in story.seen:
        for path, value in _leaves(seen.overview, "overview"):
            if isinstance(value, int | float) and value < 0:
                yield f"{path} is {value}"


def _leaves(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        for name, each in value.items():
            yield from _leaves(each, f"{path}.{name}")
    elif isinstance(value, list):
        for place, each in enumerate(value):
            yield from _leaves(each, f"{path}[{place}]")
    else:
        yield path, value


def rows_are_all_there(story: Story) -> Iterator[str]:
    """While all answer, a group has its queues: no more, no fewer."""
    for seen, group, state in moments(story):
        if not seen.whole or seen.torn or _listed_otherwise(seen):
            continue
        shown = [key_of(queue) for queue in state["queues"]]
        true = seen.after.rows(group)
        needed = seen.after.rows(group, held=False)
        if len(shown) != len(set(shown)):
            yield f"{group}: rows twice in {shown}"
        if set(shown) - true:
            yield f"{group}: rows of nothing: {sorted(set(shown) - true)}"
        if needed - set(shown):
            yield f"{group}: no rows of {sorted(needed - set(shown))}"


def _listed_otherwise(seen: Seen) -> bool:
    topics = (t for topics in seen.after.brokers.values() for t in topics.values())
    return any(topic.listed is not None for topic in topics)


def what_was_there_is_not_gone(story: Story) -> Iterator[str]:
    """Queues of a broker that is silent, or not named, stay and are unknown."""
    known: dict[str, set[QueueKey]] = {}
    for seen, group, state in moments(story):
        shown = {key_of(queue): queue for queue in state["queues"]}
        for key in known.get(group, set()) - shown.keys():
            if seen.unheard(key[1], *NEEDED) and all(
                key in truth.rows(group) for truth in seen.truths
            ):
                yield f"{group}: the row of {key} is gone with {key[1]}"
        known[group] = set(shown)


def what_is_not_all_says_so(story: Story) -> Iterator[str]:
    """A document to which a broker's queues are missing says that it is incomplete."""
    for seen, group, state in moments(story):
        silent = {
            key[1]
            for truth in seen.truths
            for key in truth.rows(group)
            if seen.unheard(key[1], *NEEDED) and seen.away_ms(key[1]) < WITHDRAWN_MS
        }
        if silent and state.get("complete") is not False:
            yield f"{group}: complete is {state.get('complete')} without {silent}"


def sums_are_true(story: Story) -> Iterator[str]:
    """A sum that does not say that it is partial is the sum of all there is."""
    for seen, group, state in moments(story):
        totals, queues = state["totals"], state["queues"]
        known = [queue["lag"] for queue in queues if queue["lag"] is not None]
        members = len(state["members"])
        if totals["queues"] != len(queues) or totals["members"] not in (
            (members,) if members or state["complete"] else (None, 0)
        ):
            yield f"{group}: counts {totals} of {len(queues)} queues, {members} members"
        if totals["lag"] != (sum(known) if known else None):
            yield f"{group}: lag is {totals['lag']}, its queues have {known}"
        if totals["lag"] is not None and not totals["lag_partial"]:
            true = {_sum(seen, group, at) for at in range(3)}
            if totals["lag"] not in true and not seen.torn:
                yield f"{group}: lag is {totals['lag']} and not partial, truth {true}"


def sums_of_members_are_true(story: Story) -> Iterator[str]:
    """A member's lag is that of all its queues, or says that it is a part."""
    for _seen, group, state in moments(story):
        for member in state["members"]:
            mine = [
                _waiting(queue)
                for queue in state["queues"]
                if member["client_id"] in queue["owners"]
            ]
            known = [lag for lag in mine if lag is not None]
            lag, partial = member["lag"], member.get("lag_partial")
            if mine and (lag, partial) != (
                sum(known) if known else None,
                len(known) < len(mine),
            ):
                yield (
                    f"{group}: {member['client_id']!r} has a lag of {lag} "
                    f"(a part: {partial}), its queues {mine}"
                )


def _waiting(queue: Queue) -> int | None:
    """A queue's lag; one that is empty and was never committed hides nothing."""
    lag, low, high = queue["lag"], queue["min"], queue["max"]
    empty = low is not None and high is not None and high <= low
    return 0 if lag is None and empty else lag


def _sum(seen: Seen, group: str, at: int) -> int:
    truth = (seen.before, seen.after, seen.behind)[at]
    # Of a broker that no name server ever named, nobody can know.
    rows = (key for key in truth.rows(group) if key[1] in seen.named.ever)
    lags = (truth.value(group, key, "lag") for key in rows)
    return sum(lag or 0 for lag in lags)


def key_of(queue: Queue) -> QueueKey:
    """Return a row's topic, broker and queue id."""
    return queue["topic"], queue["broker"], queue["queue_id"]
