from .watching import watched


async def test_three_quarters_of_the_messages_are_never_consumed() -> None:
    result, steps = await watched("F4")
    clustering = result.clustering
    assert clustering.filtered_by == "tag2"
    assert clustering.consumed == {"tag1": 0, "tag2": 5}
    assert (clustering.sent, clustering.never_consumed) == (20, 15)
    (progress,) = result.evidence.progress
    assert (progress.committed, progress.end) == (20, 20)
    assert result.seen
    assert result.finding == "inconsistent_subscriptions"

    # Everybody reads all queues here: the newer subscription gets all of its own.
    broadcasting = result.broadcasting
    assert broadcasting.consumed == {"tag1": 0, "tag2": 10}
    assert broadcasting.never_consumed == 10
    filters = [step.params["tag"] for step in steps if step.key == "F4.filter"]
    assert filters == ["tag2", "tag2"]
    # Only in the clustering half is anything divided, and could be owned twice.
    told = [s for s in steps if s.key in ("division", "broadcast")]
    assert [step.key for step in told] == ["division"] * 2 + ["broadcast"] * 2
    assert all("shared" not in step.params for step in told[2:])
    assert told[3].params["parts"] == {"c1": [0, 1], "c2": [0, 1]}
    assert "is not divided" in told[3].text
