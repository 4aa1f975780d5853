"""The ages of first unconsumed messages: measured now and then, known in between."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import pytest

from dashboard.collector.ages import (
    ASKED_AGAIN_MS,
    STANDS_MS,
    Ages,
    Question,
    choose_questions,
    oldest_of,
)
from dashboard.live.state import live_state
from rmqcore.model.columns import QueueKey, Reason
from rmqcore.model.snapshot import QueueTable

from .sights import NOW, group, keys, member, table
from .test_cluster_collector import Make, Seen, client, make, shown

__all__ = ["client", "make"]

TWO = keys(2)


def column(seen: QueueTable) -> list[int | Reason | None]:
    return [
        age if (age := seen.lag_ms[row]) is not None else seen.lag_ms.reason(row)
        for row in range(len(seen))
    ]


def lagging(*committed: int) -> QueueTable:
    return table(keys(len(committed)), committed=committed)


def test_without_lag_every_age_is_0_and_nobody_is_asked() -> None:
    ages = Ages()
    assert column(ages.fill(table(TWO), NOW)) == [0, 0]
    assert ages.due(table(TWO), NOW) == {}


def test_what_nobody_asked_for_is_not_known() -> None:
    ages = Ages()
    assert column(ages.fill(lagging(100, 90), NOW)) == [0, Reason.NOT_ASKED]
    assert ages.due(lagging(100, 90), NOW) == {("orders", "a"): 0}


def test_while_nothing_is_committed_a_message_only_grows_older() -> None:
    ages = Ages()
    ages.tell(lagging(90), {TWO[0]: 5_000}, NOW)
    later = NOW + 24 * 3_600_000
    assert column(ages.fill(lagging(90), later)) == [5_000 + 24 * 3_600_000]
    assert ages.due(lagging(90), later) == {}


def test_after_a_commit_a_measure_stands_for_a_minute() -> None:
    ages = Ages()
    ages.tell(lagging(90), {TWO[0]: 5_000}, NOW)
    assert column(ages.fill(lagging(91), NOW + STANDS_MS)) == [5_000]
    assert column(ages.fill(lagging(91), NOW + STANDS_MS + 1)) == [Reason.NOT_ASKED]


def test_the_next_measure_is_due_before_the_last_counts_no_more() -> None:
    ages = Ages()
    ages.tell(lagging(90), {TWO[0]: 5_000}, NOW)
    assert ages.due(lagging(91), NOW + ASKED_AGAIN_MS - 1) == {}
    assert ages.due(lagging(91), NOW + ASKED_AGAIN_MS) == {("orders", "a"): 0}
    assert ASKED_AGAIN_MS < STANDS_MS


def test_who_does_not_tell_is_not_asked_again_at_once() -> None:
    ages = Ages()
    ages.asked([("orders", "a")], NOW)
    assert ages.due(lagging(90), NOW + ASKED_AGAIN_MS - 1) == {}
    assert ages.due(lagging(90), NOW + ASKED_AGAIN_MS) == {("orders", "a"): NOW}


def test_topics_that_are_gone_are_forgotten() -> None:
    ages = Ages()
    ages.asked([("orders", "a"), *((f"gone-{n}", "a") for n in range(9))], NOW)
    ages.fill(lagging(90), NOW)
    assert list(ages._asked) == [("orders", "a")]


def test_the_age_of_no_message_is_not_that_of_the_next() -> None:
    ages = Ages()
    asked = table(TWO, committed=[90, 100], lag_ms=[7_000, 0])
    ages.fill(asked, NOW)
    later = table(TWO, high=[100, 101], committed=[90, 100])
    filled = ages.fill(later, NOW + 600_000)
    assert column(filled) == [607_000, Reason.NOT_ASKED]
    assert ages.due(later, NOW + 600_000) == {("orders", "a"): 0}


def test_a_queue_that_was_away_begins_anew() -> None:
    ages = Ages()
    ages.tell(lagging(90, 90), {TWO[0]: 5_000, TWO[1]: 5_000}, NOW)
    ages.fill(lagging(90), NOW + 1_000)
    filled = ages.fill(lagging(90, 90), NOW + 2_000)
    assert column(filled) == [7_000, Reason.NOT_ASKED]


def test_the_age_of_a_message_that_is_gone_is_never_known() -> None:
    ages = Ages()
    ages.tell(lagging(-5), {TWO[0]: 5_000}, NOW)
    assert column(ages.fill(lagging(-5), NOW)) == [Reason.EXPIRED]
    assert ages.due(lagging(-5), NOW + STANDS_MS) == {}


def test_a_table_that_was_asked_is_a_measure() -> None:
    ages = Ages()
    asked = table(TWO, committed=[90, 90], lag_ms=[7_000, Reason.NO_ANSWER])
    assert column(ages.fill(asked, NOW)) == [7_000, Reason.NO_ANSWER]
    assert column(ages.fill(lagging(90, 90), NOW + 10)) == [7_010, Reason.NOT_ASKED]


def test_what_did_not_answer_now_is_known_from_before() -> None:
    ages = Ages()
    ages.tell(lagging(90, 90), {TWO[1]: 3_000}, NOW)
    asked = table(TWO, committed=[90, 90], lag_ms=[7_000, Reason.NO_ANSWER])
    assert column(ages.fill(asked, NOW + 10)) == [7_000, 3_010]


def test_an_unknown_lag_has_no_age() -> None:
    ages = Ages()
    ages.tell(lagging(90, 90), {TWO[1]: 3_000}, NOW)
    silent = table(TWO, committed=[90, Reason.NO_ANSWER])
    filled = ages.fill(silent, NOW)
    assert column(filled) == [Reason.NOT_ASKED, Reason.NO_ANSWER]
    assert oldest_of(filled) == (None, True)


@pytest.mark.parametrize(
    ("committed", "ages", "expected"),
    [
        ((100, 100), [0, 0], (0, False)),
        ((90, 100), [5, 0], (5, False)),
        ((90, 90), [5, Reason.NOT_ASKED], (5, True)),
        ((90, 90), [Reason.NOT_ASKED] * 2, (None, True)),
        ((), [], (None, False)),
    ],
)
def test_the_oldest_of_a_group_is_a_part_while_an_age_is_missing(
    committed: tuple[int, ...], ages: list[int], expected: tuple[int | None, bool]
) -> None:
    seen = table(keys(len(committed)), committed=committed, lag_ms=ages)
    assert oldest_of(seen) == expected


def test_those_that_lag_most_do_not_crowd_out_those_that_wait() -> None:
    due = [
        Question(f"g{number}", "orders", "a", 1000 - number, 1000 - number)
        for number in range(100)
    ]
    asked = [each.group for each in choose_questions(due, 4)]
    assert asked == ["g0", "g1", "g99", "g98"]


class Telling(Seen):
    """A source whose brokers tell that every first message is a minute old."""

    def __init__(self, *committed: int) -> None:
        super().__init__()
        self.wanted: list[Mapping[str, Collection[tuple[str, str]]]] = []
        self.commit(*committed)

    def commit(self, *committed: int) -> None:
        self.groups_now = (group(lagging(*committed), [member("c1")], expected=["c1"]),)

    async def ages(
        self, wanted: Mapping[str, Collection[tuple[str, str]]]
    ) -> Mapping[str, Mapping[QueueKey, int]]:
        self.wanted.append(wanted)
        return {"g": {keys(1)[0]: 60_000}}


@pytest.mark.django_db(transaction=True)
async def test_groups_that_nobody_watches_have_ages_after_two_sweeps(
    make: Make,
) -> None:
    source = Telling(40)
    collector = make(source)
    for _ in range(3):
        await collector.sweep_all()
    assert source.wanted == [{"a": [("g", "orders")]}]
    overview = live_state().overview("east")
    assert overview is not None
    (row,) = overview["groups"]
    for told in (row, overview["totals"], shown()["totals"]):
        assert 60_000 <= (told["oldest_ms"] or 0) < 90_000
        assert told["oldest_partial"] is False
