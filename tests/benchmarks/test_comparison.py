"""Whether two outputs are the same, from rows made by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

from benchmarks.backtest.comparison import Found, compared

ROWS: Sequence[Mapping[str, Any]] = (
    {"group": "a", "since": 60_000, "lag": 100.0, "rank": 1},
    {"group": "a", "since": 120_000, "lag": None, "rank": None},
    {"group": None, "since": 60_000, "lag": 0.0, "rank": 2},
)


def found(folder: Path, theirs: Sequence[Mapping[str, Any]]) -> Found:
    for name, rows in (("ours", ROWS), ("theirs", theirs)):
        (folder / name).mkdir()
        table = pa.Table.from_pylist([dict(row) for row in rows])
        parquet.write_table(table, folder / name / "part.parquet")
    columns = ("lag", "rank")
    return compared(folder / "ours", folder / "theirs", ("group", "since"), columns)


def changed(row: int, **values: Any) -> list[Mapping[str, Any]]:
    rows = list(ROWS)
    rows[row] = {**rows[row], **values}
    return rows


def test_rows_in_another_order_are_the_same(tmp_path: Path) -> None:
    assert found(tmp_path, ROWS[::-1]) == Found(3, {})


def test_figures_may_differ_by_their_rounding(tmp_path: Path) -> None:
    assert found(tmp_path, changed(0, lag=100.00001)).wrong == {}


@pytest.mark.parametrize(
    ("row", "values"),
    [(0, {"lag": 100.1}), (0, {"lag": None}), (1, {"lag": 0.0}), (2, {"lag": 0.1})],
)
def test_other_figures_are_counted(
    tmp_path: Path, row: int, values: dict[str, Any]
) -> None:
    assert found(tmp_path, changed(row, **values)) == Found(3, {"lag": 1})


def test_rows_that_one_lacks_are_counted(tmp_path: Path) -> None:
    assert found(tmp_path, ROWS[:2]) == Found(3, {"alone": 1})
    (tmp_path / "other").mkdir()
    assert found(tmp_path / "other", changed(0, since=0)) == Found(4, {"alone": 2})


def test_moments_and_their_milliseconds_are_the_same(tmp_path: Path) -> None:
    theirs = [
        {**row, "since": datetime.fromtimestamp(row["since"] / 1000, UTC)}
        for row in ROWS
    ]
    assert found(tmp_path, theirs) == Found(3, {})
