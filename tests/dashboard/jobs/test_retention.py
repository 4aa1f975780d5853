from __future__ import annotations

import re
from collections import Counter
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from dashboard.config.celery import app
from dashboard.jobs import retention, tasks
from dashboard.jobs.retention import BOUNDED, RULES, expire_rows
from dashboard.models import (
    Alert,
    AuditEntry,
    Cluster,
    Epoch,
    GroupChange,
    ManagedGroup,
    OwnershipEvent,
    Session,
)
from dashboard.timeline.reads import MOST_EPOCHS, MOST_EVENTS
from tests.dashboard.alerts.made import (
    made_alert,
    made_channel,
    made_message,
    made_silence,
)
from tests.dashboard.jobs.conftest import GivenTime

DOCS = Path(__file__).resolve().parents[3] / "docs" / "operations.md"
NOW = timezone.now()

pytestmark = pytest.mark.django_db


def ago(days: float) -> datetime:
    return NOW - timedelta(days=days)


@pytest.fixture
def east() -> Cluster:
    return Cluster.objects.create(name="east")


@pytest.fixture(autouse=True)
def few_days(settings: Any) -> None:
    settings.ROCKETSCOPE_AUDIT_DAYS = 40
    settings.ROCKETSCOPE_EPOCH_DAYS = 35


def epoch(
    east: Cluster, number: int, began: float, ended: float | None, group: str = "g"
) -> Epoch:
    return Epoch.objects.create(
        cluster=east,
        group=group,
        number=number,
        cause=Epoch.Cause.MEMBER_JOINED,
        began_by=ago(began),
        ended_by=None if ended is None else ago(ended),
    )


def event(east: Cluster, days: float, group: str = "g") -> OwnershipEvent:
    return OwnershipEvent.objects.create(
        cluster=east,
        group=group,
        kind=OwnershipEvent.Kind.MOVED,
        topic="t",
        broker="b",
        queue_id=0,
        at_by=ago(days),
    )


def numbers() -> list[int]:
    return sorted(Epoch.objects.values_list("number", flat=True))


def test_every_table_has_a_rule_or_a_reason() -> None:
    models = apps.get_models(include_auto_created=True)
    tables = {model._meta.db_table for model in models}
    tables.update(connection.introspection.table_names())
    ruled = [rule.model._meta.db_table for rule in RULES]
    assert Counter([*ruled, *BOUNDED]) == Counter(tables)
    assert all(BOUNDED.values())


def test_the_docs_list_the_same_tables_with_their_settings() -> None:
    rows = re.findall(
        r"^\| `(\w+)`[^|]*\|(.*)\|$",
        DOCS.read_text("utf-8").partition("### Whether it holds")[0],
        re.MULTILINE,
    )
    listed = {name: text for name, text in rows if "_" in name}
    ruled = {rule.model._meta.db_table: rule for rule in RULES}
    assert len(listed) == len([name for name, _ in rows if "_" in name])
    assert set(listed) == {*ruled, *BOUNDED}
    for table, rule in ruled.items():
        assert rule.setting in listed[table]


def test_every_rule_deletes_what_is_old_only(east: Cluster) -> None:
    for days in (41, 39):
        AuditEntry.objects.create(at=ago(days), actor_name="olga", action="a.b")
    for key, ended, unused in (("over", 2, 2), ("idle", -1, 8), ("open", -1, 6)):
        Session.objects.create(
            session_key=key, expire_date=ago(ended), last_seen_at=ago(unused)
        )
    assert expire_rows(NOW) == {
        "dashboard_auditentry": 1,
        "dashboard_groupchange": 0,
        "dashboard_offsetchange": 0,
        "dashboard_resentletter": 0,
        "dashboard_resendrun": 0,
        "dashboard_alertmessage": 0,
        "dashboard_alertsubject": 0,
        "dashboard_alert": 0,
        "dashboard_silence": 0,
        "dashboard_epoch": 0,
        "dashboard_ownershipevent": 0,
        "dashboard_session": 2,
    }
    assert AuditEntry.objects.get().at == ago(39)
    assert set(Session.objects.values_list("pk", flat=True)) == {"open"}


def test_alerts_go_some_days_after_they_closed_and_open_ones_stay() -> None:
    channel = made_channel()
    open_for_long = made_alert(None, "a", minutes=900 * 24 * 60)
    over = made_alert(None, "b", "c", minutes=900 * 24 * 60, closed_at=ago(91))
    recent = made_alert(None, "d", minutes=900 * 24 * 60, closed_at=ago(89))
    for alert in (open_for_long, over, recent):
        made_message(alert, channel)
    for days in (89, 91):
        made_message(None, channel, what="test", made_at=ago(days))
        made_silence(starts_at=ago(120), ends_at=ago(days))
    gone = expire_rows(NOW)
    assert gone["dashboard_alertmessage"] == 2
    assert gone["dashboard_alertsubject"] == 2
    assert (gone["dashboard_alert"], gone["dashboard_silence"]) == (1, 1)
    assert set(Alert.objects.all()) == {open_for_long, recent}


def test_the_epoch_at_the_beginning_of_the_kept_days_stays(east: Cluster) -> None:
    epoch(east, 1, began=90, ended=80)
    epoch(east, 2, began=80, ended=34)
    epoch(east, 3, began=34, ended=None)
    epoch(east, 1, began=900, ended=None, group="stable for years")
    expire_rows(NOW)
    assert numbers() == [1, 2, 3]
    assert Epoch.objects.filter(group="g").count() == 2


def test_one_left_open_by_a_killed_collector_ends_with_the_next(east: Cluster) -> None:
    epoch(east, 1, began=90, ended=None)
    epoch(east, 2, began=80, ended=None)
    epoch(east, 3, began=34, ended=None)
    expire_rows(NOW)
    assert numbers() == [2, 3]


def test_changes_of_hands_stay_as_long_as_their_epoch(east: Cluster) -> None:
    epoch(east, 1, began=90, ended=80)
    epoch(east, 2, began=80, ended=34)
    gone, kept = event(east, 85), event(east, 79)
    event(east, 79, group="of no epoch that is kept")
    young = event(east, 1, group="of no epoch that is kept")
    assert expire_rows(NOW)["dashboard_ownershipevent"] == 2
    left = set(OwnershipEvent.objects.values_list("pk", flat=True))
    assert gone.pk not in left
    assert left == {kept.pk, young.pk}


def test_a_restless_group_keeps_its_newest(
    east: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retention, "MOST_OF_A_GROUP", 3)
    for number in range(1, 6):
        epoch(east, number, began=10 - number, ended=9 - number)
        event(east, 10 - number)
    epoch(east, 6, began=4, ended=None)
    epoch(east, 1, began=9, ended=8, group="calm")
    event(east, 9, group="calm")
    expire_rows(NOW)
    assert sorted(Epoch.objects.filter(group="g").values_list("number", flat=True)) == [
        *(3, 4, 5, 6)
    ]
    kept = OwnershipEvent.objects.filter(group="g").values_list("at_by", flat=True)
    assert sorted(kept) == [ago(7), ago(6), ago(5)]
    assert Epoch.objects.filter(group="calm").count() == 1
    assert OwnershipEvent.objects.filter(group="calm").count() == 1


def test_pages_read_fewer_than_are_kept_of_a_group() -> None:
    assert max(MOST_EVENTS, MOST_EPOCHS) < retention.MOST_OF_A_GROUP


def test_an_undo_outlives_the_change_that_it_undid(east: Cluster) -> None:
    group = ManagedGroup.objects.create(cluster=east, name="g")
    values = {"group": group, "before": {}, "after": {}, "revision": 1}
    old = GroupChange.objects.create(at=ago(41), **values)
    undo = GroupChange.objects.create(at=ago(1), undo_of=old, **values)
    expire_rows(NOW)
    assert list(GroupChange.objects.values_list("pk", "undo_of")) == [(undo.pk, None)]


def test_rows_go_in_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retention, "BATCH", 2)
    monkeypatch.setattr(retention, "MOST_AT_ONCE", 6)
    for _ in range(7):
        AuditEntry.objects.create(at=ago(41), actor_name="olga", action="a.b")
    with CaptureQueriesContext(connection) as queries:
        assert expire_rows(NOW)["dashboard_auditentry"] == 6
    deletes = [q["sql"] for q in queries if q["sql"].startswith("DELETE")]
    assert len(deletes) == 3
    assert expire_rows(NOW)["dashboard_auditentry"] == 1


def test_beat_asks_for_it_every_hour(given_time: GivenTime) -> None:
    entry = app.conf.beat_schedule["expire-rows"]
    assert entry["task"] == tasks.expire_old_rows.name
    assert entry["schedule"] == 3600
    assert set(tasks.expire_old_rows()) == {r.model._meta.db_table for r in RULES}
    given_time.settled = False
    assert tasks.expire_old_rows() == {}
