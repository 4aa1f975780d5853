from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.core.exceptions import PermissionDenied
from django.utils import timezone

from dashboard.config.celery import app
from dashboard.gateway.settings import ClusterSettings
from dashboard.models import (
    AuditEntry,
    JobRun,
    ReportDefinition,
    Role,
    User,
)
from dashboard.reports import definitions
from dashboard.reports.definitions import (
    DefinitionFields,
    delete_definition,
    run_definition,
    save_definition,
    start_due_reports,
)
from dashboard.reports.request.refusals import ReportRefusedError
from dashboard.reports.writes import Content

pytestmark = pytest.mark.django_db(transaction=True)

Every = ReportDefinition.Every
State = JobRun.State
DAILY = DefinitionFields(
    Content(name="Daily lag", formats=("csv", "pdf"), zone="Asia/Shanghai"),
    cluster="hangzhou",
    group="settlement",
    period="24h",
    every=Every.DAY,
)


@pytest.fixture(autouse=True)
def surroundings(hangzhou: ClusterSettings) -> None:
    """Every definition here is of one configured cluster."""


@pytest.fixture
def olga() -> User:
    return User.objects.create(username="olga", role=Role.OPERATOR)


@pytest.fixture(autouse=True)
def sent(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    gone: list[int] = []
    monkeypatch.setattr(app, "send_task", lambda _name, args: gone.extend(args))
    return gone


def due_at(definition: ReportDefinition, moment: datetime) -> ReportDefinition:
    ReportDefinition.objects.filter(pk=definition.pk).update(next_at=moment)
    definition.refresh_from_db()
    return definition


def named(name: str, **changes: Any) -> DefinitionFields:
    return replace(DAILY, content=replace(DAILY.content, name=name), **changes)


def test_a_definition_is_kept_with_its_next_time(olga: User) -> None:
    before = timezone.now()
    made = save_definition(DAILY, by=olga)
    made.refresh_from_db()
    assert (made.name, made.formats, made.made_by_name) == (
        "Daily lag",
        ["csv", "pdf"],
        "olga",
    )
    assert made.next_at is not None
    assert before < made.next_at <= before + timedelta(days=1)
    assert (made.next_at.hour, made.next_at.minute) == (16, 5), "00:05 in Shanghai"
    assert AuditEntry.objects.get().action == "report.define"


def test_a_change_keeps_the_name_for_itself(olga: User) -> None:
    made = save_definition(DAILY, by=olga)
    save_definition(replace(DAILY, period="7d"), by=olga, definition=made)
    made.refresh_from_db()
    assert made.period == "7d"
    with pytest.raises(ReportRefusedError, match="Daily lag"):
        save_definition(DAILY, by=olga)
    assert ReportDefinition.objects.count() == 1
    assert AuditEntry.objects.filter(action="report.change").count() == 1


def test_there_is_a_limit(olga: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(definitions, "MOST_DEFINITIONS", 1)
    made = save_definition(DAILY, by=olga)
    with pytest.raises(ReportRefusedError, match="already 1 reports by name"):
        save_definition(named("another"), by=olga)
    save_definition(replace(DAILY, period="7d"), by=olga, definition=made)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"content": Content()}, "needs a name"),
        ({"cluster": "nowhere"}, "nowhere"),
        ({"period": "century"}, "century"),
        ({"every": "blue moon"}, "blue moon"),
        ({"at_minute": 1440}, "1440 is not between 0 and 1439"),
        ({"every": Every.WEEK, "on_day": 8}, "8 is not between 1 and 7"),
        ({"on_day": 32}, "32 is not between 1 and 31"),
        ({"keep_days": 0}, "0 is not between 1 and 3650"),
        ({"content": replace(DAILY.content, formats=("doc",))}, "doc"),
        ({"content": replace(DAILY.content, grouping="shard")}, "shard"),
        ({"content": replace(DAILY.content, paper="a0")}, "a0"),
        ({"content": replace(DAILY.content, zone="Mars/Base")}, "Mars/Base"),
        ({"content": replace(DAILY.content, language="tlh")}, "tlh"),
        ({"content": replace(DAILY.content, topic="a", consumer="b")}, "or a consumer"),
    ],
)
def test_what_makes_no_sense_is_named(
    olga: User, changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(ReportRefusedError, match=message):
        save_definition(replace(DAILY, **changes), by=olga)
    assert not ReportDefinition.objects.exists()


def test_a_viewer_may_do_nothing_to_them(olga: User) -> None:
    vera = User.objects.create(username="vera", role=Role.VIEWER)
    made = save_definition(DAILY, by=olga)
    for attempt in (
        lambda: save_definition(named("mine"), by=vera),
        lambda: run_definition(made, by=vera),
        lambda: delete_definition(made, by=vera),
    ):
        with pytest.raises(PermissionDenied, match="vera is viewer"):
            attempt()
    assert ReportDefinition.objects.count() == 1


def test_run_now_takes_the_period_up_to_now(olga: User, sent: list[int]) -> None:
    made = save_definition(DAILY, by=olga)
    run = run_definition(made, by=olga)
    assert (run.definition, run.name, run.due_at) == (made, "Daily lag", None)
    assert run.until - run.since == timedelta(hours=24)
    assert run.formats == ["csv", "pdf"]
    assert run.keep_until == run.asked_at + timedelta(days=30)
    assert sent == [run.pk]


def test_a_deleted_definition_leaves_its_reports(olga: User) -> None:
    made = save_definition(DAILY, by=olga)
    run = run_definition(made, by=olga)
    delete_definition(made, by=olga)
    run.refresh_from_db()
    assert (run.definition, run.name) == (None, "Daily lag")
    assert AuditEntry.objects.filter(action="report.forget").exists()


def test_what_is_due_is_run_once_and_moves_on(olga: User, sent: list[int]) -> None:
    due = datetime(2026, 3, 12, 16, 5, tzinfo=UTC)
    made = due_at(save_definition(DAILY, by=olga), due)
    now = due + timedelta(seconds=8)
    (run,) = start_due_reports(now)
    assert (run.due_at, run.missed, run.until) == (due, 0, due)
    assert run.asked_by_name == "rocketscope"
    made.refresh_from_db()
    assert made.next_at == due + timedelta(days=1)
    assert start_due_reports(now) == []
    assert sent == [run.pk]


def test_times_missed_while_down_are_one_run_that_says_so(olga: User) -> None:
    due = datetime(2026, 3, 12, 16, 5, tzinfo=UTC)
    due_at(save_definition(DAILY, by=olga), due)
    now = due + timedelta(days=3, hours=5)
    (run,) = start_due_reports(now)
    assert (run.due_at, run.missed) == (due + timedelta(days=3), 3)
    assert run.until == run.due_at, "the period ends when it was due, not when made"
    assert run.is_late
    entry = AuditEntry.objects.get(action="report.start")
    assert entry.details["missed"] == 3


def test_it_waits_while_a_report_of_the_group_is_made(olga: User) -> None:
    due = datetime(2026, 3, 12, 16, 5, tzinfo=UTC)
    made = due_at(save_definition(DAILY, by=olga), due)
    active = run_definition(made, by=olga)
    assert start_due_reports(due) == []
    made.refresh_from_db()
    assert made.next_at == due, "it stays due"
    JobRun.objects.filter(pk=active.pk).update(state=State.DONE)
    assert len(start_due_reports(due + timedelta(seconds=10))) == 1


def test_two_that_look_at_once_make_one_run(
    olga: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    due = datetime(2026, 3, 12, 16, 5, tzinfo=UTC)
    made = due_at(save_definition(DAILY, by=olga), due)
    stale = ReportDefinition.objects.get(pk=made.pk)
    assert len(start_due_reports(due)) == 1
    JobRun.objects.update(state=State.DONE)

    class Read:
        """What another scheduler read before the first one claimed it."""

        def order_by(self, _name: str) -> list[ReportDefinition]:
            return [stale]

    monkeypatch.setattr(ReportDefinition.objects, "filter", _first_read(Read()))
    assert start_due_reports(due) == []
    assert JobRun.objects.count() == 1


def _first_read(read: object) -> Any:
    real = ReportDefinition.objects.filter
    given = iter([read])
    return lambda **conditions: next(given, None) or real(**conditions)


def test_what_is_paused_is_not_due(olga: User) -> None:
    wish = replace(DAILY, paused=True)
    made = due_at(save_definition(wish, by=olga), datetime(2026, 1, 1, tzinfo=UTC))
    assert start_due_reports(timezone.now()) == []
    save_definition(replace(DAILY, paused=False), by=olga, definition=made)
    made.refresh_from_db()
    assert made.next_at is not None
    assert made.next_at > timezone.now(), "a pause is not made up for"


def test_looking_when_nothing_is_due_is_one_query(
    olga: User, django_assert_num_queries: Any
) -> None:
    save_definition(DAILY, by=olga)
    with django_assert_num_queries(1):
        start_due_reports(timezone.now())
