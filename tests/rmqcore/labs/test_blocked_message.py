import pytest

from rmqcore.labs import stage

from .watching import keys, watched


async def test_the_commit_stays_at_the_message_that_is_not_done() -> None:
    result, steps = await watched("F6")
    assert result.committed == result.blocked == 10
    # The pull that passes the limit of 2000 brings at most 32 messages.
    assert 2010 < result.furthest <= 2010 + 32
    assert result.furthest < result.evidence.produced - 1 == 2099
    assert result.in_hand == 1
    assert result.delay_reason.endswith("offsets, limit 2000")
    assert result.committed_after == 2100
    assert sorted(map(int, result.evidence.consumed_by("c1"))) == [*range(2100)]
    assert result.seen
    assert result.finding == "stuck_commit"
    told = keys(steps)
    assert told.index("F6.delayed") < told.index("F6.released")


async def test_the_first_message_of_all_holds_back_the_same() -> None:
    result, _ = await watched("F6", blocked=0)
    assert result.committed == 0
    assert result.seen


async def test_who_looks_late_sees_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    # Pulling goes on once newer messages are done with: a moment, on a busy machine.
    monkeypatch.setattr(stage, "LOOK_EVERY_S", 1.0)
    result, _ = await watched("F6", blocked=0)
    assert result.seen
    assert 2000 < result.furthest <= 2000 + 32
