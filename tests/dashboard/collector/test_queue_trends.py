from __future__ import annotations

from dashboard.collector.queue_trends import MOST_QUEUES, POINTS, STEP_MS, QueueTrends

from .sights import NOW, keys, table

BEGIN = NOW // STEP_MS * STEP_MS
QUEUES = keys(2)
FIRST, SECOND = (f"{topic}|{broker}|{number}" for topic, broker, number in QUEUES)


def test_each_half_minute_has_the_lag_of_its_first_look() -> None:
    trends = QueueTrends()
    trends.add(BEGIN, table(QUEUES, high=[101, 102], committed=[100, 100]))
    trends.add(BEGIN + 9_000, table(QUEUES, high=[105, 105], committed=[100, 100]))
    trends.add(BEGIN + STEP_MS, table(QUEUES, high=[107, 108], committed=[100, 100]))
    document = trends.document(BEGIN + STEP_MS)
    assert document == {
        "at": [BEGIN, BEGIN + STEP_MS],
        "lag": {FIRST: [1, 7], SECOND: [2, 8]},
    }
    assert trends.document(BEGIN + STEP_MS + 900) is document


def test_no_point_is_older_than_15_minutes() -> None:
    trends = QueueTrends()
    for step in range(POINTS + 5):
        trends.add(BEGIN + step * STEP_MS, table(QUEUES))
    document = trends.document(BEGIN + (POINTS + 4) * STEP_MS)
    assert document is not None
    assert len(document["at"]) == POINTS
    assert trends.document(BEGIN + (2 * POINTS + 5) * STEP_MS) is None


def test_a_new_queue_has_no_past_and_one_that_is_gone_has_no_line() -> None:
    trends = QueueTrends()
    trends.add(BEGIN, table(QUEUES, high=[101, 102], committed=[100, 100]))
    others = keys(3)[1:]
    trends.add(BEGIN + STEP_MS, table(others, high=[103, 104], committed=[100, 100]))
    document = trends.document(BEGIN + STEP_MS)
    assert document is not None
    assert list(document["lag"].values()) == [[2, 3], [None, 4]]
    assert FIRST not in document["lag"]


def test_the_next_leader_continues_the_lines() -> None:
    trends = QueueTrends()
    trends.add(BEGIN, table(QUEUES, high=[101, 102], committed=[100, 100]))
    shown = trends.document(BEGIN)
    later = table(QUEUES, high=[105, 105], committed=[100, 100])
    again = QueueTrends.restored(shown, [(BEGIN, later), (BEGIN + STEP_MS, later)])
    document = again.document(BEGIN + STEP_MS)
    assert document is not None
    assert document["lag"] == {FIRST: [1, 5], SECOND: [2, 5]}


def test_lags_that_stand_still_cost_one_column() -> None:
    trends = QueueTrends()
    for step in range(POINTS):
        trends.add(BEGIN + step * STEP_MS, table(QUEUES))
    assert len({id(column) for column in trends._lags}) == 1


def test_with_too_many_queues_there_are_no_lines() -> None:
    trends = QueueTrends()
    trends.add(BEGIN, table(keys(MOST_QUEUES + 1)))
    assert trends.document(BEGIN) is None
