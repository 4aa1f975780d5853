from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from django.test import Client

from analytics import contracts as c
from analytics.lake.carrying import add_batch
from analytics.lake.ladder import QUEUES, dataset_of
from analytics.lake.storage import open_storage
from analytics.schemas import schema_of
from dashboard.models import Role
from dashboard.topics.chart import history_chart, summary
from dashboard.topics.export import traffic_csv
from dashboard.topics.history import SPANS, Bar, History, read_history, span_named
from dashboard.wording import numbers
from dashboard.wording.numbers import DAY, HOUR, MINUTE
from tests.dashboard.conftest import SignIn
from tests.dashboard.documents import NOW_MS, now_ms, overview

PAGE = "/clusters/hangzhou/topics/orders/traffic/"
LOWEST = dataset_of(QUEUES, c.ROLLUP_LEVELS[0])


@pytest.fixture
def lake(settings: Any, tmp_path: Path) -> str:
    settings.ROCKETSCOPE_LAKE_URL = str(tmp_path)
    return str(tmp_path)


def record(lake: str, until_ms: int, minutes: int, rate: int = 5) -> None:
    """Let the lake have recorded some minutes of one queue."""
    schema = schema_of(LOWEST)
    until_ms -= until_ms % MINUTE
    rows = [
        {
            **dict.fromkeys(schema.names),
            c.CLUSTER: "hangzhou",
            c.GROUP: "settlement",
            c.TOPIC: "orders",
            c.BROKER: "broker-a",
            c.QUEUE_ID: 0,
            c.TIME: begin,
            c.SECONDS: 60.0,
            c.UNKNOWN_SECONDS: 0.0,
            "max_first_at": begin + 10_000,
            "max_first": rate * (begin + 10_000 - until_ms + DAY * 10) // 1000,
            "max_last_at": begin + MINUTE,
            "max_last": rate * (begin + MINUTE - until_ms + DAY * 10) // 1000,
        }
        for begin in range(until_ms - minutes * MINUTE, until_ms, MINUTE)
    ]
    table = pa.Table.from_pylist(rows, schema=schema)
    add_batch(open_storage(lake), QUEUES, 0, lambda: table)


def history(*rates: float | None, partial: int | None = None) -> History:
    bars = [
        Bar(NOW_MS + at * 10 * MINUTE, rate, at == partial)
        for at, rate in enumerate(rates)
    ]
    return History(SPANS[0], tuple(bars), ("settlement",), NOW_MS, 1)


def test_a_day_has_bars_of_ten_minutes_and_a_week_of_hours(lake: str) -> None:
    record(lake, NOW_MS, 100)
    day, week = (read_history("hangzhou", "orders", each, NOW_MS) for each in SPANS)
    assert (len(day.bars), len(week.bars)) == (144, 168)
    assert set(day.known) == set(week.known) == {5.0}
    assert day.unknown_ms > DAY - 2 * HOUR
    assert list(day.groups) == ["settlement"]
    assert len(day.labels) == 5


def test_an_unknown_span_is_a_day() -> None:
    assert span_named("7d").length_ms == 7 * DAY
    assert span_named("a year") is span_named(None) is SPANS[0]


def test_bars_that_are_not_known_are_hatched_and_partial_ones_told_apart() -> None:
    drawn = str(history_chart(history(10.0, None, 4.0, 0.0, partial=2)))
    assert re.findall(r'<rect class="([^"]+)"', drawn) == [
        "bar",
        "gap",
        "bar partial",
        "bar",
    ]
    assert ": not measured</title>" in drawn
    assert ": ≥ 4.0/s</title>" in drawn


def test_the_line_below_names_the_peak() -> None:
    told = summary(history(3.0, 40.0, None, partial=1))
    assert told.startswith("peak ≥ 40/s at 20")
    assert summary(history(None)) == "no data"


@pytest.mark.parametrize(
    ("most", "top"), [(0, 1), (1, 1), (1.2, 2), (4, 5), (60, 100), (2_300, 5_000)]
)
def test_a_scale_ends_with_a_round_number(most: float, top: float) -> None:
    assert numbers.nice_top(most) == top


@pytest.mark.django_db
def test_the_page_says_what_was_recorded_and_from_whom(
    lake: str, sign_in: SignIn, write: Any
) -> None:
    write(overview())
    viewer = sign_in(Role.VIEWER)
    before = viewer.get(PAGE).content.decode()
    assert "Nothing of this topic was recorded in this span." in before
    record(lake, now_ms(), 60)
    page = viewer.get(f"{PAGE}?span=24h").content.decode()
    assert page.count('<rect class="bar"') >= 4
    assert "peak 5.0/s at" in page
    assert 'href="/clusters/hangzhou/groups/settlement/"' in page


def lines_of(answer: Any) -> list[str]:
    return b"".join(answer.streaming_content).decode().splitlines()


def test_a_file_has_the_bars_in_their_order_with_what_is_not_known() -> None:
    given = history(10.0, None, 4.0, partial=2)
    answer = traffic_csv(given)
    assert answer["Content-Type"].startswith("text/csv")
    head, first, unknown, partial = lines_of(answer)
    assert head == "begin,end,in,unknown,at_least"
    begin = datetime.fromtimestamp(NOW_MS / 1000, UTC)
    end = begin + timedelta(minutes=10)
    assert first == f"{begin:%Y-%m-%dT%H:%M:%SZ},{end:%Y-%m-%dT%H:%M:%SZ},10.0,,"
    assert unknown.startswith(f"{end:%Y-%m-%dT%H:%M:%SZ},")
    assert unknown.endswith(",,in: not_measured,")
    assert partial.endswith(",4.0,,in")


@pytest.mark.django_db
def test_the_page_offers_a_file_of_the_span_that_is_shown(
    lake: str, sign_in: SignIn, write: Any
) -> None:
    write(overview())
    viewer = sign_in(Role.VIEWER)
    assert "format=csv" not in viewer.get(f"{PAGE}?span=7d").content.decode()
    record(lake, now_ms(), 200)
    page = viewer.get(f"{PAGE}?span=7d").content.decode()
    assert 'href="?span=7d&amp;format=csv"' in page
    answer = viewer.get(f"{PAGE}?span=7d&format=csv")
    assert 'filename="topic-traffic-7d.csv"' in answer["Content-Disposition"]
    lines = lines_of(answer)
    assert len(lines) == 1 + 168
    assert [line for line in lines if ",5.0," in line]


@pytest.mark.django_db
def test_a_lake_that_cannot_be_read_is_told(
    lake: str, sign_in: SignIn, write: Any
) -> None:
    write(overview())
    viewer: Client = sign_in(Role.VIEWER)
    damaged = Path(lake) / "manifest" / "rollup_queues_600"
    damaged.mkdir(parents=True)
    (damaged / f"{1:020}.json").write_text("{", encoding="utf-8")
    page = viewer.get(f"{PAGE}?format=csv").content.decode()
    assert "The lake could not be read." in page
    assert "is not a manifest" in page
