"""Each lab's group gets the warning it is owed, by the real collector, and no other."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from asgiref.sync import sync_to_async

from dashboard.models import Cluster, Epoch
from dashboard.timeline.reads import Timeline, read_timeline
from rmqcore.labs import LABS
from tests.support.valkey import Valkey

from .looking_on import CLUSTER, play_watched

pytestmark = [
    pytest.mark.embedded,
    pytest.mark.django_db(transaction=True),
    pytest.mark.timeout(1800),
]

LOOKS = {
    # A message has to hang for a minute before it is said to.
    "F6": (15, 5_000),
    # Locks expire after a minute: more than that would be another fault.
    "F7": (4, 2_000),
}

MOST_PACE = {
    # The queues have to be seen before the locks expire: within seconds, if hurried.
    "F7": 4.0,
}


@pytest.mark.parametrize("name", LABS)
async def test_a_lab_gets_the_warning_it_is_owed(
    name: str, valkey: Valkey, tmp_path: Path
) -> None:
    looks = LOOKS.get(name, (4, 3_000))
    result, onlooker = await play_watched(
        *(name, valkey, tmp_path),
        looks=looks,
        most_pace=MOST_PACE.get(name, math.inf),
    )
    assert result.seen
    found = set().union(*onlooker.found.values())
    owed = {result.finding} if result.finding else set()
    # A broadcasting group is always told as one; that is no warning.
    assert found - {"broadcasting"} == owed - {"broadcasting"}
    assert ("broadcasting" in found) == (name in {"F2", "F2b", "F3", "F4"})
    timelines = await sync_to_async(stored_timelines)()
    twice = {group for group, timeline in timelines.items() if timeline.doubles}
    assert bool(twice) == (name == "F3b"), twice
    if name in {"F2", "F2b", "F3"}:
        assert not any(timeline.events for timeline in timelines.values())
    for group in twice:
        rows = timelines[group].rows
        assert [row.connection for row in rows] == [0, 1]
        assert timelines[group].gaps


def stored_timelines() -> dict[str, Timeline]:
    """Return the timeline of each group, by members, as it stands when all is over."""
    cluster = Cluster.objects.get(name=CLUSTER)
    epochs = Epoch.objects.filter(cluster=cluster)
    # The collector's clock was put on.
    now = max(e.ended_by or e.began_by for e in epochs).timestamp() * 1000 + 1000
    groups = set(epochs.values_list("group", flat=True))
    return {
        group: read_timeline(
            cluster, group, None, now=round(now), minutes=1440, by="members"
        )
        for group in groups
    }
