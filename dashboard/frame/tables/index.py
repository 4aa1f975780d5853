"""What a table works out of its rows, apart from what a reader asked for.

Rows are told apart by their places. Everything is worked out when it is first needed
and remembered, so that an index that is kept for as long as the rows stay the same
answers further readers without looking at each row again. Such an index is only for
readers whose tables say the same of a row: the same language, time zone and owners.

Which rows a reader picks is a number, `Marks`, with a byte for each row, the first row
in the lowest: 1 if it is picked. Ten thousand rows are intersected and counted in some
microseconds; a set of as many places takes half a megabyte, made anew at each step.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from typing import Any, Final, Generic, TypeAlias, TypeVar

from dashboard.live.fields import Fields, WholeRows

from .table import Chip, Facet, Row, Table, natural

Value = TypeVar("Value")

Marks: TypeAlias = int
"""Some of the rows, as described above; `bit_count` counts them."""

MOST_DRAWN: Final = 2000
"""Rows whose markup is kept, 2 kB each."""

_BETWEEN: Final = "\0"


class Index(Generic[Row]):
    """The texts, chips, facets and orders of rows; see the module's docstring.

    Threads may share one: at worst, two of them work out the same.
    """

    def __init__(
        self, table: Table[Row], rows: Sequence[Row], fields: Fields | None = None
    ) -> None:
        """`fields` are those of the rows that are also stored by column."""
        self.rows = rows
        self.fields = fields
        self._whole = WholeRows(rows)
        self.everywhere = _marks([True] * len(rows))
        self.table = table
        self._known: dict[tuple[str, Hashable], Any] = {}
        self._drawn: dict[tuple[int, str], str] = {}

    def with_text(self, text: str) -> Marks:
        """Return the rows with a text in them, whatever its case."""
        wanted = text.casefold()
        if not wanted:
            return self.everywhere
        folded = self._kept("texts", "", self._folded)
        if _BETWEEN not in wanted:
            return _marks(wanted in words for words in folded)
        texts = self.table.texts
        return _marks(
            wanted in words and any(wanted in each.casefold() for each in texts(row))
            for words, row in zip(folded, self.rows, strict=True)
        )

    def of_chip(self, chip: Chip[Row]) -> Marks:
        """Return a chip's rows."""

        def find() -> Marks:
            return _marks(self._of(chip.reads).flags(chip.test, chip.reads))

        return self._kept("chip", (chip.key, chip.readers), find)

    def with_values(self, facet: Facet[Row], wanted: Collection[str]) -> Marks:
        """Return the rows that have one of these values of a facet, or several."""
        some = frozenset(wanted)

        def has(row: Row) -> bool:
            return not some.isdisjoint(facet.values(row))

        return _marks(self._of(facet.reads).flags(has, facet.reads))

    def with_part(self, facet: Facet[Row], part: str) -> Marks:
        """Return the rows that have a value of a facet with a text in it."""
        wanted = part.casefold()

        def has(row: Row) -> bool:
            return any(wanted in value.casefold() for value in facet.values(row))

        return _marks(self._of(facet.reads).flags(has, facet.reads))

    def values_of(self, facet: Facet[Row], most: int) -> frozenset[str] | None:
        """Return the values of a facet; None if there are more than `most`."""

        def find() -> frozenset[str] | None:
            found: set[str] = set()
            for values in self._of(facet.reads).different(facet.values, facet.reads):
                found.update(values)
                if len(found) > most:
                    return None
            return frozenset(found)

        return self._kept("values", (facet.key, most), find)

    def order(self, sort: str) -> Sequence[int]:
        """Return the places of all rows in the order that `sort` asks for."""
        return self._kept("order", sort, lambda: self._sorted(sort))

    def in_order(self, marks: Marks, sort: str) -> Sequence[int]:
        """Return the places of some rows in the order that `sort` asks for."""
        order = self.order(sort)
        if marks == self.everywhere:
            return order
        flags = marks.to_bytes(len(self.rows), "little")
        return [at for at in order if flags[at]]

    def drawn(self, at: int, columns: str, draw: Callable[[Row], str]) -> str:
        """Return the markup of a row with some columns, as `draw` makes it."""
        text = self._drawn.get((at, columns))
        if text is None:
            if len(self._drawn) >= MOST_DRAWN:
                self._drawn.clear()
            text = self._drawn[at, columns] = draw(self.rows[at])
        return text

    def _folded(self) -> list[str]:
        reads = self.table.texts_reads
        if self.fields and self.fields.have(reads):
            texts = self.fields.texts(reads, _BETWEEN)
        else:
            texts = [_BETWEEN.join(each) for each in map(self.table.texts, self.rows)]
        return [each.casefold() for each in texts]

    def _sorted(self, sort: str) -> list[int]:
        column = self.table.column(sort.removeprefix("-")) if sort else None
        if column is None:
            reads = self.table.rank_reads
            return self._of(reads).sorted_by(self.table.rank, reads)
        values = self._of(column.reads).each(column.value, column.reads)
        places = self.order("")
        known = [at for at in places if values[at] is not None]
        unknown = [at for at in places if values[at] is None]
        if known and isinstance(values[known[0]], str):
            values = [None if each is None else natural(each) for each in values]
        known.sort(key=values.__getitem__, reverse=sort.startswith("-"))
        return known + unknown

    def _of(self, reads: Sequence[str]) -> Fields | WholeRows:
        """Return the columns if they have all that a function reads, else the rows."""
        return self.fields if self.fields and self.fields.have(reads) else self._whole

    def _kept(self, what: str, key: Hashable, find: Callable[[], Value]) -> Value:
        try:
            return self._known[what, key]  # type: ignore[no-any-return]
        except KeyError:
            return self._known.setdefault((what, key), find())  # type: ignore[no-any-return]


def _marks(flags: Iterable[bool | int]) -> Marks:
    return int.from_bytes(bytes(flags), "little")
