"""The groups of a lead in which nothing moves: a sweep of all looks at them as one.

Most groups at rest stand still for hours. What such a group shows is the same but for
the time, so it need not be looked at: a sweep that shows the same group is noted for
all of them at once (`Looks`), and each catches up with these looks when it wakes. It
wakes when a sweep shows anything else of it, when it is looked at by itself, and when
its document is wanted.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, ItemsView, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, Protocol

from rmqcore.model.snapshot import ClusterSnapshot, GroupSnapshot, TopicKind
from rmqcore.model.topic import DLQ_PREFIX

from .presence import Standing
from .samples import QUIET_MS, SLACK_MS, Sampler
from .trend import STEP_MS as TREND_STEP_MS

logger = logging.getLogger(__name__)

STEADY_MS: Final = 9_000
"""Looks at least so far apart count alike for whatever remembers them: none of them
gives way to the next."""

APART_MS: Final = 120_000
"""After a longer time without a look, a group at rest is judged anew."""

MOST_LOOKS: Final = 128
"""Looks that are kept: with 9 s between them, those of 19 min."""


class Looks:
    """The times of the looks at which none of the sleeping groups had moved."""

    def __init__(self) -> None:
        self.count = 0
        """How many there have been."""
        self._times: list[int] = []

    def add(self, at_ms: int) -> None:
        """Take one more look, of a later time."""
        self.count += 1
        self._times.append(at_ms)
        del self._times[:-MOST_LOOKS]

    def since(self, count: int) -> list[int]:
        """Return the times of the looks after the first so many, oldest first."""
        passed = self.count - count
        return self._times[-passed:] if passed else []


class Watch(Protocol):
    """The memory of a group, as far as its sleep is concerned."""

    sampler: Sampler

    def sleep(self, looks: Looks) -> None:
        """Have the looks that are noted from now on count for this group."""

    def wake(self) -> None:
        """Catch up with the looks that were noted."""


@dataclass(slots=True)
class Asleep:
    """A sleeping group: what it showed, and what follows from that for each sweep."""

    watch: Watch
    group: GroupSnapshot
    dead_letters: int | None
    left: Any = None
    """What is left of it to the next leader, once that was asked for."""
    quiet_ms: int | None = None
    """When the first of its queues was sampled last, once that was asked for."""


class Sleepers:
    """The sleeping groups of a lead, by name."""

    def __init__(self) -> None:
        self._asleep: dict[str, Asleep] = {}
        self._looks = Looks()
        self._brokers: set[frozenset[str]] = set()
        """Those that one or the other needs."""
        self.turned = False
        """Whether the last sweep began another point of the lines that lists draw."""
        self._at_ms = 0
        self._sampled_ms = 0

    def __contains__(self, name: str) -> bool:
        return name in self._asleep

    def __iter__(self) -> Iterator[str]:
        return iter(self._asleep)

    def items(self) -> ItemsView[str, Asleep]:
        """Return the sleeping groups with their names."""
        return self._asleep.items()

    def get(self, name: str) -> Asleep | None:
        """Return a sleeping group; None if it is awake."""
        return self._asleep.get(name)

    def add(self, name: str, asleep: Asleep, brokers: frozenset[str]) -> None:
        """Let a group sleep that stands still in the sweep that is being applied.

        `brokers` are those that it needs.
        """
        self._asleep[name] = asleep
        self._brokers.add(brokers)
        asleep.watch.sleep(self._looks)

    def look(
        self, snapshot: ClusterSnapshot, standing: Standing, wanted: Collection[str]
    ) -> None:
        """Take a sweep of all; those that show something new, or are wanted, wake.

        The others have been looked at then.
        """
        at_ms = snapshot.taken_at_ms
        apart_ms = at_ms - self._at_ms
        self.turned = at_ms // TREND_STEP_MS != self._at_ms // TREND_STEP_MS
        self._at_ms = at_ms
        if not (
            STEADY_MS <= apart_ms <= APART_MS
            and standing.calm
            and all(names <= standing.whole for names in self._brokers)
        ):
            self.wake(list(self._asleep))
            self._brokers.clear()
            return
        groups, letters = snapshot.groups, dead_letters(snapshot)
        nothing = no_dead_letters(snapshot)
        self.wake(
            [
                name
                for name, each in self._asleep.items()
                if groups.get(name) is not each.group
                or letters.get(name, nothing) != each.dead_letters
                or name in wanted
            ]
        )
        self._looks.add(at_ms)

    def wake(self, names: Collection[str]) -> None:
        """Wake those of the named that sleep."""
        for name in names:
            asleep = self._asleep.pop(name, None)
            if asleep is None:
                continue
            if asleep.quiet_ms is not None:
                asleep.watch.sampler.taken_ms = self._sampled_ms
            try:
                asleep.watch.wake()
            except Exception:
                # Its next look meets this again, and is shown as a fault of this group.
                logger.exception("group=%s did not catch up with its looks", name)

    def quiet(self, at_ms: int) -> set[str]:
        """Return those of which no samples are due at a sweep; samples are taken now.

        The samplers of all others have to be asked.
        """
        # As each sampler would: assume that the next sweep takes as long to come.
        next_ms = at_ms + at_ms - self._sampled_ms + SLACK_MS
        quiet = set[str]()
        for name, each in self._asleep.items():
            if each.quiet_ms is None:
                continue
            if next_ms < each.quiet_ms + QUIET_MS:
                quiet.add(name)
            else:
                each.watch.sampler.taken_ms = self._sampled_ms
                each.quiet_ms = None
        self._sampled_ms = at_ms
        return quiet


def dead_letters(snapshot: ClusterSnapshot) -> Mapping[str, int | None]:
    """Return how many messages ever came to the dead-letter topics, by group.

    None where that is not known.
    """
    return {
        name.removeprefix(DLQ_PREFIX): topic.max.total() if topic.max.complete else None
        for name, topic in snapshot.topics.items()
        if topic.kind is TopicKind.DEAD_LETTER
    }


def no_dead_letters(snapshot: ClusterSnapshot) -> int | None:
    """Return what holds of a group without a dead-letter topic.

    None when a broker could not be asked, which may have one.
    """
    return 0 if snapshot.complete else None
