from __future__ import annotations

from dashboard.findings.memory.files import (
    REMEMBERED_MS,
    TOLD_MS,
    FileLoss,
    FileWatch,
)
from rmqcore.model.snapshot import HeldQueue, MemberSnapshot

Q = ("prices", "a", 0)
R = ("prices", "a", 1)


def member(
    client_id: str, started_ms: int | None = 0, **offsets: int | None
) -> MemberSnapshot:
    """A member that holds q and r, with its own offsets; none holds nothing yet."""
    keys = {"q": Q, "r": R}
    held = {keys[name]: HeldQueue(committed=offset) for name, offset in offsets.items()}
    return MemberSnapshot(
        client_id, "h:1", "JAVA", "V5_5_0", ("a",), queues=tuple(held), held=held,
        started_at_ms=started_ms,
    )  # fmt: skip


class Watching:
    def __init__(self) -> None:
        self.watch = FileWatch()
        self.at_ms = 0

    def see(self, *members: MemberSnapshot, end: int | None = 100) -> list[FileLoss]:
        self.at_ms += 1_000
        self.watch.take(members, {Q: end, R: end}, self.at_ms)
        return self.watch.losses(self.at_ms)


def test_a_member_that_goes_on_loses_nothing() -> None:
    seen = Watching()
    seen.see(member("h1@a", q=None, r=None))
    seen.see(member("h1@a", q=10, r=None))
    assert seen.see(member("h1@a", q=20, r=5)) == []


def test_a_new_member_has_nothing_to_lose() -> None:
    assert Watching().see(member("h1@a", q=None, r=None)) == []


def test_back_without_a_place_is_a_lost_file() -> None:
    seen = Watching()
    seen.see(member("h1@a", q=10, r=20))
    seen.see()
    (loss,) = seen.see(member("h1@a", 5, q=None, r=None))
    assert (loss.kind, loss.queues, loss.messages) == ("lost", (Q, R), 170)


def test_a_restart_between_two_looks_is_seen_by_its_start_time() -> None:
    seen = Watching()
    seen.see(member("h1@a", 0, q=10))
    (loss,) = seen.see(member("h1@a", 900, q=None))
    assert loss.kind == "lost"


def test_back_behind_its_place_is_an_older_file() -> None:
    seen = Watching()
    seen.see(member("h1@a", q=10, r=20))
    seen.see()
    (loss,) = seen.see(member("h1@a", 5, q=10, r=14))
    assert (loss.kind, loss.queues, loss.messages) == ("older", (R,), 6)


def test_a_member_that_has_no_queues_yet_is_waited_for() -> None:
    seen = Watching()
    seen.see(member("h1@a", q=10))
    seen.see()
    assert seen.see(member("h1@a", 5)) == []
    (loss,) = seen.see(member("h1@a", 5, q=None))
    assert loss.kind == "lost"


def test_the_same_name_on_another_host_has_moved() -> None:
    seen = Watching()
    seen.see(member("h1@a", q=10), member("h2@b", q=10))
    seen.see(member("h2@b", q=10))
    (loss,) = seen.see(member("h2@b", q=10), member("h9@a", 5, q=None))
    assert (loss.kind, loss.before, loss.messages) == ("moved", "h1@a", 90)
    # One place is taken once.
    both = seen.see(
        member("h2@b", q=10), member("h9@a", 5, q=None), member("h7@a", q=None)
    )
    assert len(both) == 1


def test_a_name_that_is_still_there_has_not_moved() -> None:
    seen = Watching()
    seen.see(member("h1@a", q=10))
    assert seen.see(member("h1@a", q=10), member("h9@a", 5, q=None)) == []


def test_what_was_missed_is_unknown_where_the_end_is() -> None:
    seen = Watching()
    seen.see(member("h1@a", q=10))
    seen.see()
    (loss,) = seen.see(member("h1@a", 5, q=None), end=None)
    assert loss.messages is None


def test_losses_and_places_are_forgotten_in_time() -> None:
    seen = Watching()
    seen.see(member("h1@a", q=10))
    seen.see()
    assert seen.see(member("h1@a", 5, q=None))
    seen.at_ms += TOLD_MS
    assert seen.see(member("h1@a", 5, q=None)) == []
    seen.see(member("h1@a", 5, q=50))
    seen.at_ms += REMEMBERED_MS
    seen.see()
    assert seen.see(member("h1@a", 9, q=None)) == []
