"""Judges the deliveries of several members: order per key, losses, repeats.

Only each message's *first* delivery counts; it may come again after a member has died.
Pure functions.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, order=True)
class Delivery:
    """A listener was given a message: when (ms), by which member, as its nth line."""

    at_ms: int
    member: str
    line: int


@dataclass(frozen=True, slots=True)
class Judgement:
    """What became of the messages sent.

    `broken` are pairs of numbers of one key of which the later one came first;
    `longest_wait_ms` is the longest time between the first deliveries of two
    neighbours of one key.
    """

    delivered: int
    repeated: int
    lost: list[int]
    broken: list[tuple[int, int]]
    longest_wait_ms: int


def judge(
    deliveries: Iterable[tuple[int, Delivery]],
    sent: Mapping[str, Collection[int]],
) -> Judgement:
    """Judge deliveries of numbered messages; `sent` are each key's, in order."""
    first: dict[int, Delivery] = {}
    count = 0
    for number, delivery in deliveries:
        count += 1
        known = first.get(number)
        if known is None or delivery < known:
            first[number] = delivery
    lost, broken, longest = [], [], 0
    for numbers in sent.values():
        before: tuple[int, Delivery] | None = None
        for number in numbers:
            if number not in first:
                lost.append(number)
                continue
            delivery = first[number]
            if before is not None:
                if not _follows(before[1], delivery):
                    broken.append((before[0], number))
                longest = max(longest, delivery.at_ms - before[1].at_ms)
            before = number, delivery
    return Judgement(len(first), count - len(first), sorted(lost), broken, longest)


def _follows(before: Delivery, after: Delivery) -> bool:
    if before.member == after.member:
        return before.line < after.line
    # Lines of two members can be ordered only by their times.
    return before.at_ms <= after.at_ms
