from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from dashboard.findings.memory.since import Since


def test_tells_how_long_a_thing_has_been_so() -> None:
    since = Since()
    since.note("idle", ["a", "b"], 1_000)
    since.note("idle", ["a"], 4_000)
    assert since.lasted_ms("idle", "a") == 3_000
    assert since.began_ms("idle", "a") == 1_000
    assert since.lasting("idle", 3_000) == ["a"]
    assert since.lasting("idle", 3_001) == []


def test_a_thing_that_is_no_longer_so_begins_anew() -> None:
    since = Since()
    since.note("idle", ["a"], 1_000)
    since.note("idle", [], 2_000)
    assert since.lasted_ms("idle", "a") is None
    assert since.began_ms("idle", "a") is None
    since.note("idle", ["a"], 3_000)
    assert since.lasted_ms("idle", "a") == 0


def test_kinds_do_not_mix() -> None:
    since = Since()
    since.note("idle", ["a"], 1_000)
    since.note("unlocked", ["a"], 9_000)
    assert since.lasted_ms("idle", "a") == 0
    assert since.lasted_ms("other", "a") is None


@given(st.lists(st.sets(st.sampled_from("abc")), min_size=1, max_size=20))
def test_lasts_as_long_as_it_was_seen_in_every_look(looks: list[set[str]]) -> None:
    since = Since()
    for at, subjects in enumerate(looks):
        since.note("kind", subjects, at)
    for subject in "abc":
        run = 0
        for subjects in reversed(looks):
            if subject not in subjects:
                break
            run += 1
        assert since.lasted_ms("kind", subject) == (run - 1 if run else None)
