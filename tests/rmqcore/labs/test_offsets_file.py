from .watching import watched


async def test_what_becomes_of_messages_when_the_file_is_lost() -> None:
    result, steps = await watched("F2b")
    seen = [
        (each.case, each.found_in, len(each.lost), len(each.repeated))
        for each in result.cases
    ]
    assert seen == [
        ("kept", "main", 0, 0),
        ("broken", "backup", 0, 4),
        ("deleted", "backup", 0, 4),
        ("both_deleted", "nowhere", 4, 0),
        ("other_host", "nowhere", 4, 0),
        ("both_broken", "refused", 0, 0),
    ]
    started = [each.case for each in result.cases if not each.started]
    assert started == ["both_broken"]
    # What is repeated is what came after the backup was written.
    assert all("-second-" in body for body in result.case("broken").repeated)
    assert all("-away-" in body for body in result.case("other_host").lost)
    assert result.seen
    assert result.finding == "offsets_file_lost"
    refusals = [step for step in steps if step.key == "F2b.refused"]
    assert len(refusals) == 1
