"""What must hold of what is concluded: owners, epochs, events, samples: complaints.

To say that a queue has no owner, or that members changed, is a claim on which people
act. It needs looks that show it, all of them whole.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from rmqcore.model.snapshot import WITHDRAWN_MS
from tests.support.strange.story import Seen, Story
from tests.support.strange.truth import BROADCASTING, QueueKey, Truth

from .facts import NEEDED, key_of, moments, truths_of

APART_MS = 2_000
STANDS_MS = 15_000
"""How long the word of a member counts."""


def wrong_only_after_two_rounds(story: Story) -> Iterator[str]:
    """A queue is unowned or owned twice only where two rounds 2 s apart show it."""
    for _seen, group, state in moments(story):
        for queue in state["queues"] if state["kind"] == "owned" else ():
            owners = queue["owners"]
            if queue["owner_source"] != "reported" or len(owners) == 1:
                continue
            key = key_of(queue)
            rounds = [
                at
                for at, seen in _rounds(story, group)
                if at <= state["taken_at"] and _shows(seen, group, key, len(owners))
            ]
            if not rounds or rounds[-1] - rounds[0] < APART_MS:
                yield f"{group} {key}: owners {owners} after the rounds at {rounds}"


def _rounds(story: Story, group: str) -> Iterator[tuple[int, Seen]]:
    for seen in story.seen:
        for asked in seen.asked:
            if asked.groups is not None and group in asked.groups:
                yield asked.at_ms, seen


def _shows(seen: Seen, group: str, key: QueueKey, owners: int) -> bool:
    return any(
        holders == 0 if owners == 0 else holders > 1
        for truth in seen.truths
        for holders in _holders(truth, group, key)
    )


def _holders(truth: Truth, group: str, key: QueueKey) -> Iterator[int]:
    """Yield how many may say that they hold a queue.

    Of several processes with one id a broker asks any, and all are taken to hold that.
    """
    found = truth.groups.get(group)
    processes = () if found is None else found.processes
    yield sum(key in process.holds for process in processes)
    yield sum(
        any(key in p.holds for p in processes if p.client_id == process.client_id)
        for process in processes
    )
    alike = Counter(process.client_id for process in processes)
    if max(alike.values(), default=0) > 1:
        yield 0


def broadcasting_is_never_wrong(story: Story) -> Iterator[str]:
    """Every member of a broadcasting group owns all, and nothing is wrong with that."""
    for _seen, group, state in moments(story):
        if state["kind"] == "broadcasting" and state["totals"]["unowned"]:
            yield f"{group}: {state['totals']['unowned']} unowned, broadcasting"
    always = {
        group
        for group in {name for seen in story.seen for name in seen.after.groups}
        if all(
            truth.groups[group].mode == BROADCASTING
            and set(truth.groups[group].mode_at.values()) <= {BROADCASTING}
            for seen in story.seen
            for truth in seen.truths
            if group in truth.groups
        )
    }
    for event in story.events:
        if event.group in always and event.kind in ("double", "lost"):
            yield f"{event.group}: event {event.kind}, broadcasting"


def modes_are_not_mixed_up(story: Story) -> Iterator[str]:
    """A group's mode is what all brokers say that were heard, or it is not known."""
    for seen, group, state in moments(story):
        modes = {
            truth.groups[group].mode_at.get(broker, truth.groups[group].mode)
            for truth in seen.truths
            if group in truth.groups
            for broker in truth.brokers
            if seen.fault(broker) is None
            and broker in seen.named.now
            and any(
                process.brokers is None or broker in process.brokers
                for process in truth.groups[group].processes
            )
        }
        if len(modes) > 1 and not seen.torn and state["mode"] is not None:
            yield f"{group}: mode is {state['mode']}, brokers say {sorted(modes)}"


def owners_come_from_the_same_look(story: Story) -> Iterator[str]:
    """Rows, owners, members and counts of a document agree with each other."""
    for _seen, group, state in moments(story):
        ids = Counter(member["client_id"] for member in state["members"])
        owned = Counter(id_ for q in state["queues"] for id_ in set(q["owners"]))
        for queue in state["queues"]:
            strangers = set(queue["owners"]) - ids.keys()
            if strangers:
                yield f"{group} {key_of(queue)}: {strangers} own it and are no members"
            expected = queue.get("expected")
            if expected is not None and expected not in ids:
                yield f"{group} {key_of(queue)}: expected of {expected!r}, no member"
        for member in state["members"]:
            if member["queues"] != owned[member["client_id"]]:
                yield f"{group}: {member['client_id']!r} has {member['queues']} queues"
        if state["totals"]["owned"] != sum(bool(q["owners"]) for q in state["queues"]):
            yield f"{group}: {state['totals']['owned']} owned"


def epochs_turn_only_when_all_is_seen(story: Story) -> Iterator[str]:
    """No epoch begins or ends in a step in which a needed broker is not heard.

    Of one that is not named for long, clients have given the queues up.
    """
    for epoch in story.epochs:
        for word, at in (("begins", epoch.began_by), ("ends", epoch.ended_by)):
            seen = None if at is None else story.at(_ms(at))
            for broker in () if seen is None else sorted(_needed(seen, epoch.group)):
                away = seen is not None and seen.away_ms(broker) < WITHDRAWN_MS
                if seen is not None and away and seen.unheard(broker, *NEEDED):
                    yield f"{epoch.group}: epoch {epoch.number} {word} unheard {broker}"


def _needed(seen: Seen, group: str) -> set[str]:
    return {key[1] for truth in seen.truths for key in truth.rows(group)}


def _ms(time: datetime) -> int:
    return round(time.timestamp() * 1000)


def samples_are_true(story: Story) -> Iterator[str]:
    """A queue has one sample a moment, with offsets and owner of that moment."""
    seen_once = set()
    for row in story.samples:
        key = row["topic"], row["broker"], row["queue_id"]
        at = row["time"] if isinstance(row["time"], int) else _ms(row["time"])
        if (row["group"], key, at) in seen_once:
            yield f"{row['group']} {key}: two samples at {at}"
        seen_once.add((row["group"], key, at))
        seen = story.at(at)
        if seen is None:
            yield f"{row['group']} {key}: a sample of no look, {at}"
            continue
        looks = _looks_of(story, seen)
        for name in ("min", "max", "committed"):
            true = {
                truth.value(row["group"], key, name)
                for look in looks
                for truth in truths_of(look, key[1])
            }
            if row[name] is not None and row[name] not in true:
                yield f"{row['group']} {key}: sampled {name} {row[name]}, truth {true}"
        if row["owner"] is not None and not _held(story, looks[-1], key, row):
            yield f"{row['group']} {key}: sampled owner {row['owner']!r}"


def _looks_of(story: Story, seen: Seen) -> list[Seen]:
    """Return the steps of which a sweep's samples may be: a later look has passed."""
    after = story.seen.index(seen) + 1
    passed = seen.step.look == "overtaken"
    return [seen, *story.seen[after : after + 1]] if passed else [seen]


def _held(story: Story, last: Seen, key: QueueKey, row: dict[str, Any]) -> bool:
    """Tell whether a queue's owner held it while a report of that still counted."""
    return any(
        process.client_id == row["owner"] and key in process.holds
        for seen in story.seen
        if last.began_ms - STANDS_MS < seen.ended_ms <= last.ended_ms
        for truth in seen.truths
        if row["group"] in truth.groups
        for process in truth.groups[row["group"]].processes
    )
