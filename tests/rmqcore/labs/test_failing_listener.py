from .watching import watched


async def test_retries_come_later_each_time_then_the_dead_letters() -> None:
    result, steps = await watched("F8")
    assert result.delays_ms == (10_000, 30_000, 60_000)
    first, second, third = result.pauses_ms
    assert first >= 10_000
    assert second >= 30_000
    assert third >= 60_000
    deliveries = result.evidence.deliveries
    assert [each.attempt for each in deliveries] == [0, 1, 2, 3]
    came_by = [each.queue.topic.startswith("%RETRY%") for each in deliveries]
    assert came_by == [False, True, True, True]
    assert result.in_retry_topic == 3
    assert result.dead_letters == 1
    assert result.seen
    assert result.finding == "dead_letters"
    attempts = [s.params["attempt"] for s in steps if s.key == "F8.failed"]
    assert attempts == [1, 2, 3, 4]


async def test_fewer_retries_end_sooner() -> None:
    result, _ = await watched("F8", retries=1)
    assert len(result.evidence.deliveries) == 2
    assert (result.in_retry_topic, result.dead_letters) == (1, 1)
    assert result.seen
