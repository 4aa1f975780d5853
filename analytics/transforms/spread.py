"""Spread the measured values by each candidate's divisions, piece by piece.

Samples reach this module as steps, with numbers for names. Each is joined once to the
division of its epoch, in which the candidates are columns. Whole groups then go to
`analytics.spread` through Arrow, many at a time, and each task writes its own results:
a file per piece and data set, whole or not at all. Where `steps` and `divided` are
partitioned by group, nothing is shuffled again.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
from pyarrow import parquet
from pyspark import TaskContext
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812  the usual name

from analytics import contracts as c
from analytics.division import Candidate
from analytics.lake.storage import Storage, open_storage
from analytics.spread import (
    EPOCH_COLUMNS,
    STEP_COLUMNS,
    TABLES,
    EpochNames,
    StepRows,
    spread_tables,
)

from .epochs import group_names

_ROWS_AT_ONCE: Final = 150_000
"""Rows of steps that are spread together, unless one group has more."""

_SETTINGS: Final = ("ROCKETSCOPE_S3_", "AWS_")
_PIECE: Final = "piece"

Batches = Iterator[pa.RecordBatch]


def write_spread(
    steps: DataFrame,
    divided: DataFrame,
    epochs: DataFrame,
    candidates: Sequence[Candidate],
    *,
    output: Storage,
    wanted: Collection[str],
) -> None:
    """Write the wanted data sets of `analytics.spread`, replacing older ones.

    `epochs` has the columns of `EPOCH_COLUMNS`; all of its rows go to every task.
    """
    for dataset in wanted:
        output.delete_tree(dataset)
    names = _as_bytes(epochs.toArrow())  # Spark broadcasts large values in a function
    key = [c.GROUP_NO, c.EPOCH, c.QUEUE_NO]
    columns = [each.column for each in candidates]
    joined = steps.join(divided.select(*key, *columns), on=key, how="inner")
    # Executors elsewhere have neither this environment nor Spark's settings for S3.
    settings = {
        name: value for name, value in os.environ.items() if name.startswith(_SETTINGS)
    }
    # The options are long, and nothing is divided any more.
    plain = [replace(each, options={}) for each in candidates]
    work = _piece_writer(output.url, settings, names, plain, frozenset(wanted))
    joined.select(*STEP_COLUMNS, *columns).mapInArrow(work, f"{_PIECE} int").collect()
    for dataset in wanted:
        if not output.list_files(dataset):
            _write_empty(output, dataset)


def epoch_names(epochs: DataFrame, numbered: DataFrame) -> DataFrame:
    """Return the names of epochs and their members, with the groups' numbers."""
    names = F.broadcast(group_names(numbered))
    joined = epochs.join(names, on=[c.CLUSTER, c.GROUP], how="inner")
    return joined.select(*EPOCH_COLUMNS)


def _piece_writer(
    url: str,
    settings: Mapping[str, str],
    names: bytes,
    candidates: Sequence[Candidate],
    wanted: frozenset[str],
) -> Callable[[Batches], Batches]:
    most_added = max(0, *(each.added for each in candidates))

    def write(batches: Batches) -> Batches:
        taken = list(batches)
        if not taken:
            return
        table = pa.Table.from_batches(taken)
        with pa.ipc.open_stream(names) as stream:
            known = EpochNames.of_groups(stream.read_all(), table[c.GROUP_NO].unique())
        piece = TaskContext.get().partitionId()  # type: ignore[union-attr]
        with _Files(open_storage(url, settings), piece) as files:
            for some in _by_groups(table):
                rows = StepRows(some, known, most_added)
                for dataset, found in spread_tables(rows, known, candidates, wanted):
                    files.write(dataset, found)
        yield pa.RecordBatch.from_pydict({_PIECE: pa.array([piece], pa.int32())})

    return write


class _Files:
    """A file per data set, put into the output when all of them are complete."""

    def __init__(self, output: Storage, piece: int) -> None:
        self._output = output
        self._piece = piece
        self._stack = ExitStack()
        self._writers: dict[str, Any] = {}

    def __enter__(self) -> _Files:
        self._folder = Path(self._stack.enter_context(tempfile.TemporaryDirectory()))
        return self

    def write(self, dataset: str, table: pa.Table) -> None:
        """Add rows to a data set's file."""
        if dataset not in self._writers:
            self._writers[dataset] = parquet.ParquetWriter(
                self._folder / dataset, table.schema, **_PARQUET
            )
        self._writers[dataset].write_table(table)

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        with self._stack:
            for writer in self._writers.values():
                writer.close()
            if error is None:
                for dataset in self._writers:
                    path = _path(dataset, self._piece)
                    # An earlier task that was lost may have come this far.
                    self._output.write_file(path, self._folder / dataset)


# Readers see plain strings, whatever their type was here.
_PARQUET: Final[dict[str, Any]] = {"compression": "zstd", "store_schema": False}


def _by_groups(table: pa.Table) -> Iterator[pa.Table]:
    """Yield the rows in runs of whole groups."""
    group_no = table[c.GROUP_NO].to_numpy()
    if np.any(group_no[1:] < group_no[:-1]):
        order = np.argsort(group_no, kind="stable")
        table, group_no = table.take(pa.array(order)), group_no[order]
    ends = np.append(np.flatnonzero(group_no[1:] != group_no[:-1]) + 1, len(group_no))
    begin = 0
    while begin < len(group_no):
        full = int(np.searchsorted(ends, begin + _ROWS_AT_ONCE))
        end = int(ends[min(full, len(ends) - 1)])
        yield table.slice(begin, end - begin)
        begin = end


def _write_empty(output: Storage, dataset: str) -> None:
    with _Files(output, 0) as files:
        files.write(dataset, TABLES[dataset].empty_table())


def _path(dataset: str, piece: int) -> str:
    return f"{dataset}/part-{piece:05d}.parquet"


def _as_bytes(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    return bytes(sink.getvalue())
