"""What-if against what comes true: saved scenarios applied to a running fleet.

Each scenario is saved and applied in the stack's surroundings; the members' own
reports, as the collector gathers them, must then be the division that was predicted.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final
from urllib.parse import urlencode

import pytest

from dashboard.wording.ranges import from_ranges
from tests.support.stack import CLUSTER, GROUP, Stack

pytestmark = [pytest.mark.embedded, pytest.mark.slow, pytest.mark.timeout(1800)]

APPLY: Final = """
import json, sys
from dashboard.models import Cluster, ManagedGroup, User
from dashboard.live.reading import read_group
from dashboard.switching.reads import preview_of
from dashboard.whatif.writes import save_scenario
from dashboard.switching.writes import apply_change
cluster, name, query = sys.argv[1:]
olga, _made = User.objects.get_or_create(username="olga", role="operator")
saved = save_scenario(
    olga, cluster=Cluster.objects.get(name=cluster), group=name,
    name=query[:100], query=query, shared=True,
)
query = saved.query + ("&show=" + saved.show if saved.show else "")
state = read_group(cluster, name).document
group = ManagedGroup.objects.get(name=name)
preview = preview_of(state, group, query)
change = apply_change(
    olga, state, query, show=preview.row, token=preview.token, reason="test",
    scenario=saved,
)
print(json.dumps({"change": change.pk, "predicted": change.predicted}))
"""

UNDO: Final = """
import sys
from dashboard.models import GroupChange, User
from dashboard.switching.writes import undo_change
for change in sys.argv[1:]:
    undo_change(
        User.objects.get(username="olga"), GroupChange.objects.get(pk=int(change)),
        reason="back",
    )
"""


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    running = Stack(tmp_path_factory.mktemp("stack"))
    try:
        running.start()
        running.want_members(3)
        at_rest(running)
        yield running
    finally:
        running.stop()


def settled(stack: Stack) -> list[str]:
    """Return the members once those wanted and those present are the same."""
    wanted = stack.rows("select client_id from dashboard_managedmember where wanted")
    document = stack.group()
    present = sorted(m["client_id"] for m in document["members"]) if document else []
    return present if present == sorted(row[0] for row in wanted) else []


def at_rest(stack: Stack) -> None:
    """Wait until the three members wanted hold what AVG gives them.

    A member that one worker hands over to another comes back under a new client id, so
    both workers must have their share.
    """
    stack.until(
        lambda: (
            len(settled(stack)) == 3
            and hosted(stack) == [1, 2]
            and sorted(stack.owned().values()) == [5, 5, 6]
        ),
        "three members are there and divide all queues",
    )


def hosted(stack: Stack) -> list[int]:
    """Return how many members each worker that has any hosts, ascending."""
    counts = "select count(*) from dashboard_managedmember where worker <> ''"
    return sorted(row[0] for row in stack.rows(f"{counts} group by worker"))


def reported(stack: Stack) -> dict[str, list[tuple[str, str, int]]]:
    """Return the queues that each member says it holds."""
    document = stack.group()
    held: dict[str, list[tuple[str, str, int]]] = {}
    for member in document["members"] if document else ():
        held[member["client_id"]] = []
    for queue in document["queues"] if document else ():
        for owner in queue["owners"] if queue["owner_source"] == "reported" else ():
            key = (queue["topic"], queue["broker"], queue["queue_id"])
            held.setdefault(owner, []).append(key)
    return {owner: sorted(queues) for owner, queues in held.items()}


def apply(stack: Stack, pairs: list[tuple[str, str]]) -> dict[str, Any]:
    query = urlencode([("v", "1"), *pairs])
    return dict(json.loads(stack.script(APPLY, CLUSTER, GROUP, query)))


def expected(applied: dict[str, Any]) -> dict[str, list[tuple[str, str, int]]]:
    return {
        client_id: sorted(
            (topic, broker, number)
            for topic, broker, ids in entries
            for number in from_ranges(ids)
        )
        for client_id, entries in applied["predicted"].items()
    }


def comes_true(stack: Stack, applied: dict[str, Any]) -> None:
    stack.until(
        lambda: reported(stack) == expected(applied),
        f"the members report {expected(applied)}",
    )


def rooms(stack: Stack) -> list[tuple[str, str]]:
    members = settled(stack)
    return [("C", f"{member}:{at % 2}") for at, member in enumerate(members)]


def test_what_is_predicted_comes_true_for_each_strategy(stack: Stack) -> None:
    members = settled(stack)
    nearby = [("s", "MACHINE_ROOM_NEARBY-AVG_BY_CIRCLE"), ("B", "broker-a:0")]
    for pairs in (
        [("s", "AVG_BY_CIRCLE")],
        [("s", "CONSISTENT_HASH"), ("n", "40")],
        [("show", "BALANCED"), ("w", "queues")],
        [*nearby, *rooms(stack)],
        [("s", "AVG")],
    ):
        comes_true(stack, apply(stack, pairs))
    stack.until(lambda: settled(stack) == members, "nobody had to leave its group")


def test_a_change_is_undone_while_members_follow_it(stack: Stack) -> None:
    at_rest(stack)
    before = reported(stack)
    first = apply(stack, [("s", "AVG_BY_CIRCLE")])
    second = apply(stack, [("s", "CONSISTENT_HASH"), ("n", "30")])
    stack.script(UNDO, str(second["change"]), str(first["change"]))
    stack.until(lambda: reported(stack) == before, f"the members report {before}")
    assert stack.rows("select strategy from dashboard_managedgroup") == [("AVG",)]


def test_what_is_predicted_comes_true_when_members_join_and_leave(stack: Stack) -> None:
    at_rest(stack)
    members = settled(stack)
    address = members[0].partition("@")[0]
    joining = [f"{address}@{GROUP}-{number}.1" for number in (4, 5)]
    applied = apply(
        stack,
        [
            ("s", "AVG_BY_CIRCLE"),
            *(("a", member) for member in joining),
            ("r", members[0]),
        ],
    )
    comes_true(stack, applied)
    assert set(expected(applied)) == {*members[1:], *joining}
    stack.script(UNDO, str(applied["change"]))
    at_rest(stack)
    rows = stack.rows("select strategy from dashboard_managedgroup")
    assert rows == [("AVG",)]
