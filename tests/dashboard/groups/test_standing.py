from __future__ import annotations

import pytest

from dashboard.groups.standing import standing_of
from tests.dashboard.documents import (
    BROKERS,
    NOW_MS,
    group_state,
    member,
    queue,
)
from tests.dashboard.missing import (
    SINCE_MS,
    answering,
    broker_missing,
    many_troubles,
    old_queue,
    troubled,
)


def test_a_whole_group_rests_on_all_of_it() -> None:
    standing = standing_of(group_state([member(0)], [queue(BROKERS[0], 0)]))
    assert (standing.complete, standing.fresh, standing.unseen) == (True, 1, 0)
    assert (standing.troubles, standing.as_of, standing.reason) == ([], None, None)
    assert standing.answering == list(BROKERS)


def test_a_missing_broker_leaves_old_values_and_a_status_that_is_held() -> None:
    standing = standing_of(broker_missing())
    assert (standing.complete, standing.fresh, standing.old) == (False, 8, 8)
    assert standing.as_of == NOW_MS - SINCE_MS
    (trouble,) = standing.troubles
    assert (trouble.name, trouble.state, trouble.old) == (BROKERS[0], "missing", 8)
    assert standing.last_lags == [(BROKERS[0], 44_512)]
    assert standing.answering == [BROKERS[1]]
    # Eight queues are fresh, so there is no one reason for a dash.
    assert standing.reason is None


def test_what_was_never_known_is_not_old() -> None:
    standing = standing_of(many_troubles())
    assert (standing.fresh, standing.old, standing.never) == (3, 4, 1)
    by_name = {each.name: each for each in standing.troubles}
    assert (by_name["broker-b"].old, by_name["broker-b"].never) == (1, 1)
    assert (by_name["broker-d"].old, by_name["broker-d"].never) == (0, 0)
    assert standing.answering == ["broker-e"]
    assert standing.as_of is None


def test_a_queue_without_a_commit_is_known() -> None:
    one = queue(BROKERS[0], 0, committed=None, lag=None)
    assert standing_of(group_state([], [one])).fresh == 1


def test_a_fault_of_ours_stops_the_status_at_the_document() -> None:
    whole = group_state([member(0)], [queue(BROKERS[0], 0)], fault="KeyError: 'a'")
    assert standing_of(whole).as_of == NOW_MS
    assert standing_of(broker_missing(fault="x")).as_of == NOW_MS - SINCE_MS


@pytest.mark.parametrize(
    ("state", "reason"), [("missing", "missing"), ("silent", "no_answer")]
)
def test_where_nothing_is_known_there_is_one_reason(state: str, reason: str) -> None:
    brokers = [troubled(BROKERS[0], state, NOW_MS)]
    queues = [old_queue(BROKERS[0], 0, NOW_MS)]
    made = group_state([], queues, brokers=brokers)
    assert standing_of(made).reason == reason


def test_a_broker_that_is_not_listed_and_answers_is_answering() -> None:
    brokers = [troubled(BROKERS[0], "missing", NOW_MS, answered=True)]
    made = group_state([], [queue(BROKERS[0], 0)], brokers=brokers)
    standing = standing_of(made)
    assert (standing.answering, standing.fresh) == ([BROKERS[0]], 1)
    assert standing.troubles[0].answers


@pytest.mark.parametrize("state", ["slave", "partial"])
def test_half_an_answer_is_none(state: str) -> None:
    brokers = [troubled(BROKERS[0], state, None, answered=True), answering(BROKERS[1])]
    made = group_state([], [queue(BROKERS[0], 0)], brokers=brokers)
    assert standing_of(made).answering == [BROKERS[1]]


def test_documents_of_older_versions_know_who_answered() -> None:
    made = group_state([], [queue(BROKERS[0], 0)])
    made["brokers"][0].update(answered=False, age_ms=40_000)
    standing = standing_of(made)
    assert not standing.complete
    (trouble,) = standing.troubles
    assert (trouble.state, trouble.since) == ("silent", NOW_MS - 40_000)
    assert (trouble.queues, trouble.last_lag) == (1, None)
