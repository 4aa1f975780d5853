from .watching import watched


async def test_a_broadcasting_member_misses_what_came_while_it_was_away() -> None:
    result, _ = await watched("F3")
    assert len(result.missed) == 10
    assert all(body.startswith("between-") for body in result.missed)
    stayed = result.evidence.consumed_by("stays")
    assert len(stayed) == len(set(stayed)) == 4 + 10 + 4
    assert result.listed == ("host-1@DEFAULT", "host-1@DEFAULT")
    (file,) = result.evidence.files
    assert file.total == 4 + 10
    assert result.seen
    assert result.finding == "shared_client_id"


async def test_half_of_the_queues_is_consumed_twice_and_half_by_nobody() -> None:
    result, _ = await watched("F3b")
    half = [0, 1, 2, 3]
    assert result.division.by_member == {"process-1": half, "process-2": half}
    assert [queue.queue_id for queue in result.division.unowned] == [4, 5, 6, 7]
    assert (len(result.twice), len(result.waiting)) == (8, 8)
    assert result.listed == ("host-1@same", "host-1@same")
    while_both, after = result.evidence.progress
    committed = [queue.committed or 0 for queue in while_both.queues]
    assert committed == [2, 2, 2, 2, 0, 0, 0, 0]
    assert after.committed == after.end == 16
    assert set(result.waiting) <= set(result.evidence.consumed_by("process-1"))
    assert result.seen
    assert result.finding == "shared_client_id"
