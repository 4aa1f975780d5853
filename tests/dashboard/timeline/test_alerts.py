"""The alerts of a timeline's span: which are listed, and where they are drawn."""

from __future__ import annotations

from datetime import timedelta
from itertools import combinations
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone, translation
from hypothesis import given
from hypothesis import strategies as st

from dashboard.clock.moments import as_ms, moment_of
from dashboard.models import Alert, AlertSubject, Role
from dashboard.timeline import alerts as alerts_module
from dashboard.timeline.alerts import MOST_ROWS, AlertMark, marks_of
from dashboard.timeline.lanes import Window
from dashboard.timeline.tags import alert_text
from tests.dashboard.alerts.made import GROUP, made_alert, made_rule
from tests.dashboard.conftest import SignIn, Write
from tests.dashboard.documents import overview, waiting_for_locks

PAGE = f"/clusters/hangzhou/groups/{GROUP}/timeline/"
API = f"/api/v1/clusters/hangzhou/groups/{GROUP}/timeline"
WINDOW = Window(0, 1_000_000)


def subject(since: int, until: int | None, severity: str = "crit") -> AlertSubject:
    alert = Alert(severity=severity, rule_name="Lag", cluster="hangzhou")
    closed = None if until is None else moment_of(until)
    return AlertSubject(alert=alert, opened_at=moment_of(since), closed_at=closed)


def places(*subjects: AlertSubject) -> list[tuple[float, float, int]]:
    marks = marks_of(subjects, WINDOW, 0.55)
    return [(mark.x, mark.width, mark.row) for mark in marks]


def test_a_mark_reaches_from_opening_to_ending() -> None:
    assert places(subject(100_000, 300_000)) == [(10, 20, 0)]
    assert places(subject(100_000, None)) == [(10, 90, 0)]
    (early,) = marks_of([subject(-5_000_000, 500_000)], WINDOW, 0.55)
    assert (early.x, early.width, early.begins) == (0, 50, False)
    ((x, width, _row),) = places(subject(999_999, None))
    assert width == alerts_module.LEAST_WIDTH
    assert x + width == 100


def test_what_overlaps_goes_into_further_rows_the_critical_first() -> None:
    found = places(
        subject(0, 500_000, "warn"),
        subject(100_000, 200_000),
        subject(600_000, 700_000, "warn"),
    )
    assert found == [(10, 10, 0), (60, 10, 0), (0, 50, 1)]


def test_a_name_without_room_is_left_out() -> None:
    marks = marks_of([subject(0, 10_000), subject(500_000, None)], WINDOW, 0.55)
    assert [mark.labelled for mark in marks] == [False, True]


times = st.integers(-500_000, 999_999)


@given(st.lists(st.tuples(times, st.none() | times, st.sampled_from(["crit", "warn"]))))
def test_no_mark_hides_another(rows: list[tuple[int, int | None, str]]) -> None:
    subjects = [subject(at, end and max(at, end), level) for at, end, level in rows]
    marks = marks_of(subjects, WINDOW, 0.55)
    assert all(mark.row < MOST_ROWS for mark in marks)
    for one, other in combinations(marks, 2):
        assert one.row != other.row or apart(one, other)
    drawn = {id(mark.subject) for mark in marks}
    left_out = [each for each in subjects if id(each) not in drawn]
    assert not left_out or len(marks) >= MOST_ROWS


def apart(one: AlertMark, other: AlertMark) -> bool:
    first, second = sorted((one, other), key=lambda mark: mark.x)
    return first.x + first.width <= second.x


@pytest.fixture
def documents(write: Write) -> None:
    write(overview(), waiting_for_locks())


@pytest.mark.usefixtures("documents")
def test_the_picture_has_a_mark_with_words_that_leads_to_the_alert(
    sign_in: SignIn,
) -> None:
    alert = made_alert(made_rule(), minutes=3, acknowledged_by_name="olga")
    client = sign_in(Role.VIEWER)
    for query in ("", "?panel=1", "?by=members"):
        shown = client.get(f"{PAGE}{query}").content.decode()
        mark = shown.partition('class="alert-mark crit" data-key')[2]
        mark = mark.partition("</a>")[0]
        assert f'href="/clusters/hangzhou/alerts/{alert.pk}/"' in mark
        assert "<title>critical: Lag, open since " in mark
        assert ", acknowledged by olga" in mark
    with translation.override("zh-hans"):
        assert "olga" in alert_text(alert.subjects.get())
        assert "open" not in alert_text(alert.subjects.get())


@pytest.mark.usefixtures("documents")
def test_without_an_alert_there_is_no_lane(sign_in: SignIn) -> None:
    assert "lane-alerts" not in sign_in(Role.VIEWER).get(PAGE).content.decode()


@pytest.mark.usefixtures("documents")
def test_what_is_neither_listed_nor_drawn_is_counted(
    sign_in: SignIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(alerts_module, "MOST_ALERTS", 5)
    rule = made_rule()
    closed: dict[str, Any] = {"closed_at": timezone.now() - timedelta(minutes=1)}
    for number in range(7):
        made_alert(rule, minutes=3 + number, **closed)
    shown = sign_in(Role.VIEWER).get(PAGE).content.decode()
    assert shown.count('<tr data-key="alert-') == 5
    assert "The newest 5 of 7 alerts are listed." in shown
    assert shown.count('data-key="mark-') == MOST_ROWS
    assert "3 alerts of this span are not drawn." in shown


@pytest.mark.usefixtures("documents")
def test_the_rest_api_lists_the_alerts_that_the_page_lists(
    sign_in: SignIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    rule = made_rule()
    opened = made_alert(rule, minutes=3, acknowledged_by_name="olga")
    ended = timezone.now() - timedelta(minutes=1)
    closed = made_alert(rule, minutes=5, closed_at=ended)
    made_alert(made_rule(name="Broker", kind="broker"), minutes=2)
    viewer = sign_in(Role.VIEWER)
    found = viewer.get(API).json()
    assert found["alerts"] == [
        {
            "id": opened.pk,
            "rule": "Lag",
            "severity": "crit",
            "opened": as_ms(opened.opened_at),
            "closed": None,
            "acknowledged_by": "olga",
        },
        {
            "id": closed.pk,
            "rule": "Lag",
            "severity": "crit",
            "opened": as_ms(closed.opened_at),
            "closed": as_ms(ended),
            "acknowledged_by": "",
        },
    ]
    assert found["alerts_left_out"] == 0
    monkeypatch.setattr(alerts_module, "MOST_ALERTS", 1)
    found = viewer.get(API).json()
    assert [each["id"] for each in found["alerts"]] == [opened.pk]
    assert found["alerts_left_out"] == 1


@pytest.mark.django_db
@pytest.mark.usefixtures("hangzhou")
def test_an_alert_of_a_group_without_a_past_is_in_the_rest_api(
    sign_in: SignIn,
) -> None:
    viewer = sign_in(Role.VIEWER)
    assert viewer.get(API).status_code == 404
    alert = made_alert(made_rule(), minutes=3)
    assert [each["id"] for each in viewer.get(API).json()["alerts"]] == [alert.pk]


def test_strangers_get_no_alerts(client: Client) -> None:
    assert client.get(API).status_code == 401
