"""The collector's interface to the lake: rows in, acknowledged landing files out.

Rows wait in memory until their minute is over, then become one immutable Parquet
file per cluster. What `flush` reports as written has been synced and is never lost;
what it does not report stays in memory and is tried again under the same name, so
that a retry after an unclear failure cannot write rows twice. A full disk therefore
costs memory, up to `max_pending_rows`; beyond that the oldest rows are given up,
counted and reported. Nothing here reads a clock. Not safe for several threads.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import parquet

from analytics import contracts as c
from analytics.schemas import schema_of, table_of

from .naming import MINUTE_MS, landing_path
from .storage import Storage, open_storage

MAX_PENDING_ROWS: Final = 4_000_000
"""About 18 minutes of 36,800 rows each 10 s; some 400 MB."""


@dataclass(frozen=True, slots=True)
class FlushReport:
    """What one flush did: files and rows made durable, rows still waiting or lost.

    `error` is the file system's own message when a file could not be written.
    """

    files: tuple[str, ...] = ()
    written_rows: int = 0
    pending_rows: int = 0
    dropped_rows: int = 0
    error: str | None = None


@dataclass(frozen=True, slots=True)
class _Sealed:
    """A closed minute of one cluster: its name and rows no longer change."""

    path: str
    table: Any


class LandingWriter:
    """Collect rows of one data set and write them in files of a minute.

    `run_id` distinguishes this writer's files from all others: use a new one per start.
    """

    def __init__(
        self,
        lake: str | Storage,
        dataset: str = c.SAMPLES,
        *,
        run_id: str,
        max_pending_rows: int = MAX_PENDING_ROWS,
    ) -> None:
        if not run_id.isalnum():
            raise ValueError(f"run id {run_id!r} must be letters and digits only")
        self._storage = open_storage(lake) if isinstance(lake, str) else lake
        self._dataset = dataset
        self._schema = schema_of(dataset)
        self._run_id = run_id
        self._max_pending_rows = max_pending_rows
        self._number = 0
        self._open: dict[tuple[str, int], list[Any]] = {}
        self._sealed: deque[_Sealed] = deque()
        self._pending_rows = 0

    @property
    def pending_rows(self) -> int:
        """Rows that are not durable yet."""
        return self._pending_rows

    def append(self, columns: Mapping[str, Any]) -> int:
        """Add rows given as columns of equal length; return how many.

        A string or number stands for every row, a nullable column may be left out.
        Raises `SchemaError`, and then adds nothing.
        """
        table = table_of(self._dataset, columns)
        if not table.num_rows:
            return 0
        for cluster, part in _by_cluster(table):
            minute = _first_ms(part) // MINUTE_MS * MINUTE_MS
            self._open.setdefault((cluster, minute), []).append(part)
        self._pending_rows += table.num_rows
        return int(table.num_rows)

    def flush(self, now_ms: int, *, force: bool = False) -> FlushReport:
        """Write the minutes that are over at `now_ms`; with `force` also the open one.

        Never raises for file system errors: rows are kept, and the report says why.
        """
        self._seal(now_ms, force=force)
        dropped = self._drop_oldest()
        files: list[str] = []
        rows = 0
        error = None
        while self._sealed and error is None:
            sealed = self._sealed[0]
            try:
                self._storage.write_new(sealed.path, _parquet_bytes(sealed.table))
            except OSError as failure:
                error = f"{type(failure).__name__}: {failure}"
                break
            self._sealed.popleft()
            self._pending_rows -= sealed.table.num_rows
            files.append(sealed.path)
            rows += sealed.table.num_rows
        return FlushReport(tuple(files), rows, self._pending_rows, dropped, error)

    def close(self, now_ms: int) -> FlushReport:
        """Write everything that is left."""
        return self.flush(now_ms, force=True)

    def _seal(self, now_ms: int, *, force: bool) -> None:
        this_minute = now_ms // MINUTE_MS * MINUTE_MS
        for key in sorted(self._open, key=lambda key: key[1]):
            cluster, minute = key
            if minute >= this_minute and not force:
                continue
            path = landing_path(
                self._dataset, cluster, minute, self._run_id, self._number
            )
            self._number += 1
            self._sealed.append(_Sealed(path, pa.concat_tables(self._open.pop(key))))

    def _drop_oldest(self) -> int:
        dropped = 0
        while self._pending_rows > self._max_pending_rows and self._sealed:
            rows = self._sealed.popleft().table.num_rows
            self._pending_rows -= rows
            dropped += rows
        return dropped


def _by_cluster(table: Any) -> list[tuple[str, Any]]:
    clusters = pc.unique(table[c.CLUSTER]).to_pylist()
    if len(clusters) == 1:
        return [(clusters[0], table)]
    return [
        (cluster, table.filter(pc.equal(table[c.CLUSTER], cluster)))
        for cluster in clusters
    ]


def _first_ms(table: Any) -> int:
    return int(pc.min(table[c.TIME]).cast(pa.int64()).as_py())


def _parquet_bytes(table: Any) -> bytes:
    sink = pa.BufferOutputStream()
    parquet.write_table(table, sink, compression="zstd")
    return sink.getvalue().to_pybytes()  # type: ignore[no-any-return]
