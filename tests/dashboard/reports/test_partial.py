"""A part of the queues is nowhere a value: not on the page, not in any file."""

from __future__ import annotations

import csv
import io
import re
import zipfile
from datetime import UTC, datetime, timedelta
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import duckdb
import openpyxl
import pyarrow as pa
import pypdf
import pytest
from pyarrow import parquet

from analytics import contracts as c
from analytics.lake.compaction import absorb
from analytics.lake.storage import open_storage
from analytics.lake.writer import LandingWriter
from dashboard.gateway.settings import ClusterSettings
from dashboard.models import JobRun, Role
from dashboard.reports.data.facts import facts_of, worst_groups
from dashboard.reports.data.stats import stats_of
from dashboard.reports.data.strategies import strategy_rows
from dashboard.reports.data.tables import (
    BY_GROUP,
    MEMBERS_OVER_TIME,
    SKEW,
    Table,
)
from dashboard.reports.data.twins import twin_of
from dashboard.reports.data.view import report_for
from dashboard.reports.figures.gallery import figure_of
from dashboard.reports.figures.window import Window, figure_within
from dashboard.reports.report import Report
from dashboard.reports.writers.csv_file import csv_pieces
from dashboard.reports.writers.html_file import html_text
from dashboard.reports.writers.parquet_file import write_parquet
from dashboard.reports.writers.pdf.document import write_pdf
from dashboard.reports.writers.xlsx_file import write_xlsx
from tests.dashboard.conftest import SignIn

from .drawn import Hatch, hatched, values
from .finished import SINCE, finished_run, moment, write_table

pytestmark = pytest.mark.django_db

SHANGHAI = ZoneInfo("Asia/Shanghai")
PART = {(2, 0), (9, 1)}
"""A step in the middle, and the last one; of it the known part is the highest lag."""

BOTH = {(8, 0), (8, 1)}


@pytest.fixture
def run(lake: Path, hangzhou: ClusterSettings) -> JobRun:
    return finished_run(lake, unknown=PART | BOTH)


def words(figure: dict[str, Any], step: int, axis: str = "y") -> list[str]:
    """Return what the hatches over a step say, the lower ones first."""
    at = moment(step).replace(tzinfo=None)
    found = [hole for hole in hatched(figure, axis) if hole.since <= at < hole.until]
    return [hole.text for hole in sorted(found, key=lambda hole: hole.low)]


def steps_drawn(trace: dict[str, Any]) -> list[int]:
    step = timedelta(minutes=1)
    times = (datetime.fromisoformat(at).replace(tzinfo=UTC) for at in values(trace))
    return [(at - SINCE) // step for at in times]


def test_lag_and_age_are_hatched_where_a_queue_is_not_known(run: JobRun) -> None:
    figure = figure_of(Report(run), "lag")
    lag, age = figure["data"][:2]
    assert steps_drawn(lag) == steps_drawn(age) == [1, 3, 7]
    assert list(values(lag).values()) == [101, 303, 707]
    assert words(figure, 2) == ["partly unknown: ≥ 101, from 1 of 2 queues"]
    assert words(figure, 2, "y2") == ["partly unknown: ≥ 20 s, from 1 of 2 queues"]
    assert words(figure, 9) == ["partly unknown: ≥ 454, from 1 of 2 queues"]
    for step in (0, 4, 8):
        assert words(figure, step) == ["not collected"]


def test_a_cell_of_the_map_is_hatched_by_itself(run: JobRun) -> None:
    figure = figure_of(Report(run), "queues")
    upper, lower = figure["data"][0]["z"]
    assert (upper[2], lower[2]) == (None, 2), "only queue 0 is not known in step 2"
    assert words(figure, 2, "y2") == ["not collected"]
    assert figure["data"][0]["y"][0] == "orders broker-a 0"
    holes = [hole for hole in hatched(figure, "y2") if hole.text == "not collected"]
    single = Hatch(
        *(moment(step).replace(tzinfo=None) for step in (2, 3)), 1, 2, "", ""
    )
    assert single[:4] in [hole[:4] for hole in holes]


@pytest.mark.parametrize("by", ["topic", "group"])
def test_a_line_of_sums_has_no_colour_for_a_part(run: JobRun, by: str) -> None:
    figure = figure_of(report_for(run, {"by": by}, UTC, "UTC"), "queues")
    (cells,) = figure["data"][0]["z"]
    assert [number for number, cell in enumerate(cells) if cell is not None] == [
        *(1, 3, 7)
    ]
    assert words(figure, 9, "y2") == ["partly unknown: ≥ 454, from 1 of 2 queues"]


def test_there_is_no_skew_and_no_load_over_a_part(run: JobRun) -> None:
    skew, members = (figure_of(Report(run), name) for name in ("skew", "members"))
    assert steps_drawn(skew["data"][0]) == steps_drawn(members["data"][0]) == [1, 3, 7]
    for figure, axis in ((skew, "y2"), (members, "y")):
        assert words(figure, 2, axis) == ["partly unknown: ≥ 10, from 1 of 2 queues"]
        assert words(figure, 5, axis) == ["not collected"]
        assert words(figure, 8, axis) == ["not collected"]
    assert facts_of(Report(run)).skew == 1.5


def test_results_of_before_say_nothing_of_parts_and_are_cut(
    run: JobRun, lake: Path, tmp_path: Path
) -> None:
    """They have a skew of what is known, 9.0 here, and no count beside a load."""
    folder = lake / "results" / run.folder
    for key, lacking in (
        (c.SKEW_BY_TIME, c.UNKNOWN_SECONDS),
        (c.MEMBER_BY_TIME, c.KNOWN_QUEUES),
    ):
        for file in (folder / key).glob("*.parquet"):
            table = parquet.read_table(file).drop_columns([lacking])
            rows = table.to_pylist()
            for row in rows:
                if key == c.SKEW_BY_TIME and row["load_max_to_mean"] is None:
                    row["load_max_to_mean"] = 9.0
            parquet.write_table(pa.Table.from_pylist(rows, schema=table.schema), file)
    whole = [1, 3, 7]
    for name in ("skew", "members"):
        assert steps_drawn(figure_of(Report(run), name)["data"][0])[:3] == whole
    assert minutes_known(run, SKEW, "load_max_to_mean", tmp_path) == whole
    assert minutes_known(run, MEMBERS_OVER_TIME, c.LOAD, tmp_path) == whole


def minutes_known(run: JobRun, table: Table, column: str, folder: Path) -> list[int]:
    """Return the minutes of which a column of the Parquet file has a value."""
    file = folder / f"{table.key}.parquet"
    write_parquet(Report(run), table, file)
    rows = parquet.read_table(file).to_pylist()
    return sorted({row[c.SINCE].minute for row in rows if row[column] is not None})


def test_the_figures_say_what_they_are_of(run: JobRun) -> None:
    facts = facts_of(Report(run))
    assert facts.peak is not None
    assert (facts.peak.value, facts.peak.at) == (1050, moment(7)), "all queues, whole"
    assert facts.oldest is not None
    assert (facts.oldest.value, facts.oldest.part) == (90_000, facts.oldest.part)
    assert facts.oldest.is_least, "in step 9 one queue alone was older than all in 7"
    assert (facts.in_rate, facts.out_rate) == (20, 10), "not the mean with a half"
    known = facts.measured
    minutes = [known.whole, known.partial, known.missing, known.idle]
    assert [span / timedelta(minutes=1) for span in minutes] == [3, 2, 5, 0]
    assert (known.partial_spans, known.missing_spans) == (2, 3)
    stats = {stat.name: stat for stat in stats_of(Report(run))}
    assert stats["Oldest message, peak"].value == "≥ 1 m 30 s"
    assert stats["Oldest message, peak"].note.endswith("from 1 of 2 queues")
    assert stats["Time behind"].value == "1 m 00 s"
    assert "of 3 m 00 s" in stats["Time behind"].note


def test_a_report_of_parts_alone_has_no_figures_but_what_it_is_at_least(
    lake: Path,
) -> None:
    run = finished_run(lake, unknown={(step, 1) for step in range(10)})
    facts = facts_of(Report(run))
    assert facts.measured.whole == timedelta(0)
    assert facts.peak is not None
    assert facts.peak.is_least
    assert (facts.in_rate, facts.behind, facts.skew) == (None, None, None)
    texts = {stat.name: stat.value for stat in stats_of(Report(run))}
    assert texts["Peak lag"] == "≥ 675"
    assert texts["Mean skew"] is None
    assert values(figure_of(Report(run), "lag")["data"][0]) == {}


def test_a_sum_over_groups_needs_all_of_them(lake: Path) -> None:
    run = finished_run(lake, group="", groups=("a", "b"), unknown={(2, 0)})
    figure = figure_of(Report(run), "lag")
    assert 2 not in steps_drawn(figure["data"][0])
    assert words(figure, 2) == ["partly unknown: ≥ 303, from 2 of 4 queues"]
    worst = worst_groups(
        Report(finished_run(lake, group="", groups=("a",), unknown={(9, 0)}))
    )
    assert worst[0].peak is not None
    assert not worst[0].peak.is_least, "1,200 of all in step 8, 675 of one in step 9"
    assert worst[0].mean == pytest.approx(101 * (1 + 2 + 3 + 7 + 8) / 5)


def test_a_consumer_without_queues_misses_nothing(lake: Path) -> None:
    run = finished_run(lake)
    folder = lake / "results" / run.folder / c.LAG_BY_CONSUMER
    for file in folder.glob("*.parquet"):
        table = parquet.read_table(file)
        since = table[c.SINCE].to_pylist()
        parquet.write_table(table.filter([at != moment(2) for at in since]), file)
    seen = report_for(run, {"consumer": "=1+1"}, UTC, "UTC")
    figure = figure_of(seen, "lag")
    assert words(figure, 2) == ["no queues"]
    assert words(figure, 4) == ["not collected"]
    assert facts_of(seen).measured.idle == timedelta(minutes=1)


def test_the_twins_say_at_least(run: JobRun) -> None:
    rows = {row[0]: row[1:] for row in twin_of(Report(run), "lag").rows}
    assert rows["2026-03-13 00:02"] == ("≥ 101", "≥ 150", "≥ 20 s", "1 of 2")
    assert rows["2026-03-13 00:04 – 00:07"] == (None, None, None, "not collected")
    assert rows["2026-03-13 00:08 – 00:09"][3] == "not collected"
    by_group = report_for(run, {"by": "group"}, UTC, "UTC")
    (group,) = twin_of(by_group, "queues").rows
    assert group[1:3] == (f"{(101 + 303 + 707) / 3:,.0f}", "707")
    assert group[4:] == ("≥ 454", "7 m 00 s")


@pytest.fixture
def paper(run: JobRun, tmp_path: Path) -> pypdf.PdfReader:
    write_pdf(Report(run, SHANGHAI, "UTC+8"), tmp_path / "report.pdf", "a4")
    return pypdf.PdfReader(tmp_path / "report.pdf")


def test_the_pdf_hatches_and_says_so(
    paper: pypdf.PdfReader, lake: Path, tmp_path: Path
) -> None:
    text = " ".join(" ".join(page.extract_text() for page in paper.pages).split())
    assert "Only some of the queues are known for 2 m 00 s, in 2 spans." in text
    assert "Nothing was collected for 5 m 00 s, in 3 spans." in text
    assert "the 3 m 00 s in which all queues are known" in text
    assert text.count("partly unknown") >= 3, "in the legends of three charts"
    assert "≥ 101" in text
    write_pdf(Report(finished_run(lake), SHANGHAI, "UTC+8"), tmp_path / "w.pdf", "a4")
    whole = pypdf.PdfReader(tmp_path / "w.pdf")
    assert "partly unknown" not in "".join(page.extract_text() for page in whole.pages)
    lines = [lines_in(reader) for reader in (paper, whole)]
    assert lines[0][WARN] > 20 > lines[1][WARN], "hatches of parts have their colour"


WARN = "0.541 0.322 0 RG"


def lines_in(reader: pypdf.PdfReader) -> dict[str, int]:
    """Count the lines of the first page by the pen that drew them."""
    content = reader.pages[0].get_contents()
    assert content is not None
    found: dict[str, int] = {WARN: 0}
    pen = ""
    for operator in content.get_data().decode("latin-1").splitlines():
        if operator.endswith((" RG", " G")):
            pen = " ".join(
                f"{float(part):.3g}" if part not in {"RG", "G"} else part
                for part in operator.split()
            )
        found[pen] = found.get(pen, 0) + operator.count(" l S")
    return found


def test_the_workbook_has_no_value_for_a_part(run: JobRun, tmp_path: Path) -> None:
    file = tmp_path / "report.xlsx"
    write_xlsx(Report(run, SHANGHAI, "UTC+8"), file)
    book = openpyxl.load_workbook(file)
    heads, *rows = book["Over time"].iter_rows(values_only=True)
    found = [dict(zip(heads, row, strict=True)) for row in rows]
    part = found[2]
    assert (part["Lag, mean"], part["Lag, peak"], part["Oldest, peak (s)"]) == (
        None,
    ) * 3
    assert (part["Queues known"], part["Queues"]) == (1, 2)
    assert part["Lag of the known part, mean"] == 101
    assert (part["not collected"], part["partly unknown"]) == (None, 1)
    assert [row["not collected"] for row in found] == [
        1,
        *[None] * 3,
        1,
        1,
        1,
        None,
        1,
        None,
    ]
    about = dict(book["About"].iter_rows(values_only=True))
    assert "Only some of the queues are known for 2 m 00 s" in about["Not known"]
    cell = book["Lag map"]["D2"]
    assert cell.value is None
    assert cell.fill.patternType == "lightUp", "hatched, not white"
    assert book["Lag map"]["D3"].value == 101
    with zipfile.ZipFile(file) as parts:
        charts = [
            parts.read(name).decode()
            for name in parts.namelist()
            if re.match(r"xl/charts/chart\d", name)
        ]
    hatching = [
        chart for chart in charts if "wdUpDiag" in chart and "wdDnDiag" in chart
    ]
    assert len(hatching) == 2, "lag and age"
    assert not any("dispBlanksAs" in chart for chart in hatching), "blanks are gaps"


def test_csv_and_parquet_say_of_how_many(run: JobRun, tmp_path: Path) -> None:
    text = b"".join(csv_pieces(Report(run), BY_GROUP)).decode()
    rows = list(csv.DictReader(io.StringIO(text)))
    part = next(row for row in rows if row["since"].startswith("2026-03-13T00:02"))
    assert (part["queue_count"], part["known_queues"]) == ("2", "1")
    assert part["unknown_seconds"] == "60.0"
    assert minutes_known(run, SKEW, "load_max_to_mean", tmp_path) == [1, 3, 7]
    file = tmp_path / "members.parquet"
    write_parquet(Report(run), MEMBERS_OVER_TIME, file)
    counts = duckdb.sql(
        f"select distinct known_queues from '{file}' where load is not null"
    ).fetchall()
    assert sorted(counts) == [(1,), (2,)], "a part is said to be one"


class Tiles(HTMLParser):
    """The values of the tiles at the head of a report."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []
        self._in_list = self._in_tile = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "dl":
            self._in_list = ("class", "stats") in attrs
        if tag == "dd" and self._in_list and ("class", "sub") not in attrs:
            self.texts.append("")
            self._in_tile = True

    def handle_endtag(self, tag: str) -> None:
        self._in_tile = self._in_tile and tag != "dd"

    def handle_data(self, data: str) -> None:
        if self._in_tile:
            self.texts[-1] += data


def test_page_and_html_file_show_the_same_and_never_none(
    lake: Path, sign_in: SignIn, hangzhou: ClusterSettings
) -> None:
    run = finished_run(lake, unknown={(step, 1) for step in range(10)})
    page = sign_in(Role.VIEWER).get(f"/reports/{run.pk}/").content.decode()
    tiles = []
    for text in (page, html_text(Report(run))):
        assert "Only some of the queues are known for 6 m 00 s, in 2 spans." in text
        reader = Tiles()
        reader.feed(text)
        tiles.append(reader.texts)
    assert tiles[0] == tiles[1]
    assert tiles[0][0] == "≥ 675"
    assert tiles[0][-1] == "— Not known"
    assert "None" not in tiles[0]


def test_a_share_never_exceeds_what_was_measured(lake: Path) -> None:
    run = finished_run(lake)
    rows = [
        {
            c.STRATEGY: name,
            c.IN_USE: name == "AVG",
            "load_max_to_mean": 1.5,
            c.OVERLOAD_SECONDS: overload,
            c.NEVER_SECONDS: never,
            c.SECONDS: seconds,
        }
        for name, overload, never, seconds in (
            ("AVG", 338.0, 0.0, 322.0),
            ("AVG_BY_CIRCLE", 30.0, 322.0, 322.0),
            ("BALANCED", 361.0, 0.0, 361.0),
            ("CONSISTENT_HASH", 500.0, 500.0, 505.0),
        )
    ]
    folder = lake / "results" / run.folder / c.STRATEGIES
    for file in folder.iterdir():
        file.unlink()
    folder.rmdir()
    write_table(folder.parent, c.STRATEGIES, rows)
    found = {row.name: row for row in strategy_rows(Report(run))}
    assert found["AVG"].overload is None, "longer than it was measured"
    assert found["AVG"].never == timedelta(0)
    assert found["AVG_BY_CIRCLE"].overload == timedelta(seconds=30)
    assert found["AVG_BY_CIRCLE"].never == timedelta(seconds=322)
    assert found["BALANCED"].known == timedelta(minutes=6), "a hair more is no fault"
    beyond = found["CONSISTENT_HASH"]
    assert (beyond.known, beyond.overload, beyond.never) == (None, None, None), (
        "six minutes of the period are known"
    )


def test_a_zoom_hatches_what_the_whole_hatches(lake: Path) -> None:
    """Queue 1 is silent from 00:12 to 00:14, as its samples say."""
    writer = LandingWriter(str(lake), run_id="silent")
    begin = round(SINCE.timestamp() * 1000)
    for second in range(0, 1800, 10):
        is_silent = 720 <= second < 840
        writer.append(
            {
                c.CLUSTER: "hangzhou",
                c.GROUP: "settlement",
                c.TOPIC: "orders",
                c.BROKER: "broker-a",
                c.QUEUE_ID: [0, 1],
                c.TIME: begin + second * 1000,
                c.WEIGHT: 10,
                c.MAX: [1000, None if is_silent else 1000],
                c.COMMITTED: [900, None if is_silent else 800],
                c.EPOCH: 7,
            }
        )
    writer.close(begin)
    absorb(open_storage(str(lake)), c.SAMPLES)
    run = finished_run(lake, step=timedelta(minutes=10), steps=3)
    window = Window(SINCE + timedelta(minutes=10), SINCE + timedelta(minutes=20))
    figure = figure_within(Report(run), "lag", window)
    assert set(values(figure["data"][0]).values()) == {300}
    (hole,) = {hole.text for hole in hatched(figure)}
    assert hole == "partly unknown: ≥ 100, from 1 of 2 queues"
    spans = [(hole.since, hole.until) for hole in hatched(figure)]
    seconds = sum((until - since).total_seconds() for since, until in spans)
    assert 100 <= seconds <= 120
    by_queue = hatched(figure_within(Report(run), "queues", window), "y2")
    assert {(hole.low, hole.high, hole.text) for hole in by_queue} == {
        (0, 1, "not collected")
    }
