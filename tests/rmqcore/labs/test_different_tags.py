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
