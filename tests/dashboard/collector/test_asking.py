from __future__ import annotations

from dashboard.collector.asking import (
    NEWCOMERS,
    WATCHED_GROUPS,
    Candidate,
    choose_asked,
    choose_watched,
)


def candidate(
    name: str,
    *,
    members: int = 1,
    changed: bool = False,
    lag: int = 0,
    asked_at_ms: int | None = None,
) -> Candidate:
    return Candidate(name, members, changed, lag, asked_at_ms)


def test_a_watched_group_that_is_new_is_looked_for() -> None:
    chosen, beyond = choose_watched({"g": 10.0, "new": 20.0}, {"g", "other"})
    assert (chosen, beyond) == (frozenset({"g", "new"}), 0)


def test_names_that_are_made_up_do_not_crowd_the_list() -> None:
    watched = {f"made up {number}": 20.0 + number for number in range(500)}
    chosen, beyond = choose_watched({"g": 10.0, **watched}, {"g"})
    assert "g" in chosen
    assert (len(chosen), beyond) == (NEWCOMERS + 1, 0)


def test_the_list_has_a_limit_and_says_how_many_did_not_fit() -> None:
    watched = {f"g{number}": float(number) for number in range(WATCHED_GROUPS + 7)}
    chosen, beyond = choose_watched(watched, watched)
    assert (len(chosen), beyond) == (WATCHED_GROUPS, 7)
    assert "g6" not in chosen
    assert "g7" in chosen


def test_changed_groups_are_asked_first_then_lag_then_the_longest_unasked() -> None:
    candidates = [
        candidate("calm", asked_at_ms=5),
        candidate("never"),
        candidate("lagging", lag=7, asked_at_ms=9),
        candidate("changed", changed=True, asked_at_ms=9),
    ]
    order = [choose_asked(candidates, limit) for limit in (1, 2, 3, 4)]
    assert order[0] == {"changed"}
    assert order[1] - order[0] == {"lagging"}
    assert order[2] - order[1] == {"never"}
    assert order[3] - order[2] == {"calm"}


def test_groups_without_members_are_never_asked() -> None:
    assert choose_asked([candidate("offline", members=0, lag=1000)]) == frozenset()
