from .watching import watched


async def test_each_member_consumes_all_and_the_broker_shows_zero() -> None:
    result, steps = await watched("F2")
    evidence = result.evidence
    assert evidence.produced == 10
    assert len(set(evidence.consumed_by("c1"))) == 10
    assert len(set(evidence.consumed_by("c2"))) == 10
    assert len(evidence.deliveries) == 20
    everything = [0, 1, 2, 3]
    assert evidence.divisions[0].by_member == {"c1": everything, "c2": everything}
    assert result.broker_offsets == (0, 0, 0, 0)
    assert [file.total for file in result.files_before] == [0, 0]
    assert [file.total for file in result.files_after] == [10, 10]
    ids = [file.client_id for file in result.files_after]
    assert ids == ["host-1@c1", "host-1@c2"]
    assert result.seen
    assert result.finding == "broadcasting"
    told = [step.params["total"] for step in steps if step.key == "F2.file"]
    assert told == [10, 10]
