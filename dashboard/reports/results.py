"""The output of a finished run, as Arrow tables.

pyarrow is loaded when a result is read, not when the web process starts. Small data
sets come in their own order; beyond `SORTED_ROWS` they come as they were written.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from dashboard.jobs.runner import output_of
from dashboard.models import JobRun

SORTED_ROWS: Final = 500_000
BATCH_ROWS: Final = 5_000


class NoResultError(LookupError):
    """The run has no such data set, or is not done; the message says which."""


def read_rows(
    run: JobRun, dataset: str, order: Sequence[str] = ()
) -> list[dict[str, Any]]:
    """Return a data set as dicts; for pages, which show little of it."""
    return [
        row
        for batch in iterate_batches(run, dataset, order)
        for row in batch.to_pylist()
    ]


def iterate_batches(
    run: JobRun, dataset: str, order: Sequence[str] = ()
) -> Iterator[Any]:
    """Yield a data set as Arrow batches of at most `BATCH_ROWS` rows.

    Raises `NoResultError` at once, not at the first batch.
    """
    rows = run.summary.get("rows", {}).get(dataset)
    if not run.is_ready or rows is None:
        raise NoResultError(f"run {run.pk} is {run.state} and has no {dataset}")
    if rows > SORTED_ROWS:
        return _unsorted(run, dataset)
    return _sorted(run, dataset, order)


def _sorted(run: JobRun, dataset: str, order: Sequence[str]) -> Iterator[Any]:
    import pyarrow as pa

    batches = list(_unsorted(run, dataset))
    if not batches:
        return
    table = pa.Table.from_batches(batches)
    if order:
        table = table.sort_by([(name, "ascending") for name in order])
    yield from table.to_batches(max_chunksize=BATCH_ROWS)


def _unsorted(run: JobRun, dataset: str) -> Iterator[Any]:
    from pyarrow import parquet

    from analytics.lake.storage import open_storage

    storage = open_storage(output_of(run))
    for file in storage.list_files(dataset):
        if file.path.endswith(".parquet"):
            with storage.open_input(file.path) as source:
                yield from parquet.ParquetFile(source).iter_batches(BATCH_ROWS)
