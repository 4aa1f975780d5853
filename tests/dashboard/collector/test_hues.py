from __future__ import annotations

from dashboard.collector.hues import KEPT_AFTER_LEAVING_MS, PLACES, Hues


def test_gives_places_in_rocketmqs_order() -> None:
    assert Hues().assign(["c", "a", "b"], 0) == {"a": 0, "b": 1, "c": 2}


def test_a_join_before_others_moves_nobody() -> None:
    hues = Hues()
    hues.assign(["b", "c"], 0)
    assert hues.assign(["a", "b", "c"], 1) == {"a": 2, "b": 0, "c": 1}


def test_a_place_stays_taken_while_the_timeline_shows_its_member() -> None:
    hues = Hues()
    hues.assign(["a", "b"], 0)
    hues.assign(["b"], 1000)
    assert hues.assign(["b", "x"], 2000)["x"] == 2
    later = 1000 + KEPT_AFTER_LEAVING_MS
    hues.assign(["b", "x"], later)
    assert hues.assign(["b", "x", "y"], later)["y"] == 0


def test_who_returns_gets_the_old_place() -> None:
    hues = Hues()
    hues.assign(["a", "b"], 0)
    hues.assign(["b"], 1000)
    hues.assign(["b", "x"], 2000)
    assert hues.assign(["a", "b", "x"], 3000) == {"a": 0, "b": 1, "x": 2}


def test_places_of_the_gone_are_given_before_places_are_shared() -> None:
    hues = Hues()
    first = [f"m{number:02}" for number in range(PLACES)]
    hues.assign(first, 0)
    hues.assign(first[1:], 1000)
    assert hues.assign([*first[1:], "new"], 2000)["new"] == 0


def test_beyond_twelve_places_are_shared_evenly() -> None:
    members = [f"m{number:02}" for number in range(30)]
    places = list(Hues().assign(members, 0).values())
    assert {places.count(place) for place in range(PLACES)} == {2, 3}


def test_starts_from_places_already_on_screen() -> None:
    assert Hues({"b": 0}).assign(["a", "b"], 0) == {"a": 1, "b": 0}


def test_places_of_members_that_left_are_told() -> None:
    hues = Hues()
    hues.assign(["a", "b"], 0)
    assert hues.kept == {}
    hues.assign(["b"], 1000)
    assert hues.kept == {"a": 0}
    hues.assign(["b"], 1000 + KEPT_AFTER_LEAVING_MS)
    assert hues.kept == {}
