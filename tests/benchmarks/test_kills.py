"""What the campaign of kills takes for wrong and for lost, and a kill of each kind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any, cast

import pytest

from benchmarks.kills import campaign
from benchmarks.kills.__main__ import report, run
from benchmarks.kills.campaign import Campaign, Result
from benchmarks.kills.history import Epoch, Event, epochs_apart, events_apart
from benchmarks.kills.kinds import KINDS, WARM, Victim, order_of
from benchmarks.kills.looking import MOVED, Since, at_rest
from benchmarks.kills.messages import (
    Acknowledged,
    Consumed,
    missing_in_log,
    never_consumed,
)
from benchmarks.kills.surroundings import Surroundings
from benchmarks.kills.truth import (
    Truth,
    faults_of_group,
    faults_of_overview,
    faults_of_timeline,
)
from benchmarks.kills.verdict import Losses, goals, table
from benchmarks.kills.writes import Seen, Write, lost_writes, wishes_apart
from benchmarks.usage import began
from rmqcore.model import MessageQueue
from tests.dashboard.collector import sights
from tests.support.process import Process

QUEUE = ("broker-a", 3)
KEYS = [("kills", "broker-a", number) for number in range(2)]
TRUTH = Truth(
    frozenset({"one", "two"}), dict(zip(KEYS, (("one",), ("two",)), strict=True))
)
SINCE_MS = 1000


def document(**changes: Any) -> dict[str, Any]:
    queues = [
        {"topic": t, "broker": b, "queue_id": q, "owners": list(TRUTH.owners[t, b, q])}
        for t, b, q in KEYS
    ]
    return {
        "taken_at": SINCE_MS + 1,
        "members": [{"client_id": "one"}, {"client_id": "two"}],
        "queues": queues,
        "brokers": [{"name": "broker-a", "answered": True}],
        "findings": [],
        **changes,
    }


def row(**changes: Any) -> dict[str, Any]:
    return {"group": "kills", "members": 2, "queues": 2, **changes}


def overview(**changes: Any) -> dict[str, Any]:
    brokers = [{"name": "broker-a", "answered": True}]
    whole = {"taken_at": SINCE_MS + 1, "brokers": brokers, "groups": [row()]}
    return {**whole, **changes}


def test_each_kind_has_its_share_and_the_seed_decides() -> None:
    order = order_of(23, list(KINDS), Random(4))
    assert set(Counter(order).values()) == {2, 3}
    assert order == order_of(23, list(KINDS), Random(4))
    assert order != order_of(23, list(KINDS), Random(5))


def test_a_child_that_outlives_its_parent_is_left_over(tmp_path: Path) -> None:
    child = Process([sys.executable, "-c", "input()"], log=tmp_path / "log", piped=True)
    victim = Victim("analytics", 0, ((child.pid, began(child.pid)),))
    try:
        assert victim.left_over([]) == [child.pid]
        assert victim.left_over([child.pid]) == []
        os.kill(child.pid, signal.SIGKILL)
        child.wait(60)
        assert victim.left_over([]) == []
    finally:
        child.kill()


def test_a_child_that_had_ended_before_the_kill_is_not_left_over() -> None:
    child = subprocess.Popen([sys.executable, "-c", ""])
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    victim = Victim("web", 0, ((child.pid, began(child.pid)),))
    assert victim.left_over([]) == []
    child.wait()


def test_what_is_true_and_of_now_is_no_fault() -> None:
    assert not list(faults_of_group(document(), TRUTH, SINCE_MS))
    assert not list(faults_of_overview(overview(), {"kills": TRUTH}, SINCE_MS))
    assert not list(TRUTH.unsettled(2))


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"taken_at": SINCE_MS}, "from before"),
        ({"complete": False}, "not of now"),
        ({"brokers": [{"name": "broker-a", "answered": False}]}, "not of now"),
        ({"members": [{"client_id": "one"}]}, "members"),
        ({"queues": document()["queues"][:1]}, "1 queues, true 2"),
        (
            {"queues": [{**each, "owners": ["one"]} for each in document()["queues"]]},
            "owners of 1",
        ),
        ({"findings": [{"key": "gone"}]}, "gone"),
    ],
)
def test_what_is_wrong_with_a_group(changes: dict[str, Any], told: str) -> None:
    (fault,) = faults_of_group(document(**changes), TRUTH, SINCE_MS)
    assert told in fault


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"taken_at": SINCE_MS}, "from before"),
        ({"error": "no name server"}, "no name server"),
        ({"groups": []}, "not listed"),
        ({"groups": [row(as_of=5)]}, "not of now"),
        ({"groups": [row(members=1)]}, "1 members"),
        ({"nameservers": [{"answered": False}]}, "name server"),
    ],
)
def test_what_is_wrong_with_the_list(changes: dict[str, Any], told: str) -> None:
    found = faults_of_overview(overview(**changes), {"kills": TRUTH}, SINCE_MS)
    (fault,) = found
    assert told in fault


def test_a_timeline_names_the_holders_of_now() -> None:
    def lanes(second: str) -> dict[str, Any]:
        held = (["gone", [1, 2]], ["one", None]), ([second, None],)
        return {
            "lanes": [
                {"queue": key, "held": [{"owner": o, "end": e} for o, e in pieces]}
                for key, pieces in zip(KEYS, held, strict=True)
            ]
        }

    assert not list(faults_of_timeline(lanes("two"), TRUTH))
    assert list(faults_of_timeline(lanes("one"), TRUTH))


def test_a_group_is_settled_when_all_are_there_and_hold() -> None:
    assert list(TRUTH.unsettled(3))
    assert list(Truth(TRUTH.members, {KEYS[0]: (), KEYS[1]: ("two",)}).unsettled(2))
    assert list(Truth(TRUTH.members, {}).unsettled(2))


def test_what_moves_while_it_is_looked_at_is_compared_again() -> None:
    before, faults = {"kills": TRUTH}, {"page": "the owners are not the true ones"}
    moved = {"kills": replace(TRUTH, members=frozenset({"one"}))}
    assert at_rest(faults, before, before) == faults
    assert at_rest({}, before, before) == {}
    assert list(at_rest(faults, before, moved)) == [MOVED]
    assert list(at_rest(faults, before, None)) == [MOVED]


def test_looks_are_brief_until_it_matters_all_that_is_wrong(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now, looks = [0.0], []

    def look(_: object, __: object, *, brief: bool) -> dict[str, str]:
        looks.append(brief)
        return {"a": ""} if brief else {"a": "", "b": ""} if now[0] < 60 else {}

    def sleep(seconds: float) -> None:
        now[0] += seconds

    clock = SimpleNamespace(monotonic=lambda: now[0], sleep=sleep)
    monkeypatch.setattr(campaign, "time", clock)
    monkeypatch.setattr(campaign, "look", look)
    made = Campaign(cast(Any, None), ["web"], 1, 1, pause_s=10.0)
    assert made._until_right(Since()) == (60.0, {"a": "", "b": ""})
    assert looks == [True] * 4 + [False] * 3


def test_members_that_no_broker_lists_are_no_members() -> None:
    gone = replace(sights.member("two"), missing_since_ms=SINCE_MS)
    assert Truth.of(
        sights.group(sights.table(KEYS), [sights.member("one"), gone])
    ).members == {"one"}


def test_messages_that_are_not_where_they_were_put_are_lost() -> None:
    sent = [Acknowledged(number, (QUEUE, number), 0) for number in range(3)]
    log = {(QUEUE, 0): 0, (QUEUE, 1): 7}
    assert missing_in_log(sent, log) == sent[1:]


def test_offsets_and_messages_are_held_to_the_fleets_logs(tmp_path: Path) -> None:
    log = tmp_path / "fleet-1.log"
    line = (
        "2026-01-02 03:04:05,250 INFO dashboard.fleet.listeners topic=kills "
        "broker=broker-a queue=3 offset={} keys= bytes=3\n"
    )
    log.write_text(line.format(0) + line.format(2))
    consumed = Consumed([log], "kills")
    consumed.read()
    sent = [Acknowledged(number, (QUEUE, number), 0) for number in range(3)]
    assert never_consumed(sent, consumed) == [sent[1]]
    queue = MessageQueue("kills", *QUEUE)
    assert consumed.ahead({queue: 1}) == []
    assert consumed.ahead({queue: 2}) == [f"{QUEUE}: 2 is committed, consumed to 1"]
    with log.open("a") as more:
        more.write(line.format(1))
    consumed.read()
    assert consumed.ahead({queue: 3}) == []
    assert never_consumed(sent, consumed) == []


def entry(**changes: Any) -> dict[str, Any]:
    plain = {"target": "kills", "action": "member.add", "reason": "", "details": {}}
    return {**plain, **changes}


def test_runs_of_labs_that_are_kept_no_longer_are_not_lost() -> None:
    made = [Write("lab", f"lab {number}", 0, number) for number in range(25)]
    states = {("lab", number): "done" for number in range(6, 25)}
    seen = Seen([], frozenset(), frozenset(), states)
    assert lost_writes(made, seen) == [(made[5], "is not there")]


def test_acknowledged_writes_have_to_be_there_and_in_the_audit() -> None:
    writes = [
        Write("scenario", "s", 1),
        Write("members", "m", 2),
        Write("switch", "w", 3, 5),
        Write("report", "r", 4, 9),
    ]
    audit = [
        entry(details={"scenario": "s"}),
        entry(reason="m"),
        entry(reason="w"),
    ]
    whole = Seen(audit, frozenset({"s"}), frozenset({5}), {("report", 9): "failed"})
    assert lost_writes(writes, whole) == []
    bare = Seen([], frozenset(), frozenset(), {("report", 9): "queued"})
    lost = [(each.name, what) for each, what in lost_writes(writes, bare)]
    assert lost == [
        ("s", "is not there"),
        ("s", "is not in the audit"),
        ("m", "is not in the audit"),
        ("w", "is not in the audit"),
        ("r", "is queued"),
    ]


def test_a_group_is_as_the_newest_entries_say() -> None:
    audit = [
        entry(details={"members": 4}),
        entry(action="strategy.switch", details={"to": ["AVG", 4]}),
        entry(details={"members": 3}),
    ]
    hosted = {"name": "kills", "members_wanted": 4, "strategy": "AVG"}
    assert wishes_apart(audit, hosted) == []
    apart = wishes_apart(audit, {**hosted, "members_wanted": 3, "strategy": "x"})
    assert len(apart) == 2


def epoch(number: int, began_by: str, ended_by: str | None) -> Epoch:
    return Epoch(
        "kills", number, TRUTH.members, frozenset(TRUTH.owners), began_by, ended_by
    )


def test_epochs_follow_each_other_up_to_now() -> None:
    good = [epoch(1, "10:00", "10:05"), epoch(2, "10:05", None)]
    assert not list(epochs_apart(good, {"kills": TRUTH}))
    open_twice = [epoch(1, "10:00", None), epoch(2, "10:05", None)]
    assert len(list(epochs_apart(open_twice, {"kills": TRUTH}))) == 1
    overlapping = [epoch(1, "10:00", "10:06"), epoch(3, "10:05", "10:07")]
    assert len(list(epochs_apart(overlapping, {"kills": TRUTH}))) == 3
    other = Truth(frozenset({"one"}), TRUTH.owners)
    assert len(list(epochs_apart(good, {"kills": other}))) == 1


def test_changes_of_hands_follow_from_each_other_up_to_now() -> None:
    taken = Event("kills", KEYS[0], "taken", (), ("two",))
    moved = Event("kills", KEYS[0], "moved", ("two",), ("one",))
    assert not list(events_apart([taken, moved], {"kills": TRUTH}))
    assert len(list(events_apart([moved, moved], {"kills": TRUTH}))) == 1
    assert len(list(events_apart([taken], {"kills": TRUTH}))) == 1


def test_the_table_and_the_goals() -> None:
    results = [
        Result(1, "web", right_s=4.0),
        Result(2, "web", right_s=41.0, wrong={"/": "503"}),
        Result(3, "beat"),
    ]
    losses = Losses(lost=[(2, "message 5")])
    beat, web, everything = table(results, losses)[1:]
    assert beat.split()[:6] == ["beat", "1", "never", "never", "0", "0"]
    assert web.split() == ["web", "2", "22.5", "s", "41.0", "s", "1", "0", "1"]
    assert everything.split()[0] == "all"
    assert [goal.found for goal in goals(results, losses)] == [0, 1, 1, 1, 0, 0, 0]
    assert report(results[:1], Losses()) == 0
    assert report(results, losses) == 1
    assert report([], Losses()) == 1


@pytest.mark.embedded
@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_a_kill_of_each_kind_loses_nothing(tmp_path: Path) -> None:
    kinds = [kind for kind in KINDS if kind not in WARM and kind != "postgresql"]
    surroundings = Surroundings(tmp_path, postgresql=False, rate=5.0, quiet=True)
    # With this seed the lake has time to tell of the collector's kill, as it is the
    # first, and a lab is played when the fleet is killed.
    results, losses = run(
        surroundings,
        kinds,
        kills=len(kinds),
        seed=86,
        lasts_s=900,
        reports=False,
        relapses=False,
        pause_s=1.0,
        lake_s=40,
    )
    assert {each.kind for each in results} == set(kinds)
    assert losses.messages
    assert losses.writes["scenario"]
    assert losses.accounts
    assert not losses.lost
    assert not losses.contradictions
    assert not [each for each in results if each.right_s is None or each.ahead]
