"""Fields of many rows, stored by column, so that a list need not parse each row.

A row of an overview has 0.7 kB, of which filters and orders look at little. A function
that says which fields of a row it reads is called with a row that has these fields and
no others, and where they are coded, once for each combination of them.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias, TypedDict, TypeVar, cast

Result = TypeVar("Result")


class Coded(TypedDict):
    """A column of values that often repeat: each value, and its place for each row."""

    values: list[Any]
    codes: list[int]


Column: TypeAlias = list[Any] | Coded
"""The values of one field, a row each."""


def coded(column: Sequence[Hashable]) -> Coded:
    """Return a column with each value stored once."""
    codes: dict[Hashable, int] = {}
    places = [codes.setdefault(value, len(codes)) for value in column]
    return Coded(values=list(codes), codes=places)


class Fields:
    """Columns by the name of their field.

    None in one of `optional`, which are all coded, says that a row lacks the field.
    """

    def __init__(
        self, columns: Mapping[str, Column], optional: frozenset[str] = frozenset()
    ) -> None:
        self._columns = columns
        self._optional = optional

    def have(self, reads: Sequence[str]) -> bool:
        """Tell whether a function says what it reads, and all of that is stored."""
        return bool(reads) and self._columns.keys() >= set(reads)

    def each(
        self, function: Callable[[Any], Result], reads: Sequence[str]
    ) -> list[Result]:
        """Return what a function makes of each row, in their order."""
        columns = [self._columns[name] for name in reads]
        codes = [each["codes"] for each in columns if isinstance(each, dict)]
        if len(codes) < len(columns):
            return [function(row) for row in self._rows(reads, columns)]
        keys = list(zip(*codes, strict=True))
        made = {key: function(self._row(reads, key)) for key in dict.fromkeys(keys)}
        return [made[key] for key in keys]

    def different(
        self, function: Callable[[Any], Result], reads: Sequence[str]
    ) -> list[Result]:
        """Return what `each` does, once for each combination of coded fields."""
        columns = [self._columns[name] for name in reads]
        codes = [each["codes"] for each in columns if isinstance(each, dict)]
        if len(codes) < len(columns):
            return self.each(function, reads)
        keys = dict.fromkeys(zip(*codes, strict=True))
        return [function(self._row(reads, key)) for key in keys]

    def _rows(
        self, reads: Sequence[str], columns: Sequence[Column]
    ) -> Iterator[dict[str, Any]]:
        whole = [_values(each) for each in columns]
        if len(reads) == 1:
            (name,) = reads
            return ({name: value} for value in whole[0])
        return (
            dict(zip(reads, values, strict=True)) for values in zip(*whole, strict=True)
        )

    def _row(self, reads: Sequence[str], codes: Sequence[int]) -> dict[str, Any]:
        row = {}
        for name, code in zip(reads, codes, strict=True):
            value = cast("Coded", self._columns[name])["values"][code]
            if value is not None or name not in self._optional:
                row[name] = value
        return row


def _values(column: Column) -> Iterable[Any]:
    if not isinstance(column, dict):
        return column
    values = column["values"]
    return (values[code] for code in column["codes"])
