"""Fields of many rows, stored by column, so that a list need not parse each row.

A row of an overview has 0.7 kB, of which filters and orders look at little. A function
that says which fields of a row it reads is called with a row that has these fields and
no others. If one coded column has all of them, it is called once for each value of that
column.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from operator import itemgetter
from typing import Any, Final, TypeAlias, TypedDict, TypeVar, cast

Result = TypeVar("Result")

TOGETHER: Final = "together"
"""The name of the column that holds several fields."""
_BYTE_VALUES: Final = 256


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
    Fields of few values that are often asked for, each with some others, are named
    `together`: the coded column `TOGETHER` has their values in that order.
    """

    def __init__(
        self,
        columns: Mapping[str, Column],
        optional: frozenset[str] = frozenset(),
        together: Sequence[str] = (),
    ) -> None:
        self._columns = columns
        self._optional = optional
        self._together = together if TOGETHER in columns else ()
        self._bytes: dict[str, bytes] = {}

    def have(self, reads: Sequence[str]) -> bool:
        """Tell whether a function says what it reads, and all of that is stored."""
        known = self._columns.keys() | set(self._together)
        return bool(reads) and known >= set(reads)

    def each(
        self, function: Callable[[Any], Result], reads: Sequence[str]
    ) -> list[Result]:
        """Return what a function makes of each row, in their order.

        An `itemgetter` of the only field that it reads gives the column.
        """
        name = self._column_with(reads)
        if name is not None:
            made = list(self.different(function, reads))
            return [made[code] for code in self._codes(name)]
        if len(reads) == 1 and isinstance(function, itemgetter):
            return list(self._values(reads[0]))
        return list(map(function, self._rows(reads)))

    def different(
        self, function: Callable[[Any], Result], reads: Sequence[str]
    ) -> Iterable[Result]:
        """Yield what `each` returns, but once for each value of a coded column."""
        name = self._column_with(reads)
        rows = self._rows(reads) if name is None else self._different(name, reads)
        return map(function, rows)

    def texts(self, reads: Sequence[str], between: str) -> list[str]:
        """Return the texts of fields of each row, and of lists in them, joined."""
        columns = [self._texts(name, between) for name in reads]
        return [between.join(each) for each in zip(*columns, strict=True)]

    def flags(self, test: Callable[[Any], bool], reads: Sequence[str]) -> bytes:
        """Return a byte for each row: 1 if it passes a test."""
        passes = bytes(map(bool, self.different(test, reads)))
        name = self._column_with(reads)
        if name is None:
            return passes
        if len(passes) > _BYTE_VALUES:
            return bytes([passes[code] for code in self._codes(name)])
        codes = self._bytes.get(name)
        if codes is None:
            codes = self._bytes[name] = bytes(self._codes(name))
        return codes.translate(passes.ljust(_BYTE_VALUES, b"\0"))

    def sorted_by(self, rank: Callable[[Any], Any], reads: Sequence[str]) -> list[int]:
        """Return the places of all rows by their rank, equal ones as they stand."""
        ranks = self.each(rank, reads)
        return sorted(range(len(ranks)), key=ranks.__getitem__)

    def _column_with(self, reads: Sequence[str]) -> str | None:
        """Return the name of a coded column that has all of these fields, if any."""
        if set(self._together).issuperset(reads):
            return TOGETHER
        alone = len(reads) == 1 and isinstance(self._columns[reads[0]], dict)
        return reads[0] if alone else None

    def _codes(self, name: str) -> list[int]:
        return cast("Coded", self._columns[name])["codes"]

    def _different(self, name: str, reads: Sequence[str]) -> Iterator[dict[str, Any]]:
        """Return a row with some of its fields for each value of a coded column."""
        values = cast("Coded", self._columns[name])["values"]
        if name != TOGETHER:
            return self._made_of(name, values)
        places = [self._together.index(each) for each in reads]
        return self._made(reads, ([value[at] for at in places] for value in values))

    def _rows(self, reads: Sequence[str]) -> Iterator[dict[str, Any]]:
        if len(reads) == 1:
            return self._made_of(reads[0], self._values(reads[0]))
        return self._made(reads, zip(*map(self._values, reads), strict=True))

    def _made_of(self, field: str, values: Sequence[Any]) -> Iterator[dict[str, Any]]:
        lacks = field in self._optional
        return ({} if lacks and value is None else {field: value} for value in values)

    def _made(
        self, reads: Sequence[str], rows: Iterator[Sequence[Any]]
    ) -> Iterator[dict[str, Any]]:
        return (
            {
                name: value
                for name, value in zip(reads, row, strict=True)
                if value is not None or name not in self._optional
            }
            for row in rows
        )

    def _values(self, field: str) -> Sequence[Any]:
        """Return the values of a field, a row each."""
        if field in self._together:
            return self.each(lambda row: row.get(field), (field,))
        column = self._columns[field]
        if not isinstance(column, dict):
            return column
        values = column["values"]
        return [values[code] for code in column["codes"]]

    def _texts(self, field: str, between: str) -> list[str]:
        column = self._columns[field]
        if not isinstance(column, dict):
            return column
        texts = [
            each if isinstance(each, str) else between.join(each or ())
            for each in column["values"]
        ]
        return [texts[code] for code in column["codes"]]


class WholeRows:
    """Rows that are there as a whole, asked like `Fields`.

    Functions may read any field of them, whatever they say.
    """

    def __init__(self, rows: Sequence[Any]) -> None:
        self._all = rows

    def each(
        self, function: Callable[[Any], Result], _reads: Sequence[str]
    ) -> list[Result]:
        """Return what a function makes of each row, in their order."""
        return [function(row) for row in self._all]

    different = each

    def flags(self, test: Callable[[Any], bool], _reads: Sequence[str]) -> bytes:
        """Return a byte for each row: 1 if it passes a test."""
        return bytes(bool(test(row)) for row in self._all)

    def sorted_by(self, rank: Callable[[Any], Any], _reads: Sequence[str]) -> list[int]:
        """Return the places of all rows by their rank, equal ones as they stand."""
        return sorted(range(len(self._all)), key=lambda at: rank(self._all[at]))
