"""The rows of an overview as they are stored: whole, and beside them by column.

An overview of 10,000 groups is 7 MB of JSON, of which a list shows fifty rows. The
leader also stores, by column, the fields by which lists are filtered and sorted. They
have a key of their own, written in the same step, and say where in the document each
row begins. A reader parses the columns that it needs, and the rows that it shows.
Without columns that belong to it, an overview is parsed as a whole.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import accumulate, chain, pairwise
from operator import itemgetter
from typing import Any, Final, NamedTuple, TypedDict, cast, overload

import orjson

from .decoding import read_object
from .documents import Overview, OverviewRow
from .encoding import encode_to_keep
from .fields import TOGETHER, Coded, Column, Fields, WholeRows, coded

PLAIN: Final = (
    *("group", "members", "queues", "lag", "oldest_ms", "rate_in", "rate_out", "skew"),
)
"""Fields of a row that are stored as they are."""
CODED: Final = ("strategy", "topics", "brokers", "versions")
"""Fields of which many rows have the same value."""
OPTIONAL: Final = frozenset({"complete", "brokers", "versions"})
"""Fields that a row of an older version may not have."""
TOGETHER_FIELDS: Final = ("kind", "lag_partial", "complete", "status")
"""Fields by which every list is counted and put in order, stored as one column."""

STATUS: Final = ("level", "word")
STRATEGY: Final = ("name", "source")

_plain_cells: Final = itemgetter(*PLAIN)
_status_cells: Final = itemgetter(*STATUS)
_strategy_cells: Final = itemgetter(*STRATEGY)

STARTS: Final = "starts"
_GROUPS: Final = b',"groups":['
_END: Final = b"]}"


class OverviewColumns(TypedDict):
    """What stands before the columns of one overview, on a line of its own.

    `length` is the document's in bytes, `size` that of all columns. Each column is a
    text of JSON, since few of them are read: `columns` has where in what follows it
    begins and ends. The column `STARTS` has where rows begin: row `at` is from
    `starts[at]` to one byte before `starts[at + 1]`.
    """

    run: str
    seq: int
    length: int
    size: int
    columns: dict[str, tuple[int, int]]


class _Encoded(NamedTuple):
    """A row, its text, and what goes into each column, the plain ones first."""

    row: OverviewRow
    text: bytes
    cells: tuple[Any, ...]


class OverviewEncoder:
    """Encodes the overviews of one cluster, each with its columns.

    A row that is the same object as in the last overview is not encoded again. So no
    row may be changed after it was given.
    """

    def __init__(self) -> None:
        self._kept: dict[str, _Encoded] = {}

    def encode(self, document: Overview) -> tuple[bytes, bytes]:
        """Return an overview as it is stored, and its `OverviewColumns`."""
        rows = [self._encoded(row) for row in document["groups"]]
        self._kept = {each.row["group"]: each for each in rows}
        head = {name: value for name, value in document.items() if name != "groups"}
        begin = orjson.dumps(head)[:-1] + _GROUPS
        text = b"".join((begin, b",".join(each.text for each in rows), _END))
        sizes = (len(each.text) + 1 for each in rows)
        columns = _columns([each.cells for each in rows])
        columns[STARTS] = list(accumulate(sizes, initial=len(begin)))
        texts = list(map(orjson.dumps, columns.values()))
        ends = list(accumulate(map(len, texts), initial=0))
        before = OverviewColumns(
            run=document["run"],
            seq=document["seq"],
            length=len(text),
            size=ends[-1],
            columns=dict(zip(columns, pairwise(ends), strict=True)),
        )
        return text, b"".join((orjson.dumps(before), b"\n", *texts))

    def _encoded(self, row: OverviewRow) -> _Encoded:
        kept = self._kept.get(row["group"])
        if kept is not None and kept.row is row:
            return kept
        return _Encoded(row, encode_to_keep(row), _cells(row))


def _cells(row: OverviewRow) -> tuple[Any, ...]:
    brokers, versions = row.get("brokers"), row.get("versions")
    return (
        *_plain_cells(row),
        (
            row["kind"],
            row["lag_partial"],
            row.get("complete"),
            _status_cells(row["status"]),
        ),
        _strategy_cells(row["strategy"]),
        tuple(row["topics"]),
        None if brokers is None else tuple(brokers),
        None if versions is None else tuple(versions),
    )


def _columns(cells: Sequence[tuple[Any, ...]]) -> dict[str, Column]:
    names = (*PLAIN, TOGETHER, *CODED)
    values = zip(*cells, strict=True) if cells else ((),) * len(names)
    columns: dict[str, Column] = {
        name: list(column) if name in PLAIN else coded(column)
        for name, column in zip(names, values, strict=True)
    }
    together = cast("Coded", columns[TOGETHER])
    together["values"] = [
        (*others, dict(zip(STATUS, status, strict=True)))
        for *others, status in together["values"]
    ]
    strategies = cast("Coded", columns["strategy"])
    strategies["values"] = [
        dict(zip(STRATEGY, value, strict=True)) for value in strategies["values"]
    ]
    return columns


class _StoredColumns(Mapping[str, Column]):
    """Columns by their name, each parsed when it is first asked for."""

    def __init__(self, texts: memoryview, places: Mapping[str, Sequence[int]]) -> None:
        self._texts = texts
        self._places = places
        self._parsed: dict[str, Column] = {}

    def __getitem__(self, name: str) -> Column:
        column = self._parsed.get(name)
        if column is None:
            begin, end = self._places[name]
            column = self._parsed[name] = orjson.loads(self._texts[begin:end])
        return column

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)


class OverviewRows(Sequence[OverviewRow]):
    """The rows of an encoded overview, each parsed when it is first asked for."""

    def __init__(self, text: bytes, columns: Mapping[str, Column]) -> None:
        self.fields = Fields(columns, OPTIONAL, TOGETHER_FIELDS)
        self._text = text
        self._starts = cast("list[int]", columns[STARTS])
        self._rows: dict[int, OverviewRow] = {}
        self._all: list[OverviewRow] | None = None

    @property
    def begin(self) -> int:
        """Where in the document the first row begins, or would."""
        return self._starts[0]

    def __len__(self) -> int:
        return len(self._starts) - 1

    @overload
    def __getitem__(self, at: int) -> OverviewRow: ...

    @overload
    def __getitem__(self, at: slice) -> list[OverviewRow]: ...

    def __getitem__(self, at: int | slice) -> OverviewRow | list[OverviewRow]:
        if isinstance(at, slice):
            return [self[each] for each in range(*at.indices(len(self)))]
        if self._all is not None:
            return self._all[at]
        place = range(len(self))[at]
        row = self._rows.get(place)
        if row is None:
            begin, end = self._starts[place], self._starts[place + 1] - 1
            row = self._rows[place] = orjson.loads(memoryview(self._text)[begin:end])
        return row

    def __iter__(self) -> Iterator[OverviewRow]:
        if self._all is None:
            begin = self._starts[0] - 1
            self._all = orjson.loads(memoryview(self._text)[begin:-1])
        return iter(self._all)


def open_overview(text: bytes | None, columns: bytes | None) -> Overview | None:
    """Return a stored overview; its rows are `OverviewRows` if it has its columns.

    None if there is none, or if there are other bytes: the next sweep writes again.
    """
    before, texts = _taken_apart(columns)
    if text is None or before is None or before.get("length") != len(text):
        return cast("Overview | None", read_object(text))
    rows = OverviewRows(text, _StoredColumns(texts, before["columns"]))
    head = text[: rows.begin - len(_GROUPS)] + b"}"
    document = cast("Overview | None", read_object(head))
    if document is None or _stamp(document) != _stamp(before):
        return cast("Overview | None", read_object(text))
    document["groups"] = cast("list[OverviewRow]", rows)
    return document


def _taken_apart(columns: bytes | None) -> tuple[OverviewColumns | None, memoryview]:
    """Return what stands before the columns, and the columns.

    The first is None if there are other bytes, such as the columns of another version.
    """
    columns = columns or b""
    begin = columns.find(b"\n") + 1
    before = cast("OverviewColumns | None", read_object(columns[:begin]))
    texts = memoryview(columns)[begin:]
    whole = before is not None and before.get("size") == len(texts)
    return before if whole else None, texts


def fields_of(rows: Sequence[OverviewRow]) -> Fields | None:
    """Return the columns of an overview's rows, if they are stored."""
    return rows.fields if isinstance(rows, OverviewRows) else None


def count(
    rows: Sequence[OverviewRow],
    test: Callable[[OverviewRow], bool],
    reads: Sequence[str],
) -> int:
    """Count the rows that pass a test; it reads no fields but `reads`."""
    return _columns_of(rows).flags(test, reads).count(1)


def groups_of(rows: Sequence[OverviewRow]) -> list[str]:
    """Return the names of all groups, in the order of the rows."""
    return _columns_of(rows).each(lambda row: row["group"], ("group",))


def topics_of(rows: Sequence[OverviewRow]) -> list[str]:
    """Return the topics that groups consume, sorted."""
    lists = _columns_of(rows).different(lambda row: row["topics"], ("topics",))
    return sorted(set(chain.from_iterable(lists)))


def row_of(rows: Sequence[OverviewRow], group: str) -> OverviewRow | None:
    """Return the row of a group, None if it is not listed."""
    try:
        return rows[groups_of(rows).index(group)]
    except ValueError:
        return None


def _columns_of(rows: Sequence[OverviewRow]) -> Fields | WholeRows:
    return fields_of(rows) or WholeRows(rows)


def _stamp(document: Any) -> tuple[Any, Any]:
    return document.get("run"), document.get("seq")
