"""What the campaign of silences takes for false, and what for marked."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from benchmarks.seven_groups import Hold
from benchmarks.silence.campaign import Result, report
from benchmarks.silence.judging import Fault, Judge, is_whole, says_silence
from benchmarks.silence.truth import Bounds, Course, Silence, Truth
from benchmarks.silence.watching import Naming, updated
from tests.support.delaying import DelayingProxy
from tests.support.ports import LOOPBACK, free_port

BROKERS = ("broker-a", "broker-b")
TOPIC = "t_g_slow"
KEYS = [(TOPIC, broker, number) for broker in BROKERS for number in range(8)]
MEMBERS = 2
AT = 100_000
FIRST = 10


@pytest.fixture
def truth() -> Truth:
    """Each queue's end at 100, 60 committed, read each second; two members."""
    found = Truth(connections=((0, "g_slow", MEMBERS),))
    for second in range(0, 200_000, 1_000):
        for key in KEYS:
            found.read_max(key, second, second + 10, 100)
            found.read_committed("g_slow", key, second, second + 10, 60)
    found.holds = [
        Hold("g_slow", f"g_slow-{number}", f"c{number}", FIRST, frozenset(part))
        for number, part in enumerate((KEYS[:8], KEYS[8:]))
    ]
    return found


@pytest.fixture
def judge(truth: Truth) -> Judge:
    return Judge(truth, BROKERS, 5_000)


def queue(key: tuple[str, str, int], **values: Any) -> dict[str, Any]:
    owner = "c0" if key in KEYS[:8] else "c1"
    numbers = {"min": 0, "max": 100, "committed": 60, "lag": 40, "last": None}
    place = dict(zip(("topic", "broker", "queue_id"), key, strict=True))
    known = {"owners": [owner], "owner_source": "reported", "unknown": {}}
    return {**place, **numbers, **known, **values}


def document(**values: Any) -> dict[str, Any]:
    totals = {"lag": 640, "lag_partial": False, "members": MEMBERS}
    brokers = [{"name": name, "answered": True, "age_ms": 0} for name in BROKERS]
    return {
        "run": "r",
        "seq": 1,
        "group": "g_slow",
        "taken_at": AT,
        "kind": "owned",
        "brokers": brokers,
        "queues": [queue(key) for key in KEYS],
        "totals": totals,
        "findings": [],
        "complete": True,
        "held": None,
        **values,
    }


def kinds(faults: list[Fault]) -> list[str]:
    return sorted({fault.what for fault in faults})


def test_what_is_true_is_no_fault(judge: Judge) -> None:
    assert judge.group(document()) == []
    assert is_whole(document())


@pytest.mark.parametrize("name", ["max", "committed", "lag"])
def test_a_number_that_cannot_have_been_true(judge: Judge, name: str) -> None:
    rows = [queue(KEYS[0], **{name: 1}), *map(queue, KEYS[1:])]
    assert kinds(judge.group(document(queues=rows))) == [f"{name} of broker-a/0"]
    # A mark excuses a part of a sum, not a number that stands for now.
    marked = document(queues=rows, complete=False)
    assert kinds(judge.group(marked)) == [f"{name} of broker-a/0"]
    unknown = [queue(KEYS[0], **{name: None}), *map(queue, KEYS[1:])]
    assert judge.group(document(queues=unknown)) == []


def test_half_of_the_group_as_if_it_were_all(judge: Judge) -> None:
    half = {"lag": 320, "lag_partial": False, "members": MEMBERS}
    shown = document(
        queues=[queue(key) for key in KEYS[:8]],
        totals=half,
        brokers=document()["brokers"][:1],
    )
    assert kinds(judge.group(shown)) == ["brokers", "lag", "queues"]
    rest = [queue(key, max=None, committed=None, lag=None) for key in KEYS[8:]]
    told = document(
        queues=[*map(queue, KEYS[:8]), *rest],
        totals={**half, "lag_partial": True},
        complete=False,
    )
    assert judge.group(told) == []
    assert not is_whole(told)


def test_what_is_stale_must_have_been_true_then(judge: Judge) -> None:
    def shown(committed: int) -> list[Fault]:
        last = {"at": AT - 20_000, "max": 100, "committed": committed, "lag": 40}
        row = queue(KEYS[0], max=None, committed=None, lag=None, last=last)
        return judge.group(document(queues=[row, *map(queue, KEYS[1:])]))

    assert shown(60) == []
    assert kinds(shown(99)) == ["committed of broker-a/0"]


def test_owners_are_those_who_held_it(judge: Judge) -> None:
    rows = [queue(KEYS[0], owners=["c1"]), queue(KEYS[1], owners=[])]
    rows += map(queue, KEYS[2:])
    wrong = ["owner of broker-a/0", "owner of broker-a/1"]
    assert kinds(judge.group(document(queues=rows))) == wrong
    assert judge.group(document(queues=rows, held={"as_of": 1, "until": 2})) == []


def test_members_and_findings(judge: Judge) -> None:
    totals = {**document()["totals"], "members": 1}
    assert kinds(judge.group(document(totals=totals))) == ["members"]
    found = [{"key": "idle_members"}, {"key": "shared_client_id"}]
    assert kinds(judge.group(document(findings=found))) == ["findings"]


def test_a_silent_broker_has_not_answered(judge: Judge, truth: Truth) -> None:
    truth.silences.append(Silence("broker-a", AT - 30_000, AT + 30_000))
    assert kinds(judge.group(document())) == ["broker-a answered"]
    brokers = [
        {"name": "broker-a", "answered": False, "age_ms": 31_000},
        {"name": "broker-b", "answered": True, "age_ms": 0},
    ]
    assert judge.group(document(brokers=brokers)) == []
    overview = {"error": None, "brokers": brokers}
    assert says_silence(overview, "broker-a")
    assert not says_silence(overview, "broker-b")


def test_bounds_reach_from_the_reading_before_to_the_one_after() -> None:
    course = Course()
    for at, value in ((0, 5), (10, 5), (20, 5), (30, 8), (90, 9)):
        course.add(at, at + 1, value)
    assert course.between(5, 15) == Bounds(5, 5)
    assert course.between(25, 28) == Bounds(5, 8)
    assert course.between(40, 80) == Bounds(8, 9)
    assert course.between(85, 95) is None
    assert course.between(-5, 5) is None


def test_holders_over_a_span(truth: Truth) -> None:
    later = Hold("g_slow", "g_slow-0", "c0", 50_000, frozenset())
    truth.holds = sorted([*truth.holds, later], key=lambda each: each.at_ms)
    assert truth.holders("g_slow", KEYS[0], 20_000, 40_000) == {"c0"}
    assert truth.holders("g_slow", KEYS[0], 45_000, 55_000) == {"c0", ""}
    assert truth.holders("g_slow", KEYS[0], 60_000, 70_000) == {""}


def test_an_update_is_put_into_the_document() -> None:
    changed = queue(KEYS[0], lag=41)
    keys = [f"{topic}|{broker}|{number}" for topic, broker, number in KEYS[:2]]
    update = {
        "run": "r",
        "seq": 2,
        "changes": {"kind": "x", "queues": {keys[0]: changed, keys[1]: None}},
    }
    after = updated(document(), update)
    assert (after["seq"], after["kind"], len(after["queues"])) == (2, "x", 15)
    assert after["queues"][0]["lag"] == 41


def test_the_table_and_its_exit_code(capsys: pytest.CaptureFixture[str]) -> None:
    good = Result(1, "stop-a", 90.0, 4.0, 3.0)
    late = Result(2, "stop-a", 90.0, 4.0, 9.0)
    false = Result(1, "stop-b", 90.0, None, 3.0, 9, [Fault(1, "g", "lag", 4, "8 to 9")])
    assert report([good], 5.0) == 0
    assert report([good, late], 5.0) == 1
    assert report([false], 5.0) == 1
    assert "lag is shown as 4, true is 8 to 9" in capsys.readouterr().out


def test_a_broker_that_is_dropped_is_named_from_its_return_on() -> None:
    naming = Naming(BROKERS)
    assert naming.all_since() is None
    naming.read(BROKERS, 1_000)
    naming.read(BROKERS, 2_000)
    assert naming.all_since() == 1_000
    naming.read(["broker-a"], 3_000)
    assert naming.all_since() is None
    naming.read(BROKERS, 9_000)
    assert (naming.all_since(), naming.read_ms) == (9_000, 9_000)


async def test_a_proxy_holds_answers_back_and_lets_them_go(tmp_path: Path) -> None:
    async def answer(
        reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        answering.append(asyncio.current_task())
        try:
            while data := await reader.read(100):
                writer.write(data.upper())
        finally:
            writer.close()

    answering: list[asyncio.Task[None] | None] = []
    server = await asyncio.start_server(answer, LOOPBACK, 0)
    target = ":".join(map(str, server.sockets[0].getsockname()))
    listen = f"{LOOPBACK}:{free_port()}"
    with DelayingProxy(listen, target, log=tmp_path / "log") as proxy:
        reader, writer = await asyncio.open_connection(*listen.split(":"))
        writer.write(b"one")
        assert await reader.readexactly(3) == b"ONE"
        await asyncio.to_thread(proxy.delay, 3600)
        writer.write(b"two")
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(reader.readexactly(1), 0.2)
        await asyncio.to_thread(proxy.delay, 0)
        other, more = await asyncio.open_connection(*listen.split(":"))
        more.write(b"three")
        assert await other.readexactly(5) == b"THREE"
        for each in (writer, more):
            each.close()
            await each.wait_closed()
    await asyncio.gather(*filter(None, answering), return_exceptions=True)
    server.close()
