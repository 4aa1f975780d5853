"""Fields of many rows, stored by column, so that a list need not parse each row.

A row of an overview has 0.7 kB, of which filters and orders look at little. A function
that says which fields of a row it reads is called with a row that has these fields and
no others, and where they are coded, once for each combination of them.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from operator import itemgetter
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
    Fields of few values that are often asked for, each with some others, are named
    `together`: then the rows are looked through once for all of these questions.
    """

    def __init__(
        self,
        columns: Mapping[str, Column],
        optional: frozenset[str] = frozenset(),
        together: Sequence[str] = (),
    ) -> None:
        self._columns = columns
        self._optional = optional
        self._together = tuple(
            name for name in together if isinstance(columns.get(name), dict)
        )
        self._places: dict[tuple[str, ...], dict[tuple[int, ...], list[int]]] = {}

    def have(self, reads: Sequence[str]) -> bool:
        """Tell whether a function says what it reads, and all of that is stored."""
        return bool(reads) and self._columns.keys() >= set(reads)

    def each(
        self, function: Callable[[Any], Result], reads: Sequence[str]
    ) -> list[Result]:
        """Return what a function makes of each row, in their order.

        An `itemgetter` of the only field that it reads gives the column.
        """
        codes = self._codes(reads)
        if codes is None:
            if len(reads) == 1 and isinstance(function, itemgetter):
                return list(_values(self._columns[reads[0]]))
            return list(map(function, self._rows(reads)))
        keys = list(zip(*codes, strict=True))
        made = {key: function(self._row(reads, key)) for key in dict.fromkeys(keys)}
        return [made[key] for key in keys]

    def different(
        self, function: Callable[[Any], Result], reads: Sequence[str]
    ) -> list[Result]:
        """Return what `each` does, once for each combination of coded fields."""
        if self._codes(reads) is None:
            return self.each(function, reads)
        if len(reads) == 1:
            # As `_row` does; there may be thousands of topics.
            (name,) = reads
            values = cast("Coded", self._columns[name])["values"]
            lacks = name in self._optional
            return [
                function({} if lacks and value is None else {name: value})
                for value in values
            ]
        return [function(self._row(reads, key)) for key in self._combinations(reads)]

    def texts(self, reads: Sequence[str], between: str) -> list[str]:
        """Return the texts of fields of each row, and of lists in them, joined."""
        columns = [self._texts(self._columns[name], between) for name in reads]
        return [between.join(each) for each in zip(*columns, strict=True)]

    def where(self, test: Callable[[Any], bool], reads: Sequence[str]) -> list[int]:
        """Return the places of the rows that pass a test, in no order."""
        codes = self._codes(reads)
        if codes is None:
            return [at for at, row in enumerate(self._rows(reads)) if test(row)]
        if len(codes) == 1 and reads[0] not in self._together:
            # One of thousands of topics is asked for once.
            passes = self.different(test, reads)
            return [at for at, code in enumerate(codes[0]) if passes[code]]
        combinations = self._combinations(reads).items()
        passing = (at for key, at in combinations if test(self._row(reads, key)))
        return list(chain.from_iterable(passing))

    def sorted_by(self, rank: Callable[[Any], Any], reads: Sequence[str]) -> list[int]:
        """Return the places of all rows by their rank, equal ones as they stand."""
        if self._codes(reads) is None:
            ranks = self.each(rank, reads)
            return sorted(range(len(ranks)), key=ranks.__getitem__)
        by_rank: dict[Any, list[int]] = {}
        for key, places in self._combinations(reads).items():
            by_rank.setdefault(rank(self._row(reads, key)), []).extend(places)
        return [at for each in sorted(by_rank) for at in sorted(by_rank[each])]

    def _codes(self, reads: Sequence[str]) -> list[list[int]] | None:
        """Return the codes of fields; None if one of these is not coded."""
        columns = [self._columns[name] for name in reads]
        codes = [each["codes"] for each in columns if isinstance(each, dict)]
        return codes if len(codes) == len(columns) else None

    def _combinations(
        self, reads: Sequence[str]
    ) -> Mapping[tuple[int, ...], Sequence[int]]:
        """Return which rows have each combination of coded fields, in no order."""
        wanted = tuple(reads)
        found = self._places.get(wanted)
        if found is None:
            if wanted != self._together and set(wanted) <= set(self._together):
                found = self._merged(wanted)
            else:
                found = {}
                for at, key in enumerate(zip(*(self._codes(reads) or ()), strict=True)):
                    found.setdefault(key, []).append(at)
            self._places[wanted] = found
        return found

    def _merged(self, reads: tuple[str, ...]) -> dict[tuple[int, ...], list[int]]:
        """Return the combinations of some of the fields that are asked for together."""
        places = [self._together.index(name) for name in reads]
        found: dict[tuple[int, ...], list[int]] = {}
        for codes, rows in self._combinations(self._together).items():
            found.setdefault(tuple(codes[at] for at in places), []).extend(rows)
        return found

    def _rows(self, reads: Sequence[str]) -> Iterator[dict[str, Any]]:
        whole = [_values(self._columns[name]) for name in reads]
        if len(reads) == 1:
            (name,) = reads
            return ({name: value} for value in whole[0])
        return (
            dict(zip(reads, values, strict=True)) for values in zip(*whole, strict=True)
        )

    @staticmethod
    def _texts(column: Column, between: str) -> list[str]:
        if not isinstance(column, dict):
            return column
        values = column["values"]
        texts = [
            each if isinstance(each, str) else between.join(each or ())
            for each in values
        ]
        return [texts[code] for code in column["codes"]]

    def _row(self, reads: Sequence[str], codes: Sequence[int]) -> dict[str, Any]:
        row = {}
        for name, code in zip(reads, codes, strict=True):
            value = cast("Coded", self._columns[name])["values"][code]
            if value is not None or name not in self._optional:
                row[name] = value
        return row


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

    def where(self, test: Callable[[Any], bool], _reads: Sequence[str]) -> list[int]:
        """Return the places of the rows that pass a test."""
        return [at for at, row in enumerate(self._all) if test(row)]

    def sorted_by(self, rank: Callable[[Any], Any], _reads: Sequence[str]) -> list[int]:
        """Return the places of all rows by their rank, equal ones as they stand."""
        return sorted(range(len(self._all)), key=lambda at: rank(self._all[at]))


def _values(column: Column) -> Iterable[Any]:
    if not isinstance(column, dict):
        return column
    values = column["values"]
    return (values[code] for code in column["codes"])
