"""Another collector goes on with a group: it finds what this one would have found."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from typing import Any

import orjson
import pytest
from hypothesis import given, settings

from dashboard.collector.frames import decode_frame, digest_of, encode_frame
from dashboard.collector.handovers import Handovers
from dashboard.collector.ownership import OwnershipTracker
from dashboard.findings import GroupMemory, Judge
from dashboard.findings.memory.trail import Moment
from rmqcore.model.snapshot import ClusterSnapshot

from .faulty import FAULTY, Fault
from .healthy import HEALTHY
from .plays import Play
from .test_properties import plays


def plain(value: Any) -> Any:
    """Return a value as it comes back from the cache."""
    return orjson.loads(orjson.dumps(value))


def handed_on(play: Play) -> Play:
    """Return the play as another collector goes on with it."""
    after = deepcopy(play)
    keys = tuple(play.keys)
    memory = plain(play._memory.dump(keys))
    after._memory = GroupMemory.restored(memory, keys, moments_of(play))
    after._judge = Judge.restored(plain(play._judge.dump()))
    after._tracker = OwnershipTracker.restored(plain(play._tracker.dump()))
    handovers = plain(play._handovers.dump(keys))
    after._handovers = Handovers.restored(handovers, keys)
    return after


def moments_of(play: Play) -> list[Moment]:
    """Return the group's past as it comes out of frames."""
    group, found, keys = play._group(asked=False), [], tuple(play.keys)
    for moment in play._memory._trail._moments:
        seen = replace(group, queues=moment.queues)
        packed = encode_frame(ClusterSnapshot(moment.at_ms, (), {}, {"g": seen}))
        frame = decode_frame(packed)
        assert frame is not None
        again = frame.moment("g", keys, digest_of(keys))
        if again is not None:
            found.append(Moment(again.at_ms, again.queues, moment.sent_back))
    return found


@pytest.mark.parametrize("fault", FAULTY, ids=lambda fault: fault.name)
def test_a_fault_is_still_found_and_since_when(fault: Fault) -> None:
    before = fault.play()
    after = handed_on(before)
    for seconds in (1, 4, 5):
        for play in (before, after):
            play.now += seconds * 1000
            play.look()
        assert after.said == before.said
        for key in before.found:
            assert after.began_ms(key) == before.began_ms(key)


@pytest.mark.parametrize("fault", FAULTY, ids=lambda fault: fault.name)
def test_members_word_stands_for_the_next_collector_too(fault: Fault) -> None:
    before = fault.play()
    after = handed_on(before)
    for play in (before, after):
        play.now += 5_000
        play.look(asked=False)
    assert after.said == before.said


@pytest.mark.parametrize("scene", HEALTHY, ids=lambda scene: scene.__name__)
def test_a_healthy_group_stays_healthy(scene: Callable[[], Play]) -> None:
    play = handed_on(scene())
    play.now += 5_000
    play.look()
    assert play.said == ()


@settings(max_examples=40, deadline=None)
@given(plays())
def test_what_is_handed_on_again_is_the_same(play: Play) -> None:
    once = handed_on(play)
    keys = tuple(play.keys)
    assert plain(once._memory.dump(keys)) == plain(play._memory.dump(keys))
    assert plain(once._judge.dump()) == plain(play._judge.dump())
    once.now += 5_000
    once.look()
