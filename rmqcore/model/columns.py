"""Columns: integers of many rows, each known or unknown for a named reason.

Theory. A cluster has tens of thousands of queues and a snapshot is taken each second.
An object per queue costs a hundred times as much as the numbers, so numbers are kept in
`array('q')`, one per column, and are compared as memory. Unknown is kept beside the
numbers as one byte per row, because no integer may stand for it: -1 and 0 are values
that RocketMQ really sends.

Invariants: `values` holds 0 where a row is unknown, so that its `sum` is the total of
the known rows; `reasons` is empty when every row is known, else as long as `values`;
nothing changes once a column is made, so columns are shared freely.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from functools import lru_cache
from typing import Final, TypeAlias

QueueKey: TypeAlias = tuple[str, str, int]
"""Topic, broker name, queue id: sorts as RocketMQ sorts queues."""

Values: TypeAlias = "array[int]"


class Reason(StrEnum):
    """Why a value is not known."""

    NOT_ASKED = "not_asked"
    """Nobody asked: that takes an option of the snapshot."""
    NOTHING_COMMITTED = "nothing_committed"
    """The group never committed an offset for the queue at the broker."""
    EXPIRED = "expired"
    """The committed offset is below the oldest one that the broker still holds."""
    NOT_LISTED = "not_listed"
    """The broker answered, and did not name this queue, group or value."""
    NO_ANSWER = "no_answer"
    """The broker or client that knows it did not answer in time."""
    BUSY = "busy"
    """The broker said that it was busy, and is left alone for a while."""
    DENIED = "denied"
    """The broker refused the credentials."""
    REFUSED = "refused"
    """The broker answered with another error."""
    UNREADABLE = "unreadable"
    """The answer breaks the protocol."""
    OFFLINE = "offline"
    """The group has no member online."""
    SHARED = "shared"
    """Members share queues (POP): there is no single owner."""
    UNKNOWN_STRATEGY = "unknown_strategy"
    """Members divide by a rule, or options of one, that cannot be simulated."""
    MIXED = "mixed"
    """Members report different values, so the group as a whole has none."""
    MISSING = "missing"
    """Its broker was there, is no longer named by the name servers, and is silent."""


_REASONS: Final[tuple[Reason | None, ...]] = (None, *Reason)
_CODES: Final[dict[Reason, int]] = {
    reason: code for code, reason in enumerate(_REASONS) if reason is not None
}


def reason_code(reason: Reason) -> int:
    """Return the byte that stands for a reason in `Column.reasons`."""
    return _CODES[reason]


class Column:
    """An immutable column; `column[row]` is an int or None, `reason(row)` says why."""

    __slots__ = ("reasons", "values")

    values: Values
    reasons: bytes

    def __init__(self, values: Values, reasons: bytes = b"") -> None:
        self.values = values
        self.reasons = reasons

    @classmethod
    def of(cls, rows: Iterable[int | Reason]) -> Column:
        """Make a column from numbers and, for unknown ones, reasons."""
        values = array("q")
        reasons = bytearray()
        for row in rows:
            if isinstance(row, Reason):
                values.append(0)
                reasons.append(_CODES[row])
            else:
                values.append(row)
                reasons.append(0)
        return cls(values, bytes(reasons) if any(reasons) else b"")

    @staticmethod
    def unknown(length: int, reason: Reason) -> Column:
        """Return a column of that many rows, all unknown for one reason."""
        return _unknown(length, reason)

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, row: int) -> int | None:
        if self.reasons and self.reasons[row]:
            return None
        return self.values[row]

    def __iter__(self) -> Iterator[int | None]:
        if not self.reasons:
            return iter(self.values)
        return (
            None if code else value
            for value, code in zip(self.values, self.reasons, strict=True)
        )

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, Column):
            return NotImplemented
        return self.reasons == other.reasons and self.values == other.values

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Column({[self.reason(row) or self[row] for row in range(len(self))]})"

    def reason(self, row: int) -> Reason | None:
        """Return why a row is unknown, or None when it is known."""
        return _REASONS[self.reasons[row]] if self.reasons else None

    @property
    def complete(self) -> bool:
        """Whether every row is known."""
        return not self.reasons

    @property
    def known_rows(self) -> int:
        """How many rows are known."""
        return self.reasons.count(0) if self.reasons else len(self.values)

    def total(self) -> int:
        """Return the sum of the known rows; `complete` says whether these are all."""
        return sum(self.values)

    def changed_rows(self, other: Column) -> list[int]:
        """Return the rows whose value or reason differs; both have the same length."""
        if self == other:
            return []
        length = len(self.values)
        blank = bytes(length)
        return [
            row
            for row, (a, b, c, d) in enumerate(
                zip(
                    self.values,
                    other.values,
                    self.reasons or blank,
                    other.reasons or blank,
                    strict=True,
                )
            )
            if a != b or c != d
        ]


@lru_cache(maxsize=4096)
def _unknown(length: int, reason: Reason) -> Column:
    return Column(array("q", bytes(8 * length)), bytes((_CODES[reason],)) * length)


def joined(columns: Sequence[Column]) -> Column:
    """Return the columns one after another as one; a single one is returned as is."""
    if len(columns) == 1:
        return columns[0]
    values = array("q")
    for column in columns:
        values += column.values
    if all(not column.reasons for column in columns):
        return Column(values)
    return Column(
        values, b"".join(column.reasons or bytes(len(column)) for column in columns)
    )
