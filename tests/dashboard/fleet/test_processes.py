"""The fleet as processes: workers killed and frozen, beat and the cache lost."""

from __future__ import annotations

import signal
from collections.abc import Iterator

import pytest
import redis

from tests.support.stack import Stack

pytestmark = [pytest.mark.embedded, pytest.mark.slow, pytest.mark.timeout(1800)]

HOSTS = """
    select worker, count(*) from dashboard_managedmember
    where worker <> '' and wanted group by worker
"""


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    stack = Stack(tmp_path_factory.mktemp("stack"))
    try:
        stack.start()
        yield stack
    finally:
        stack.stop()


@pytest.fixture
def stack(running: Stack) -> Stack:
    """The stack with everything alive and two members, one on each worker."""
    running.ensure("collector", "fleet-1", "fleet-2", "beat")
    running.want_members(2)
    running.until(
        lambda: sorted(hosts(running).values()) == [1, 1], "two workers host a member"
    )
    running.until(
        lambda: sorted(running.owned().values()) == [8, 8], "each member owns 8 queues"
    )
    return running


def hosts(stack: Stack) -> dict[str, int]:
    return {name.partition("@")[0]: count for name, count in stack.rows(HOSTS)}


def all_owned(stack: Stack) -> bool:
    return sum(stack.owned().values()) == 16


def labels(stack: Stack) -> list[str]:
    """Return the labels of the members shown, each without the number of its claim."""
    document = stack.group()
    members = document["members"] if document else ()
    return [member["label"].rpartition(".")[0] for member in members]


def test_members_added_are_shown_divided(stack: Stack) -> None:
    stack.want_members(3)
    stack.until(
        lambda: sorted(stack.owned().values()) == [5, 5, 6], "5, 5 and 6 queues"
    )
    names = [f"demo-consumers-{number}" for number in (1, 2, 3)]
    stack.until(lambda: labels(stack) == names, f"the members are {names}")
    document = stack.group()
    assert document is not None
    assert document["managed"]


def test_a_killed_workers_members_are_hosted_elsewhere(stack: Stack) -> None:
    stack.processes["fleet-1"].kill()
    stack.until(
        lambda: hosts(stack) == {"fleet-2": 2} and all_owned(stack),
        "the other worker hosts both and owns everything",
    )


def test_a_frozen_worker_wakes_as_nobodys_owner(stack: Stack) -> None:
    stack.signal("fleet-2", signal.SIGSTOP)
    stack.until(lambda: hosts(stack) == {"fleet-1": 2}, "the other worker hosts both")
    log = stack.processes["fleet-2"].log
    before = log.read_text().count("abandoned")
    stack.signal("fleet-2", signal.SIGCONT)
    stack.until(
        lambda: log.read_text().count("abandoned") > before, "it lets its member go"
    )
    stack.until(
        lambda: all_owned(stack) and len(labels(stack)) == 2,
        "everything is owned by the two who may",
    )


def test_each_worker_runs_each_slot_once_when_beat_asks(stack: Stack) -> None:
    runs = """
        select worker, slot, count(*), min(asked_by) from dashboard_timerrun
        where timer = 'persist_offsets' group by worker, slot
    """
    stack.until(
        lambda: (
            {row[0].partition("@")[0] for row in stack.rows(runs)}
            == {"fleet-1", "fleet-2"}
        ),
        "both workers recorded runs",
    )
    assert {row[2] for row in stack.rows(runs)} == {1}


def test_without_beat_workers_run_the_timers_themselves(stack: Stack) -> None:
    stack.processes["beat"].kill()
    ((last,),) = stack.rows("select max(id) from dashboard_timerrun")
    own = f"""
        select distinct worker from dashboard_timerrun
        where asked_by = 'worker' and id > {last or 0}
    """
    stack.until(
        lambda: (
            {row[0].partition("@")[0] for row in stack.rows(own)}
            == {"fleet-1", "fleet-2"}
        ),
        "both workers ran slots by themselves",
    )
    stack.until(lambda: all_owned(stack), "everything is owned")


def test_the_state_comes_back_after_the_cache_was_lost(stack: Stack) -> None:
    with redis.Redis(port=stack.valkey.port) as client:
        client.set("held", "before")
    stack.valkey.kill()
    stack.valkey.start()
    with redis.Redis(port=stack.valkey.port) as client:
        assert client.get("held") is None, "the new server holds nothing of the old"
    stack.until(
        lambda: sorted(stack.owned().values()) == [8, 8], "the group is shown again"
    )
    stack.want_members(1)
    stack.until(lambda: list(stack.owned().values()) == [16], "a wish is followed")


def test_a_stopped_worker_hands_its_members_over_at_once(stack: Stack) -> None:
    stack.signal("fleet-1", signal.SIGTERM)
    stack.until(
        lambda: hosts(stack) == {"fleet-2": 2} and all_owned(stack),
        "the other worker hosts both and owns everything",
    )
    assert stack.processes["fleet-1"].wait(60) == 0
