"""Whether two contenders found the same: every row, and every number in it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import duckdb

from analytics import contracts as c

TOLERANCE: Final = 1e-6
"""Of a figure, or of 1 where it is less: sums in another order differ by a little."""

_GROUP: Final = (c.CLUSTER, c.GROUP, c.STRATEGY)
KEYS: Final[Mapping[str, tuple[str, ...]]] = {
    c.STRATEGIES: _GROUP,
    c.SKEW_BY_TIME: (*_GROUP, c.EPOCH, c.SINCE),
    c.LOAD_BY_MEMBER: (*_GROUP, c.EPOCH, c.CLIENT_ID),
    c.MEMBER_BY_TIME: (*_GROUP, c.EPOCH, c.CLIENT_ID, c.SINCE),
}

_TIME: Final = (c.SECONDS, c.UNKNOWN_SECONDS)
_EVENNESS_OF_LAG: Final = ("lag_max_to_mean", "lag_variation", "lag_gini")
TOLD: Final[Mapping[str, Mapping[str, Collection[str]]]] = {
    # Only the strategy in use is left out, which needs no sample.
    "duckdb": {
        c.STRATEGIES: (
            *_TIME,
            c.EPOCH_COUNT,
            c.IDLE_SHARE,
            *_EVENNESS_OF_LAG,
            "load_max_to_mean",
            "load_variation",
            "load_gini",
            c.OVERLOAD_SECONDS,
            c.DRAIN_PEAK,
            c.NEVER_SECONDS,
            c.UNOWNED_COUNT,
            c.MOVES,
            c.MOVES_PER_CHANGE,
            c.RANK,
        ),
        c.SKEW_BY_TIME: (
            *_TIME,
            c.MEMBER_COUNT,
            c.IDLE_COUNT,
            c.UNOWNED_COUNT,
            *_EVENNESS_OF_LAG,
            "load_max_to_mean",
            "load_variation",
            "load_gini",
            c.LOAD_PEAK,
            c.OVERLOAD,
            c.DRAIN_SECONDS,
            c.NEVER_DRAINS,
        ),
        c.LOAD_BY_MEMBER: (*_TIME, c.QUEUE_COUNT, c.LAG_MEAN, c.LAG_PEAK, c.LOAD),
        c.MEMBER_BY_TIME: (
            *_TIME,
            c.QUEUE_COUNT,
            c.KNOWN_QUEUES,
            c.LAG_MEAN,
            c.LOAD,
        ),
    },
    # Its rates are of one epoch alone, so that no load can be compared; and of members
    # over a period it leaves out those without queues.
    "pandas": {
        c.SKEW_BY_TIME: (
            *_TIME,
            c.MEMBER_COUNT,
            c.IDLE_COUNT,
            c.UNOWNED_COUNT,
            *_EVENNESS_OF_LAG,
        ),
        c.MEMBER_BY_TIME: (*_TIME, c.QUEUE_COUNT, c.LAG_MEAN),
    },
}
"""The columns that each contender has in common with our job, by data set."""


@dataclass(frozen=True, slots=True)
class Found:
    """How many rows two data sets have between them, and in how many they differ.

    `wrong` counts by column; rows that one of them lacks are `alone`.
    """

    rows: int
    wrong: Mapping[str, int]

    def __str__(self) -> str:
        if not self.wrong:
            return f"{self.rows:,} rows are the same"
        return f"{self.rows:,} rows, of which {dict(self.wrong)} differ"


def compare(
    ours: Path, theirs: Path, told: Mapping[str, Collection[str]]
) -> dict[str, Found]:
    """Compare two outputs in these columns of these data sets."""
    return {
        dataset: compared(ours / dataset, theirs / dataset, KEYS[dataset], columns)
        for dataset, columns in told.items()
    }


def compared(
    ours: Path, theirs: Path, key: Collection[str], columns: Collection[str]
) -> Found:
    """Compare two folders of Parquet files, whose times may be in milliseconds."""
    db = duckdb.connect()
    for name, folder in (("a", ours), ("b", theirs)):
        files = f"{folder}/*.parquet"
        kinds = {
            row[0]: row[1] for row in db.sql(f"DESCRIBE FROM '{files}'").fetchall()
        }
        named = ", ".join(
            f'epoch_ms("{each}") AS "{each}"'
            if kinds[each].startswith("TIMESTAMP")
            else f'"{each}"'
            for each in (*key, *columns)
        )
        db.execute(f"CREATE VIEW {name} AS SELECT {named}, true AS has FROM '{files}'")
    same_key = " AND ".join(
        f'a."{each}" IS NOT DISTINCT FROM b."{each}"' for each in key
    )
    is_alone = "a.has IS NULL OR b.has IS NULL"
    counts = ", ".join(
        f'count_if(NOT ({is_alone}) AND {_is_apart(each)}) AS "{each}"'
        for each in columns
    )
    found = db.sql(
        f"""SELECT count(*) AS rows, count_if({is_alone}) AS alone, {counts}
            FROM a FULL JOIN b ON {same_key}"""
    )
    by_name = dict(zip(found.columns, found.fetchall()[0], strict=True))
    rows = by_name.pop("rows")
    return Found(rows, {name: count for name, count in by_name.items() if count})


def _is_apart(column: str) -> str:
    first, second = (f'a."{column}"::DOUBLE', f'b."{column}"::DOUBLE')
    allowed = f"{TOLERANCE} * greatest(1, abs({first}))"
    is_near = f"coalesce(abs({first} - {second}) <= {allowed}, false)"
    return f"{first} IS DISTINCT FROM {second} AND NOT {is_near}"
