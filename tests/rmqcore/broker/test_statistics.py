import pytest

from rmqcore.broker.statistics import (
    BROKER_PUT_NUMS,
    GROUP_GET_NUMS,
    TOPIC_PUT_NUMS,
    TOPIC_PUT_SIZE,
    Rate,
    Statistics,
)


@pytest.fixture
def statistics() -> Statistics:
    return Statistics(0)


def test_nothing_counted_is_zero(statistics: Statistics) -> None:
    assert statistics.counter(TOPIC_PUT_NUMS, "T") is None
    assert statistics.counter("NO_SUCH_NAME", "T") is None
    assert statistics.tps(TOPIC_PUT_NUMS, "T") == 0
    assert statistics.total(TOPIC_PUT_NUMS) == 0


def test_rates_are_differences_between_samples(statistics: Statistics) -> None:
    for second in range(10, 130, 10):
        statistics.add(TOPIC_PUT_NUMS, "T", 30)
        statistics.add(TOPIC_PUT_NUMS, "T", 10)
        statistics.sample(second * 1000)
    counter = statistics.counter(TOPIC_PUT_NUMS, "T")
    assert counter is not None
    assert counter.rate(10) == Rate(40, 4.0, 20.0)
    assert counter.rate(60) == Rate(240, 4.0, 20.0)
    assert counter.rate(600) == Rate(480, 4.0, 20.0)


def test_a_rate_needs_a_sample(statistics: Statistics) -> None:
    statistics.add(TOPIC_PUT_NUMS, "T", 30)
    counter = statistics.counter(TOPIC_PUT_NUMS, "T")
    assert counter is not None
    assert counter.rate(60) == Rate()
    statistics.sample(0)
    assert counter.rate(60) == Rate()
    statistics.sample(10_000)
    assert counter.rate(60) == Rate(30, 3.0, 30.0)


def test_a_quiet_counter_falls_to_zero(statistics: Statistics) -> None:
    statistics.add(TOPIC_PUT_NUMS, "T", 30)
    for second in range(10, 100, 10):
        statistics.sample(second * 1000)
    assert statistics.tps(TOPIC_PUT_NUMS, "T", 60) == 0
    assert statistics.tps(TOPIC_PUT_NUMS, "T", 600) == pytest.approx(30 / 90)


def test_totals_are_over_all_keys(statistics: Statistics) -> None:
    statistics.add(BROKER_PUT_NUMS, "c", 30)
    statistics.add(BROKER_PUT_NUMS, "d", 10)
    statistics.sample(10_000)
    assert statistics.total(BROKER_PUT_NUMS) == 40
    assert statistics.total_tps(BROKER_PUT_NUMS, 10) == 4.0


def test_a_topic_or_group_is_forgotten(statistics: Statistics) -> None:
    for key in ("T@g", "T@h", "U@g"):
        statistics.add(GROUP_GET_NUMS, key, 1)
    statistics.add(TOPIC_PUT_NUMS, "T", 1)
    statistics.forget("T")
    assert statistics.counter(TOPIC_PUT_NUMS, "T") is None
    assert statistics.counter(GROUP_GET_NUMS, "T@h") is None
    statistics.forget("g")
    assert statistics.total(GROUP_GET_NUMS) == 0


def test_what_is_stored_counts_anew_after_its_topic_is_forgotten(
    statistics: Statistics,
) -> None:
    for _ in range(2):
        statistics.add_stored("T", "c", 2, 100)
    statistics.forget("T")
    statistics.add_stored("T", "c", 3, 50)
    topic = statistics.counter(TOPIC_PUT_NUMS, "T")
    size = statistics.counter(TOPIC_PUT_SIZE, "T")
    broker = statistics.counter(BROKER_PUT_NUMS, "c")
    assert topic is not None
    assert size is not None
    assert broker is not None
    assert (topic.sum, topic.times) == (3, 1)
    assert (size.sum, size.times) == (50, 1)
    assert (broker.sum, broker.times) == (7, 3)
