"""Read rows of one group, topic and span from files that hold many; no Spark.

Merged files are sorted by group, and every row group notes the least and the greatest
value of each column: those that cannot hold a wanted row are not read. Names are read
as dictionaries, so that most of the skipped rows cost no text.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import parquet

from analytics import contracts as c
from analytics.errors import LakeError
from analytics.schemas import schema_of

from .manifest import FileEntry
from .reader import moment
from .storage import Storage

_NAMES: Final = (c.GROUP, c.TOPIC, c.BROKER)


@dataclass(frozen=True, slots=True)
class Wanted:
    """Rows of [since, until); an empty group or topic means all of them."""

    since_ms: int
    until_ms: int
    group: str = ""
    topic: str = ""

    def mask(self, table: Any) -> Any:
        """Return which rows of a table are wanted."""
        time = table[c.TIME]
        mask = pc.and_(
            pc.greater_equal(time, moment(self.since_ms)),
            pc.less(time, moment(self.until_ms)),
        )
        for name, value in ((c.GROUP, self.group), (c.TOPIC, self.topic)):
            if value:
                mask = pc.and_(mask, pc.equal(table[name].cast(pa.string()), value))
        return mask


@dataclass(slots=True)
class Budget:
    """How many more rows may be read; `LakeError` names the limit when it is spent."""

    most: int
    spent: int = 0

    def spend(self, rows: int) -> None:
        self.spent += rows
        if self.spent > self.most:
            raise LakeError(
                f"{self.spent:,} rows or more lie in that span, at most {self.most:,}"
            )


def read_wanted(
    storage: Storage,
    dataset: str,
    files: Iterable[FileEntry],
    columns: Sequence[str],
    *,
    wanted: Wanted,
    budget: Budget,
) -> Any:
    """Return the wanted rows of files in some columns, which include the time.

    A file that retention deleted meanwhile is left out. Raises `LakeError` when more
    rows would have to be read than the budget has left.
    """
    kinds = schema_of(dataset)
    schema = pa.schema([pa.field(name, kinds.field(name).type) for name in columns])
    parts: list[Any] = []
    for file in files:
        try:
            with storage.open_input(file.path) as source:
                parts += _parts(source, columns, wanted, budget)
        except FileNotFoundError:  # retention was faster
            continue
    return pa.concat_tables(
        [part.cast(schema) for part in (schema.empty_table(), *parts)]
    )


def row_groups(
    metadata: Any, since_ms: int, until_ms: int, groups: Sequence[str]
) -> list[int]:
    """Return the row groups that can hold rows of a span, of any of these groups.

    `groups` are sorted; none means all groups.
    """
    places = {name: at for at, name in enumerate(metadata.schema.names)}
    time, group = places[c.TIME], places[c.GROUP]
    return [
        number
        for number in range(metadata.num_row_groups)
        if _overlaps(
            metadata.row_group(number), time, _time(since_ms), _time(until_ms - 1)
        )
        and _has_any(metadata.row_group(number).column(group).statistics, groups)
    ]


def extremes(statistics: Any) -> tuple[Any, Any] | None:
    """Return the least and greatest value that are noted of a column, None if none are.

    Not every writer of Parquet notes them, nor of every column.
    """
    if statistics is None or not statistics.has_min_max:
        return None
    return statistics.min, statistics.max


def _has_any(statistics: Any, groups: Sequence[str]) -> bool:
    noted = extremes(statistics)
    if not groups or noted is None:
        return True
    at = bisect_left(groups, noted[0])
    return at < len(groups) and bool(groups[at] <= noted[1])


def _parts(
    source: Any, columns: Sequence[str], wanted: Wanted, budget: Budget
) -> Iterator[Any]:
    names = [name for name in _NAMES if name in columns]
    file = parquet.ParquetFile(source, read_dictionary=names)
    groups = [wanted.group] if wanted.group else []
    kept = row_groups(file.metadata, wanted.since_ms, wanted.until_ms, groups)
    budget.spend(sum(file.metadata.row_group(each).num_rows for each in kept))
    if kept:
        table = file.read_row_groups(kept, columns=list(columns))
        yield table.filter(wanted.mask(table))


def _overlaps(row_group: Any, place: int, low: Any, high: Any) -> bool:
    noted = extremes(row_group.column(place).statistics)
    return noted is None or bool(noted[0] <= high and noted[1] >= low)


def _time(ms: int) -> datetime:
    return datetime.fromtimestamp(ms / 1000, UTC)
