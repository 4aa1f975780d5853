"""A month of looks, changes, sign-ins and reports leaves what its last days left."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

import pytest

from dashboard.accounts.links import make_sign_in_token
from dashboard.clock.ticks import Tick
from dashboard.collector.epochs import EpochBook, EpochMember, Membership
from dashboard.collector.handovers import Handover
from dashboard.collector.records import (
    GroupHandover,
    save_ends,
    save_handovers,
    save_turns,
)
from dashboard.fleet.claims import register_worker
from dashboard.fleet.runs import remove_old_runs, save_runs, skipped_run
from dashboard.jobs.retention import expire_rows
from dashboard.models import (
    AuditEntry,
    Cluster,
    Epoch,
    FleetWorker,
    GroupChange,
    JobRun,
    ManagedGroup,
    OwnershipEvent,
    ReportFile,
    Session,
    SignInLink,
    TimerRun,
    User,
)
from dashboard.models.audit import SIGN_IN, record
from dashboard.reports.retention import expire_reports
from tests.dashboard.collector.sights import keys

pytestmark = pytest.mark.django_db

BEGIN: Final = datetime(2026, 1, 1, tzinfo=UTC)
STEP: Final = timedelta(hours=6)
STEPS_A_DAY: Final = 4
AUDIT_DAYS, EPOCH_DAYS, IDLE_DAYS, REPORT_DAYS = 5, 3, 2, 4
MODELS: Final = (
    *(AuditEntry, GroupChange, Epoch, OwnershipEvent, Session, SignInLink),
    *(JobRun, ReportFile, TimerRun, FleetWorker),
)


class Clock:
    """The time that everything is written and removed by."""

    def __init__(self) -> None:
        self.at = BEGIN

    def now(self) -> datetime:
        return self.at


class Life:
    """What happens in every step, written by what writes it in the program."""

    def __init__(self, clock: Clock, lake: Path) -> None:
        self._clock = clock
        self._lake = lake
        self._cluster = Cluster.objects.create(name="east")
        self._hosted = ManagedGroup.objects.create(cluster=self._cluster, name="g")
        self._olga = User.objects.create(username="olga")
        self._book = EpochBook()
        self._steps = 0

    def step(self) -> None:
        """Let six hours pass, and remove what is over."""
        self._steps += 1
        self._clock.at += STEP
        now = self._clock.at
        self._look(round(now.timestamp() * 1000))
        self._act(now)
        self._report(now)
        slot = self._steps
        save_runs("w", [skipped_run(Tick("pull", slot, now.timestamp(), "beat"), 0.0)])
        remove_old_runs(round(now.timestamp() * 1000))
        register_worker(f"fleet@{slot}", host="h", pid=slot, started_at=now, now=now)
        expire_reports(now)
        expire_rows(now)

    def _look(self, at_ms: int) -> None:
        """A member comes or goes, and a group is there for this one look."""
        members = tuple(map(EpochMember, ("c1", "c2")[: 1 + self._steps % 2]))
        visitor, name = EpochBook(), f"console-{self._steps}"
        for group, book in (("g", self._book), (name, visitor)):
            turn = book.observe(Membership(members, keys(2)), (), at_ms)
            assert turn is not None
            save_turns(self._cluster.pk, [(group, turn)])
        ended = visitor.end((), at_ms + 1000)
        assert ended is not None
        save_ends(self._cluster.pk, [(name, ended)])
        moved = Handover(
            kind="moved",
            key=keys(2)[0],
            before=("c1",),
            after=("c2",),
            after_ms=None,
            by_ms=at_ms,
        )
        save_handovers(
            self._cluster.pk,
            [GroupHandover(each, None, moved) for each in ("g", name)],
        )

    def _act(self, now: datetime) -> None:
        record(self._olga, SIGN_IN, address="10.0.0.1")
        Session.objects.create(
            session_key=f"key-{self._steps}",
            user=self._olga,
            signed_in_at=now,
            last_seen_at=now,
            expire_date=now + timedelta(days=30),
        )
        make_sign_in_token(self._olga, now)
        GroupChange.objects.create(
            group=self._hosted, at=now, before={}, after={}, revision=self._steps
        )

    def _report(self, now: datetime) -> None:
        run = JobRun.objects.create(
            job="report",
            cluster="east",
            group="g",
            since=now - STEP,
            until=now,
            asked_at=now,
            state=JobRun.State.DONE,
            keep_until=now + timedelta(days=REPORT_DAYS),
        )
        ReportFile.objects.create(run=run, format="csv", made_at=now)
        folder = self._lake / "results" / run.folder
        folder.mkdir(parents=True)
        (folder / "numbers.parquet").write_bytes(b"x" * 100)


def counts(lake: Path) -> Counter[str]:
    found = {model.__name__: model._default_manager.count() for model in MODELS}
    return Counter(found | {"results": len(list((lake / "results").iterdir()))})


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch, settings: Any) -> Clock:
    clock = Clock()
    monkeypatch.setattr("dashboard.models.audit.timezone", clock)
    settings.ROCKETSCOPE_AUDIT_DAYS = AUDIT_DAYS
    settings.ROCKETSCOPE_EPOCH_DAYS = EPOCH_DAYS
    settings.ROCKETSCOPE_SESSION_DAYS = (IDLE_DAYS, 30)
    return clock


def test_a_month_leaves_what_its_last_days_left(
    clock: Clock, settings: Any, tmp_path: Path
) -> None:
    settings.ROCKETSCOPE_LAKE_URL = str(tmp_path)
    life = Life(clock, tmp_path)
    at_noon: list[Counter[str]] = []
    for _day in range(30):
        for _step in range(STEPS_A_DAY):
            life.step()
        at_noon.append(counts(tmp_path))
    last = at_noon[-1]
    # Nothing was removed before its time, and nothing was kept after it.
    assert at_noon[0]["AuditEntry"] == 2 * STEPS_A_DAY
    for each in at_noon[2 * AUDIT_DAYS :]:
        assert each == last
    days = {
        # Each step has a sign-in, a link that is made and a report that goes.
        "AuditEntry": (AUDIT_DAYS, 3),
        "GroupChange": (AUDIT_DAYS, 1),
        "Epoch": (EPOCH_DAYS, 2),
        "OwnershipEvent": (EPOCH_DAYS, 2),
        "Session": (IDLE_DAYS, 1),
        "SignInLink": (1, 1),
        "JobRun": (REPORT_DAYS, 1),
        "ReportFile": (REPORT_DAYS, 1),
        "results": (REPORT_DAYS, 1),
        "TimerRun": (1, 1),
    }
    for name, (kept_days, a_step) in days.items():
        due = kept_days * STEPS_A_DAY * a_step
        # The one at the edge may still be there, and an epoch that covers it.
        assert due <= last[name] <= due + 2 * a_step, name
    assert last["FleetWorker"] == 1


def test_without_retention_the_same_month_grows(
    clock: Clock, settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.ROCKETSCOPE_LAKE_URL = str(tmp_path)
    monkeypatch.setattr(f"{__name__}.expire_rows", lambda _now: {})
    life = Life(clock, tmp_path)
    for _step in range(10 * STEPS_A_DAY):
        life.step()
    found = counts(tmp_path)
    for name in ("AuditEntry", "GroupChange", "Epoch", "OwnershipEvent", "Session"):
        assert found[name] >= 10 * STEPS_A_DAY, name
