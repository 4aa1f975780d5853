from .watching import keys, watched


async def test_ten_messages_are_consumed_ten_times_in_all() -> None:
    result, steps = await watched("F1")
    assert result.evidence.produced == 10
    counts = result.evidence.times_consumed
    assert counts.total() == len(counts) == 10
    assert result.evidence.consumed_by("c1")
    assert result.evidence.consumed_by("c2")
    assert result.evidence.divisions[-1].by_member == {"c1": [0, 1], "c2": [2, 3]}
    assert result.evidence.progress[-1].committed == 10
    assert result.seen
    assert result.finding is None
    assert keys(steps) == [
        "topic",
        "joined",
        "joined",
        "division",
        "sent",
        "offsets",
        "consumed",
    ]


async def test_one_member_consumes_everything() -> None:
    result, _ = await watched("F1", members=1, queues=2, messages=3)
    bodies = ["message-0", "message-1", "message-2"]
    assert sorted(result.evidence.consumed_by("c1")) == bodies
    assert result.seen
