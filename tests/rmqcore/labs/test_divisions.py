import pytest

from rmqcore.labs.divisions import follows_rule
from rmqcore.labs.results import Division, Part
from rmqcore.model import MessageQueue

from .watching import watched

THREE = {"c1": [*range(6)], "c2": [*range(6, 11)], "c3": [*range(11, 16)]}
TWO = {"c1": [*range(8)], "c2": [*range(8, 16)]}


async def test_sixteen_queues_are_divided_anew_at_each_join_and_leave() -> None:
    result, _ = await watched("F5")
    seen = [(each.after, each.by_member) for each in result.evidence.divisions]
    assert seen == [
        ("c1 joined", {"c1": [*range(16)]}),
        ("c2 joined", TWO),
        ("c3 joined", THREE),
        ("c3 left", TWO),
        ("c2 left", {"c1": [*range(16)]}),
        ("restarted", THREE),
        ("c1 joined", {"c1": [0, 1]}),
        ("c2 joined", {"c1": [0], "c2": [1]}),
        ("c3 joined", {"c1": [0], "c2": [1], "c3": []}),
        ("c1 joined", {"c1": [0]}),
        ("c2 joined", {"c1": [0], "c2": []}),
    ]
    idle = [each.idle for each in result.evidence.divisions]
    assert [names for names in idle if names] == [["c3"], ["c2"]]
    assert result.seen
    assert result.finding == "idle_members"


@pytest.mark.parametrize(("first", "is_so"), [([0, 1], True), ([0], False)])
def test_a_division_is_held_against_the_rule(first: list[int], is_so: bool) -> None:
    queues = tuple(MessageQueue("T", "b", number) for number in range(3))
    rest = [queue.queue_id for queue in queues if queue.queue_id not in first]
    parts = tuple(
        Part(name, name, tuple(queues[number] for number in numbers))
        for name, numbers in (("c1", first), ("c2", rest))
    )
    assert follows_rule(Division("T", "", parts, queues)) is is_so
