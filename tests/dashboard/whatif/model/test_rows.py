"""The numbers of a division, worked by hand."""

from __future__ import annotations

from dashboard.whatif.model import Figures
from dashboard.whatif.model.rows import Remainder, figures_of
from dashboard.whatif.model.weights import columns_of, weigh
from rmqcore.allocation import NEVER, Plan, allocate_topics, plan_of_owners
from rmqcore.model import MessageQueue
from tests.dashboard.whatif.made import queue, queues, situation


def figures(
    plan: Plan,
    of: list[MessageQueue],
    *,
    lags: list[float | None] | None = None,
    rates: list[float | None] | None = None,
    member_rate: float | None = None,
    present: dict[MessageQueue, tuple[str, ...]] | None = None,
) -> Figures:
    states = situation((), of, lags=lags, rates=rates).queues
    return figures_of(plan, columns_of(states, present or {}), member_rate)


def plan_of(shares: dict[str, list[int]], count: int) -> Plan:
    owners: dict[MessageQueue, list[str]] = {each: [] for each in queues(count)}
    for name, share in shares.items():
        for number in share:
            owners[queue(number)].append(name)
    return plan_of_owners(owners, shares)


def test_loads_and_lag_of_each_member() -> None:
    found = figures(
        plan_of({"A": [0, 1], "B": [2], "C": []}, 3),
        queues(3),
        lags=[5, 6, 7],
        rates=[1, 2, 3],
    )
    assert [(m.client_id, m.queues, m.load, m.lag) for m in found.members] == [
        ("A", 2, 3, 11),
        ("B", 1, 3, 7),
        ("C", 0, 0, 0),
    ]
    assert found.idle == ("C",)
    assert found.by_load.max_over_mean == 1.5
    assert found.by_queues.max_over_mean == 2.0
    assert found.by_lag is not None
    assert found.by_lag.max_over_mean == 11 * 3 / 18


def test_unknown_lag_is_partial_or_unknown() -> None:
    found = figures(
        plan_of({"A": [0, 1], "B": [2]}, 3), queues(3), lags=[5, None, None]
    )
    a, b = found.members
    assert (a.lag, a.lag_partial) == (5, True)
    assert (b.lag, b.lag_partial) == (None, True)
    assert found.by_lag is None


def test_unknown_rates_are_filled_by_a_mean_and_counted() -> None:
    both = queues(3) + queues(1, topic="paid")
    states = situation((), both, rates=[2.0, None, 4.0, None]).queues
    weights = weigh(states)
    assert weights.loads == (2.0, 3.0, 4.0, 3.0)
    assert (weights.is_rate, weights.assumed) == (True, (1, 3))


def test_without_any_rate_queues_are_counted() -> None:
    weights = weigh(situation((), queues(2), rates=[None, None]).queues)
    assert (weights.loads, weights.is_rate) == ((1.0, 1.0), False)


def test_drain_of_a_member_and_the_worst() -> None:
    plan = plan_of({"A": [0], "B": [1]}, 2)
    found = figures(plan, queues(2), lags=[100, 50], rates=[10, 10], member_rate=20)
    assert [m.drain_s for m in found.members] == [10.0, 5.0]
    assert found.worst_drain_s == 10.0
    overloaded = figures(plan, queues(2), lags=[0, 0], rates=[10, 30], member_rate=20)
    assert overloaded.worst_drain_s == NEVER
    assert figures(plan, queues(2)).worst_drain_s == 0.0
    unknown = figures(plan, queues(2), lags=[3, 0])
    assert unknown.worst_drain_s is None


def test_what_nobody_takes_never_drains() -> None:
    plan = plan_of({"A": [0]}, 2)
    for lags, rates, worst in (
        ([0, 1], [1, 0], NEVER),
        ([0, 0], [1, 1], NEVER),
        ([0, None], [1, 0], None),
        ([0, 0], [1, 0], 0.0),
    ):
        found = figures(plan, queues(2), lags=[*lags], rates=[*rates], member_rate=9)
        assert found.worst_drain_s == worst
        assert found.unassigned == 1


def test_moves_against_the_present_owners() -> None:
    present = {
        queue(0): ("A",),
        queue(1): ("A",),
        queue(2): (),
        queue(3): ("gone", "A"),
        queue(4): ("A",),
    }
    plan = plan_of({"A": [0, 3], "B": [1, 2, 5]}, 6)
    found = figures(plan, queues(6), present=present)
    assert (found.moved, found.gained, found.lost) == ((1, 3), (2,), (4,))
    assert found.moves(found.moved) == [
        (queue(1), ("A",), ("B",)),
        (queue(3), ("gone", "A"), ("A",)),
    ]
    assert found.moves(found.lost) == [(queue(4), ("A",), ())]
    # Queue 5 is new: it has not moved.
    assert found.owners == (("A",), ("B",), ("B",), ("A",), (), ("B",))


def test_owned_twice() -> None:
    found = figures(plan_of({"A": [0], "B": [0]}, 1), queues(1))
    assert found.owners == (("A", "B"),)
    assert [m.load for m in found.members] == [10, 10]


def test_lists_may_name_queues_that_are_not_there() -> None:
    plan = allocate_topics(
        "CONFIG",
        group="G",
        queues=queues(1),
        client_ids=["A"],
        config={"A": [queue(0), queue(0), queue(9)]},
    )
    found = figures(plan, queues(1))
    assert found.owners == (("A",),)


def test_the_remainder_of_every_topic_falls_on_the_first() -> None:
    # apache/rocketmq#1945: four topics of three queues over two members.
    several = [each for topic in "TUVW" for each in queues(3, topic=topic)]
    plan = allocate_topics("AVG", group="G", queues=several, client_ids=["A", "B"])
    found = figures(plan, several)
    assert found.remainder == Remainder(worst=4, least_possible=2)
    assert [m.queues for m in found.members] == [8, 4]


def test_no_members_no_remainder() -> None:
    found = figures(Plan("AVG", {}, tuple(queues(2))), queues(2))
    assert found.remainder == Remainder(0, 0)
    assert found.by_load.max_over_mean is None
