from .watching import watched


async def test_half_of_each_topic_is_read_by_nobody() -> None:
    result, _ = await watched("F4b")
    of_t1, of_t2, *after = result.evidence.divisions
    first, second = [0, 1, 2, 3], [4, 5, 6, 7]
    assert of_t1.by_member == {"c1": first, "c2": []}
    assert of_t2.by_member == {"c1": [], "c2": second}
    assert [queue.queue_id for queue in of_t1.unowned] == second
    assert [queue.queue_id for queue in of_t2.unowned] == first
    assert [each.by_member for each in after] == [of_t1.by_member, of_t2.by_member]
    assert result.unread == (*of_t1.unowned, *of_t2.unowned)
    assert result.waiting == 16
    assert result.evidence.times_consumed.total() == 16
    assert result.seen
    assert result.finding == "different_topics"


async def test_each_heartbeat_leaves_one_topic_and_notifies_both() -> None:
    result, steps = await watched("F4b", heartbeats=4)
    names = [[topic[-2:] for topic in flip.topics] for flip in result.flips]
    assert names == [["T1"], ["T2"], ["T1"], ["T2"]]
    assert [flip.member for flip in result.flips] == ["c1", "c2", "c1", "c2"]
    assert all(min(flip.notices) >= 1 for flip in result.flips)
    assert len([step for step in steps if step.key == "F4b.heartbeat"]) == 4
