from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from dashboard.whatif.model import (
    QueueState,
    Scenario,
    Situation,
    Stage,
    compare,
    mixing,
)
from rmqcore.allocation import allocate_group
from rmqcore.model import MessageQueue


def situation(queues: int, members: list[str]) -> Situation:
    """Return queues divided by AVG."""
    every = [MessageQueue("t", "b", number) for number in range(queues)]
    plan = allocate_group("AVG", group="g", queues=every, client_ids=members)
    states = tuple(QueueState(queue, plan.owners(queue)) for queue in every)
    return Situation("c", "g", tuple(members), states, strategy="AVG")


def stages(given_: Situation, strategy: str, **edits: object) -> tuple[Stage, ...]:
    row = compare(given_, Scenario(**edits)).row(strategy)  # type: ignore[arg-type]
    assert row.figures is not None
    return mixing(row.figures).stages


def test_one_of_two_has_switched() -> None:
    # AVG: A 0 1, B 2 3. Then A takes 0 2, and B has 2 3 still: 2 twice, 1 by nobody.
    assert stages(situation(4, ["A", "B"]), "AVG_BY_CIRCLE") == (Stage(1, 1, 1),)


def test_nothing_is_mixed_where_nothing_moves() -> None:
    assert stages(situation(4, ["A", "B"]), "AVG") == (Stage(1, 0, 0),)
    assert stages(situation(4, ["A"]), "AVG_BY_CIRCLE") == ()


def test_a_member_that_leaves_gives_up_when_its_turn_comes() -> None:
    found = stages(situation(4, ["A", "B"]), "AVG", remove=("A",))
    assert found == (Stage(1, 0, 2),)


def test_new_queues_are_left_out() -> None:
    from dashboard.whatif.model import QueueCount

    found = stages(
        situation(4, ["A", "B"]), "AVG", queue_counts=(QueueCount("t", "b", 8),)
    )
    # A takes 0-3 of eight, B has 2 3 still.
    assert found == (Stage(1, 2, 0),)


@given(st.integers(1, 30), st.integers(1, 7))
def test_each_stage_is_what_members_would_hold(queues: int, count: int) -> None:
    members = [f"m{number}" for number in range(count)]
    given_ = situation(queues, members)
    every = [state.queue for state in given_.queues]
    old = allocate_group("AVG", group="g", queues=every, client_ids=members)
    new = allocate_group("AVG_BY_CIRCLE", group="g", queues=every, client_ids=members)
    for stage in stages(given_, "AVG_BY_CIRCLE"):
        switched = members[: stage.switched]
        held = [
            queue
            for member in members
            for queue in (new if member in switched else old).by_client[member]
        ]
        assert stage.twice == len(held) - len(set(held))
        assert stage.nobody == len(set(every) - set(held))
