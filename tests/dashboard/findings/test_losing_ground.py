"""That the lag grows is said once, early where it is plain, and does not flap."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from .plays import Play

RATE = 200
KEY = "losing_ground"


def lagging(lag: int = 2_000) -> Play:
    """Four queues of two members that keep up, with some lag."""
    play = Play(end=100_000)
    play.join("h1@a", "h2@b")
    play.done = [100_000 - lag // 4] * 4
    return play.divide()


def said(
    play: Play, seconds: int, *, every: int, share: float, jitter: int = 0
) -> list[bool]:
    """Pass time with a share of what comes in left over; say when it was found.

    `jitter` is how many seconds later than the others the last queues commit.
    """
    found = []
    for step in range(every, seconds + 1, every):
        rate = RATE / 4
        for row in range(4):
            late = jitter if row > 1 else 0
            flown = step - (step - late) % 5
            play.high[row] = 100_000 + round(rate * step)
            play.done[row] = 99_500 + round(rate * (1 - share) * flown)
        play.now += every * 1000
        play.look()
        found.append(KEY in play.found)
    return found


@pytest.mark.parametrize("every", [1, 3, 7, 10, 12])
@pytest.mark.parametrize("share", [0.0, 0.004, 0.02, 0.05, 0.1, 0.4, 0.9])
@pytest.mark.parametrize("jitter", [0, 2])
def test_steady_growth_begins_once_and_never_stops(
    every: int, share: float, jitter: int
) -> None:
    seconds = 600 if every > 1 else 400
    found = said(lagging(), seconds, every=every, share=share, jitter=jitter)
    turns = sum(a != b for a, b in pairwise([False, *found]))
    assert turns == (1 if share >= 0.05 else 0 if not share else min(turns, 1))


@pytest.mark.parametrize(
    ("share", "within"), [(0.9, 80), (0.4, 80), (0.2, 90), (0.07, 150), (0.04, 280)]
)
def test_the_plainer_it_is_the_earlier_it_is_said(share: float, within: int) -> None:
    found = said(lagging(), within, every=10, share=share)
    assert found[-1]
    assert not any(found[:5])


def test_lag_that_stands_still_is_not_growth_however_the_commits_fall() -> None:
    for jitter in range(5):
        assert not any(said(lagging(), 900, every=9, share=0.0, jitter=jitter))


def test_it_ends_soon_after_the_lag_plainly_falls_and_does_not_come_back() -> None:
    play = lagging()
    play.pass_time(300, every=10, sent=100, consumed=60)
    assert KEY in play.found
    found = []
    for _ in range(30):
        play.pass_time(10, every=10, sent=100, consumed=160)
        found.append(KEY in play.found)
    assert found[:8].count(True) <= 7
    assert not any(found[7:])


def test_a_short_halt_of_the_growth_does_not_end_it() -> None:
    play = lagging()
    play.pass_time(200, every=10, sent=100, consumed=70)
    began = play.began_ms(KEY)
    for _ in range(20):
        play.pass_time(20, every=10, sent=100, consumed=100)
        assert KEY in play.found
        play.pass_time(40, every=10, sent=100, consumed=70)
        assert KEY in play.found
    assert play.began_ms(KEY) == began


def test_a_burst_onto_some_lag_is_no_growth() -> None:
    play = lagging()
    play.pass_time(200, every=10, sent=100)
    play.high = [high + 4_000 for high in play.high if high is not None]
    for _ in range(20):
        play.pass_time(10, every=10, sent=100, consumed=150)
        assert KEY not in play.ever


def test_the_lag_said_is_that_of_the_whole_group() -> None:
    """Also of queues that another finding tells of."""
    play = lagging()
    play.actors[1].holds = play.keys[2:3]
    play.pass_time(200, every=5, sent=100, consumed={0: 50, 1: 50, 2: 50, 3: 0})
    assert {"unowned_queues", KEY} <= play.found.keys()
    assert play.evidence is not None
    total = play.evidence.group.queues.lag.total()
    assert play.found[KEY].values["lag"] == total
    evidence = dict(play.found[KEY].evidence)
    flow = play.evidence.flow
    assert flow is not None
    assert evidence["in_rate"] == round(flow.rate_in or 0, 1)
    assert evidence["out_rate"] == round(flow.rate_out or 0, 1)


def test_a_broker_that_was_silent_for_a_while_does_not_begin_it_anew() -> None:
    play = lagging()
    play.pass_time(200, every=10, sent=100, consumed=60)
    began = play.began_ms(KEY)
    play.silent = {"a"}
    play.pass_time(40, every=10, sent=100, consumed=60)
    assert play.found[KEY].as_of_ms == play.now - 40_000
    play.silent = set()
    play.pass_time(10, every=10, sent=100, consumed=60)
    assert play.found[KEY].as_of_ms is None
    assert play.began_ms(KEY) == began


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(0, 200), min_size=6, max_size=40))
def test_whoever_keeps_up_on_the_whole_does_not_lose_ground_for_ever(
    flows: list[int],
) -> None:
    play = lagging()
    for flow in flows:
        play.pass_time(10, every=10, sent=100, consumed=flow)
    play.pass_time(200, every=10, sent=100, consumed=110)
    assert KEY not in play.found
