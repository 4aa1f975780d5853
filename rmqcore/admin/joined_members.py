"""The members of groups as last joined, for as long as brokers list the same.

Joining costs more than anything else about a group that does not change. While all
brokers answer everything, and none has just been restarted, members follow from the
connection lists alone; equal lists are the same objects (see `answered`).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from .members import Membership, join_members, listed_by
from .memory import Listed, heard
from .sweep import BrokerAnswers


def is_steady(answers: Sequence[BrokerAnswers], now_ms: int) -> bool:
    """Return whether brokers alone tell now who the members are."""
    return all(
        answer.error is None
        and not answer.faults
        and answer.missing_since_ms is None
        and not answer.memory.settling(now_ms)
        for answer in answers
    )


class JoinedMembers:
    """Memberships by group, and the lists that each was made of."""

    def __init__(self) -> None:
        self._brokers: tuple[str, ...] = ()
        self._known: dict[str, tuple[list[Listed], Membership]] = {}

    def join(
        self, group: str, answers: Sequence[BrokerAnswers], now_ms: int
    ) -> Membership:
        """Return a group's members; the last object if brokers list the same.

        The brokers have to be steady, and no member to have been asked.
        """
        listed = [listed_by(group, answer) for answer in answers]
        known = self._known.get(group)
        if known is not None and all(map(_is, known[0], listed)):
            return known[1]
        membership = join_members(group, answers, {}, now_ms)
        if all(map(heard, listed)):
            self._known[group] = listed, membership
        return membership

    def begin(self, answers: Sequence[BrokerAnswers]) -> None:
        """Begin a snapshot; what other brokers listed no longer counts."""
        brokers = tuple(answer.name for answer in answers)
        if brokers != self._brokers:
            self._brokers = brokers
            self._known.clear()

    def keep(self, groups: Collection[str]) -> None:
        """Forget all groups but those named."""
        for name in self._known.keys() - groups:
            del self._known[name]


def _is(one: object, other: object) -> bool:
    return one is other
