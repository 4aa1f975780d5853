from __future__ import annotations

from dashboard.collector.epochs import EpochBook
from dashboard.collector.group_document import group_document
from dashboard.collector.group_watch import REPORT_STANDS_MS, GroupWatch, Look
from dashboard.live.numbering import Stamp
from rmqcore.model.snapshot import GroupSnapshot

from .sights import NOW, broker, group, keys, member, standing, table

QUEUES = keys(4)
ONE = group(table(QUEUES), [member("c1", QUEUES, strategy="AVG")], expected=["c1"] * 4)
TWO = group(
    table(QUEUES),
    [member("c1", QUEUES[:2]), member("c2", QUEUES[2:])],
    expected=["c1", "c1", "c2", "c2"],
)
UNASKED_ONE = group(table(QUEUES, high=[107] * 4), [member("c1")], expected=["c1"] * 4)
UNASKED_TWO = group(
    table(QUEUES), [member("c1"), member("c2")], expected=["c1", "c1", "c2", "c2"]
)


def look(seen: GroupSnapshot, seconds: float, *, asked: bool = True) -> Look:
    return Look("east", seen, standing(broker()), NOW + round(seconds * 1000), asked)


def test_a_join_is_a_turn_with_moves_and_a_sentence() -> None:
    watch = GroupWatch(EpochBook())
    watch.see(look(ONE, 0))
    seen = watch.see(look(TWO, 1))
    assert seen.turn is not None
    assert seen.turn.joined == ("c2",)
    assert [handover.kind for handover in seen.handovers] == ["moved", "moved"]
    assert seen.sight is not None
    assert seen.sight.last_change is not None
    assert seen.sight.last_change["text_key"] == "member_joined"
    assert seen.sight.last_change["params"]["joined"] == ["c2"]
    assert seen.sight.moved_at_ms == dict.fromkeys(QUEUES[2:], NOW + 1000)
    assert seen.sight.epoch == {"number": 2, "began_at": NOW + 1000}


def test_the_first_epoch_is_no_change_to_tell() -> None:
    sight = GroupWatch(EpochBook()).see(look(ONE, 0)).sight
    assert sight is not None
    assert sight.last_change is None


def test_between_asked_looks_reports_stand_with_new_numbers() -> None:
    watch = GroupWatch(EpochBook())
    watch.see(look(ONE, 0))
    sight = watch.see(look(UNASKED_ONE, 5, asked=False)).sight
    assert sight is not None
    assert {row.source for row in sight.ownership.rows} == {"reported"}
    assert sight.group.queues.lag.total() == 28
    assert sight.group.members[0].strategy == "AVG"


def test_reports_that_only_stand_make_no_interval_narrower() -> None:
    watch = GroupWatch(EpochBook())
    swapped = group(
        table(QUEUES),
        [member("c1", QUEUES[2:]), member("c2", QUEUES[:2])],
        expected=["c1", "c1", "c2", "c2"],
    )
    watch.see(look(TWO, 0))
    watch.see(look(UNASKED_TWO, 8, asked=False))
    handovers = watch.see(look(swapped, 9)).handovers
    assert {(each.after_ms, each.by_ms) for each in handovers} == {(NOW, NOW + 9000)}


def test_a_change_seen_without_asking_concludes_nothing_about_owners() -> None:
    watch = GroupWatch(EpochBook())
    watch.see(look(ONE, 0))
    seen = watch.see(look(UNASKED_TWO, 5, asked=False))
    assert seen.sight is None
    assert seen.turn is not None


def test_reports_run_out() -> None:
    watch = GroupWatch(EpochBook())
    watch.see(look(ONE, 0))
    later = REPORT_STANDS_MS / 1000 + 1
    sight = watch.see(look(UNASKED_ONE, later, asked=False)).sight
    assert sight is not None
    assert {row.source for row in sight.ownership.rows} == {"assumed"}


def test_a_group_never_asked_is_judged_anew_only_when_it_changes() -> None:
    watch = GroupWatch(EpochBook())
    watch.see(look(UNASKED_ONE, 0, asked=False))
    first = watch.sight
    assert first is not None
    watch.see(look(UNASKED_ONE, 10, asked=False))
    assert watch.sight is not None
    assert watch.sight.ownership is first.ownership
    sight = watch.see(look(UNASKED_TWO, 20, asked=False)).sight
    assert sight is not None
    assert [row.owners for row in sight.ownership.rows][2:] == [("c2",)] * 2


def test_an_older_look_is_ignored() -> None:
    watch = GroupWatch(EpochBook())
    watch.see(look(TWO, 5))
    assert watch.see(look(ONE, 4)).sight is None
    assert watch.book.current is not None
    assert watch.book.current.number == 1


def test_hues_go_on_from_what_was_on_screen() -> None:
    first = GroupWatch(EpochBook())
    first.see(look(ONE, 0))
    sight = first.see(look(TWO, 1)).sight
    assert sight is not None
    document = group_document(sight, Stamp("old", 2))
    document["members"][0]["slot"], document["members"][1]["slot"] = 7, 3
    again = GroupWatch(EpochBook(), document).see(look(TWO, 60)).sight
    assert again is not None
    assert again.slots == {"c1": 7, "c2": 3}
    assert again.last_change == document["last_change"]


def test_asked_at_tells_when_members_were_last_asked() -> None:
    watch = GroupWatch(EpochBook())
    watch.see(look(ONE, 0))
    watch.see(look(UNASKED_ONE, 5, asked=False))
    assert watch.asked_at_ms == NOW


def test_findings_of_what_was_seen_are_shown_with_since_when() -> None:
    watch = GroupWatch(EpochBook())
    half = group(
        table(QUEUES),
        [member("c1", QUEUES[:2]), member("c2", ())],
        expected=["c1", "c1", "c2", "c2"],
    )
    for seconds in (0, 3):
        sight = watch.see(look(half, seconds)).sight
    assert sight is not None
    document = group_document(sight, Stamp("r", 1))
    (finding,) = document["findings"]
    assert (finding["key"], finding["since"]) == ("unowned_queues", NOW + 3000)
    assert finding["queues"] == ["orders|a|2", "orders|a|3"]
    assert document["status"] == {"level": "crit", "word": "no_owner"}


def test_what_members_said_is_found_while_their_reports_stand() -> None:
    watch = GroupWatch(EpochBook())
    half = group(
        table(QUEUES),
        [member("c1", QUEUES[:2]), member("c2", ())],
        expected=["c1", "c1", "c2", "c2"],
    )
    for seconds in (0, 3):
        watch.see(look(half, seconds))
    sight = watch.see(look(UNASKED_TWO, 10, asked=False)).sight
    assert sight is not None
    assert [finding["key"] for finding in sight.findings] == ["unowned_queues"]


def test_who_came_and_went_before_members_could_be_asked_is_not_forgotten() -> None:
    watch = GroupWatch(EpochBook())
    watch.see(look(TWO, 0))
    seconds = 1.0
    for _ in range(9):
        # While reports stand, nothing is shown of a group with other members.
        watch.see(look(UNASKED_ONE, seconds, asked=False))
        watch.see(look(UNASKED_TWO, seconds + 1, asked=False))
        seconds += 2
    sight = watch.see(look(TWO, seconds)).sight
    assert sight is not None
    assert [finding["key"] for finding in sight.findings] == ["flapping"]
