"""The output of a finished run, as Arrow tables, limited to the report's subject.

pyarrow is loaded when a result is read, not when the web process starts. Small data
sets come in their own order, those beyond `SORTED_ROWS` as they were written. Lag by
topic is summed here from lag by queue where the job wrote none.

Loads of members, and their evenness, are over all queues of a group. Older results also
have them for a part of the queues, without saying so. For one group these are removed
here, for the page and every file.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from analytics import contracts as c
from dashboard.reports.report import Report

from .output import output_of
from .values import Part

SORTED_ROWS: Final = 500_000
BATCH_ROWS: Final = 5_000
QUEUE_KEY: Final = (c.GROUP, c.TOPIC, c.BROKER, c.QUEUE_ID)
"""The columns that distinguish the queues of a cluster's groups."""

_KNOWN: Final = "is_known"
_SAYS_SO: Final[Mapping[str, str]] = {
    c.SKEW_BY_TIME: c.UNKNOWN_SECONDS,
    c.MEMBER_BY_TIME: c.KNOWN_QUEUES,
}
"""By data set: a column that older results, which do not mark parts, lack."""

_NEEDS: Final[Mapping[str, Mapping[str, Sequence[str]]]] = {
    c.SKEW_BY_TIME: {
        c.IN_RATE: (
            *("load_max_to_mean", "load_variation", "load_gini"),
            *(c.LOAD_PEAK, c.OVERLOAD, c.DRAIN_SECONDS, c.NEVER_DRAINS),
        ),
        c.LAG_MEAN: ("lag_max_to_mean", "lag_variation", "lag_gini"),
    },
    c.MEMBER_BY_TIME: {c.IN_RATE: (c.LOAD,), c.LAG_MEAN: (c.LAG_MEAN,)},
}
"""By data set: which value must be known for all queues, for which of its columns."""


class NoResultError(LookupError):
    """The run has no such data set, or has not finished; the message says which."""


def read_rows(
    report: Report,
    dataset: str,
    order: Sequence[str] = (),
    columns: Sequence[str] = (),
) -> list[dict[str, Any]]:
    """Return a data set as dicts, for pages, which show little of it."""
    return [
        row
        for batch in iterate_batches(report, dataset, order, columns)
        for row in batch.to_pylist()
    ]


def iterate_batches(
    report: Report,
    dataset: str,
    order: Sequence[str] = (),
    columns: Sequence[str] = (),
) -> Iterator[Any]:
    """Yield a data set as Arrow batches of at most `BATCH_ROWS` rows.

    With `columns`, only these are read, and those that order and narrow the rows.

    A report of one topic or one consumer gets that topic's or consumer's rows of the
    data sets that distinguish them. Raises `NoResultError` at once, not at the first
    batch.
    """
    written = report.run.summary.get("rows", {})
    if report.run.is_ready and dataset not in written and dataset == c.LAG_BY_TOPIC:
        return _summed_by_topic(report, order)
    rows = written.get(dataset)
    if not report.run.is_ready or rows is None:
        raise NoResultError(
            f"run {report.run.pk} is {report.run.state} and has no {dataset}"
        )
    needed = (c.TOPIC, c.CLIENT_ID, c.SINCE, *_SAYS_SO.values())
    wanted = {*columns, *order, *needed} if columns else None
    batches = _cut(report, _unsorted(report, dataset, wanted))
    if report.group and dataset in _NEEDS:
        batches = _of_whole_steps(report, dataset, batches)
    return batches if rows > SORTED_ROWS else _sorted(batches, order)


def read_table(report: Report, dataset: str, columns: Sequence[str]) -> Any:
    """Return those of the named columns that a data set has, as one table.

    Returns None where no row is left. Raises `NoResultError` when the run lacks the
    data set.
    """
    import pyarrow as pa

    batches = list(iterate_batches(report, dataset, columns=columns))
    return pa.Table.from_batches(batches) if batches else None


def values_of(report: Report, dataset: str, column: str) -> set[str | None]:
    """Return the distinct values of a column."""
    import pyarrow.compute as pc

    found: set[str | None] = set()
    for batch in iterate_batches(report, dataset, columns=(column,)):
        found.update(pc.unique(batch.column(column)).to_pylist())
    return found


def known_queues(report: Report, of: str) -> dict[datetime, Part]:
    """Return by step for how many of a group's queues a column is known.

    Empty where the run has no lag by queue, without which nothing can be said.
    """
    if c.LAG_BY_QUEUE not in report.run.summary.get("rows", {}):
        return {}
    import pyarrow as pa

    from .accounting import known_by_step

    columns = {*QUEUE_KEY, c.SINCE, c.SECONDS, c.UNKNOWN_SECONDS, of}
    batches = list(_unsorted(report, c.LAG_BY_QUEUE, columns))
    if not batches:
        return {}
    return known_by_step(pa.Table.from_batches(batches), QUEUE_KEY, report.axis, of)


def column_of(batch: Any, key: str) -> list[Any]:
    """Return a column's values; unknown throughout where an older run lacks it."""
    if key not in batch.schema.names:
        return [None] * int(batch.num_rows)
    return batch.column(key).to_pylist()  # type: ignore[no-any-return]


def only(batch: Any, key: str, value: str) -> Any:
    """Return a batch's rows that have a value in a column."""
    import pyarrow.compute as pc

    return batch.filter(pc.equal(batch.column(key), value))


def has_table(report: Report, dataset: str) -> bool:
    """Tell whether a finished run has that data set."""
    written = report.run.summary.get("rows", {})
    return dataset in written or (
        dataset == c.LAG_BY_TOPIC and c.LAG_BY_QUEUE in written
    )


def _cut(report: Report, batches: Iterator[Any]) -> Iterator[Any]:
    """Keep the rows of the report's topic and consumer, where rows have one."""
    import pyarrow.compute as pc

    wanted = {c.TOPIC: report.topic, c.CLIENT_ID: report.consumer}
    for batch in batches:
        kept = batch
        for key, value in wanted.items():
            if value and key in kept.schema.names:
                kept = kept.filter(pc.equal(kept.column(key), value))
        if kept.num_rows:
            yield kept


def _of_whole_steps(
    report: Report, dataset: str, batches: Iterator[Any]
) -> Iterator[Any]:
    """Remove figures from steps in which they may cover only a part of the queues."""
    import pyarrow as pa
    import pyarrow.compute as pc

    partial: dict[str, list[datetime]] = {}
    for batch in batches:
        if _SAYS_SO[dataset] in batch.schema.names:
            yield batch
            continue
        partial = partial or {
            of: [
                at for at, part in known_queues(report, of).items() if not part.is_whole
            ]
            for of in _NEEDS[dataset]
        }
        kept = batch
        for of, names in _NEEDS[dataset].items():
            since = batch.column(c.SINCE)
            steps = pa.array(partial[of], pa.timestamp("ms", tz="UTC"))
            is_part = pc.is_in(since, steps.cast(since.type))
            for name in set(names) & set(batch.schema.names):
                place = batch.schema.get_field_index(name)
                nothing = pa.scalar(None, batch.column(name).type)
                column = pc.if_else(is_part, nothing, batch.column(name))
                kept = kept.set_column(place, batch.schema.field(name), column)
        yield kept


def _sorted(batches: Iterator[Any], order: Sequence[str]) -> Iterator[Any]:
    import pyarrow as pa

    gathered = list(batches)
    if not gathered:
        return
    table = pa.Table.from_batches(gathered)
    names = [name for name in order if name in table.column_names]
    if names:  # an older run may lack one
        table = table.sort_by([(name, "ascending") for name in names])
    yield from table.to_batches(max_chunksize=BATCH_ROWS)


def _summed_by_topic(report: Report, order: Sequence[str]) -> Iterator[Any]:
    """Sum lag by queue over each topic, as the job sums it over each group.

    Peaks of several queues occur at different moments, so a topic has none here.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    gathered = list(iterate_batches(report, c.LAG_BY_QUEUE))
    if not gathered:
        return
    table = pa.Table.from_batches(gathered)
    is_known = pc.greater(pc.coalesce(table[c.SECONDS], 0.0), 0.0)
    table = table.append_column(_KNOWN, is_known.cast(pa.int64()))
    at_least_one = pc.ScalarAggregateOptions(skip_nulls=True, min_count=1)
    sums = [
        (name, "sum", at_least_one)
        for name in (c.LAG_MEAN, c.LAG_LAST, c.IN_RATE, c.OUT_RATE)
    ]
    grouped = table.group_by([c.CLUSTER, c.GROUP, c.TOPIC, c.SINCE]).aggregate(
        [
            *sums,
            (c.LAG_MS_PEAK, "max", at_least_one),
            (c.SECONDS, "max", at_least_one),
            (_KNOWN, "sum"),
            (c.QUEUE_ID, "count"),
        ]
    )
    names = {f"{name}_{how}": name for name, how, *_options in sums} | {
        f"{c.LAG_MS_PEAK}_max": c.LAG_MS_PEAK,
        f"{c.SECONDS}_max": c.SECONDS,
        f"{_KNOWN}_sum": c.KNOWN_QUEUES,
        f"{c.QUEUE_ID}_count": c.QUEUE_COUNT,
    }
    grouped = grouped.rename_columns([names.get(n, n) for n in grouped.column_names])
    yield from _sorted(iter(grouped.combine_chunks().to_batches()), order)


def _unsorted(
    report: Report, dataset: str, columns: set[str] | None = None
) -> Iterator[Any]:
    from pyarrow import parquet

    from analytics.lake.storage import open_storage

    storage = open_storage(output_of(report.run))
    for file in storage.list_files(dataset):
        if file.path.endswith(".parquet"):
            with storage.open_input(file.path) as source:
                whole = parquet.ParquetFile(source)
                names = [
                    name
                    for name in whole.schema_arrow.names
                    if columns is None or name in columns
                ]
                yield from whole.iter_batches(BATCH_ROWS, columns=names)
