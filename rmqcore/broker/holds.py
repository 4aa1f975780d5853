"""Pulls that wait for a message: long polling.

A pull that finds nothing new waits at its queue until a message arrives that its tag
filter lets through, until its time is over, or until its channel is lost. The filter is
checked before waking, because a pull that is woken for a message it does not want would
come back at once, again and again. A slow scan also wakes pulls whose queue has grown
without a match, so that they move on.

Woken pulls leave the table; whoever takes them with `take_woken` answers each of them,
with messages or without. No IO and no clock: times are arguments in ms. An arrival
costs one look-up when no pull waits for its queue.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass
from typing import Generic

from rmqcore.protocol.command import RemotingCommand
from rmqcore.protocol.headers import PullMessageRequestHeader

from .consumers import ChannelT

_Queue = tuple[str, int]


@dataclass(frozen=True, slots=True)
class HeldPull(Generic[ChannelT]):
    """A pull that waits; `codes` are the tags codes it wants, None for all."""

    channel: ChannelT
    command: RemotingCommand
    header: PullMessageRequestHeader
    codes: Container[int] | None
    offset: int
    deadline_ms: int


class PullHolds(Generic[ChannelT]):
    """Held pulls by queue, and woken ones that wait to be answered."""

    def __init__(self, on_wake: Callable[[], None]) -> None:
        self._on_wake = on_wake
        self._held: dict[_Queue, list[HeldPull[ChannelT]]] = {}
        self._woken: list[HeldPull[ChannelT]] = []

    def __len__(self) -> int:
        return sum(len(pulls) for pulls in self._held.values())

    def hold(self, pull: HeldPull[ChannelT]) -> None:
        """Make a pull wait."""
        header = pull.header
        self._held.setdefault((header.topic, header.queue_id), []).append(pull)

    def arrived(
        self, topic: str, queue_id: int, offset: int, codes: Sequence[int]
    ) -> None:
        """Wake the pulls that wait for these messages, the first at `offset`."""
        pulls = self._held.get((topic, queue_id))
        if pulls is None:
            return
        end = offset + len(codes)

        def is_wanted(pull: HeldPull[ChannelT]) -> bool:
            wanted = pull.codes
            if pull.offset >= end or wanted is None:
                return pull.offset < end
            return any(code in wanted for code in codes[max(0, pull.offset - offset) :])

        self._wake((topic, queue_id), is_wanted)

    def scan(self, max_offset: Callable[[str, int], int], now_ms: int) -> None:
        """Wake the pulls whose time is over, or whose queue has grown."""
        for queue in list(self._held):
            end = max_offset(*queue)
            self._wake(
                queue,
                lambda pull, end=end: (  # type: ignore[misc]
                    now_ms >= pull.deadline_ms or end > pull.offset
                ),
            )

    def closed(self, channel: ChannelT) -> None:
        """Forget the pulls of a lost channel."""
        for queue, pulls in list(self._held.items()):
            self._keep(queue, [pull for pull in pulls if pull.channel != channel])

    def take_woken(self) -> list[HeldPull[ChannelT]]:
        """Return the pulls to be answered now."""
        woken, self._woken = self._woken, []
        return woken

    # Private, in order of first use

    def _wake(
        self, queue: _Queue, is_due: Callable[[HeldPull[ChannelT]], bool]
    ) -> None:
        pulls = self._held[queue]
        due = [pull for pull in pulls if is_due(pull)]
        if not due:
            return
        self._keep(queue, [pull for pull in pulls if not is_due(pull)])
        was_quiet = not self._woken
        self._woken += due
        if was_quiet:
            self._on_wake()

    def _keep(self, queue: _Queue, pulls: list[HeldPull[ChannelT]]) -> None:
        if pulls:
            self._held[queue] = pulls
        else:
            del self._held[queue]
