"""Groups that cannot have changed are carried over; see `conftest` for what they are
held against."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import pytest

from rmqcore.admin.last_sweep import LastSweep
from rmqcore.model.snapshot import ClusterSnapshot
from rmqcore.protocol.codes import RequestCode as Code

from .lab import Lab
from .scripted import Contents, busy, failed, members_of

SETTLED_S = 45
"""After this a broker that has just appeared is believed."""


@pytest.fixture
def carried(monkeypatch: pytest.MonkeyPatch) -> list[set[str]]:
    """The groups that each snapshot carried over."""
    names: list[set[str]] = []
    same_groups = LastSweep.same_groups

    def noting(last: LastSweep, *told: Any) -> Any:
        found = same_groups(last, *told)
        if last._snapshot is not None:  # others are those that `conftest` begins
            names.append(set(found))
        return found

    monkeypatch.setattr(LastSweep, "same_groups", noting)
    return names


def contents() -> Contents:
    return Contents(
        topics={"T": {0: (0, 5)}, "U": {0: (0, 5)}},
        committed={"T@G": {0: 1}, "U@H": {0: 1}},
        groups={"G", "H", "I"},
        members={"H": members_of("a", "b")},
        version=1,
    )


async def steady(lab: Lab) -> ClusterSnapshot:
    await lab.take()
    await lab.clock.advance(SETTLED_S)
    return await lab.take()


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda _held: None, set()),
        (lambda held: held.committed["T@G"].update({0: 2}), {"G"}),
        (lambda held: held.committed.pop("T@G"), {"G"}),
        (lambda held: held.committed.update({"T@I": {0: 2}}), {"I"}),
        (lambda held: held.members.update(G=members_of("c")), {"G"}),
        (lambda held: held.members.pop("H"), {"H"}),
        (lambda held: held.topics["U"].update({0: (0, 6)}), {"H"}),
        (lambda held: held.topics.update({"%RETRY%H": {0: (0, 1)}}), {"G", "H", "I"}),
        (lambda held: held.topics.pop("T"), {"G", "H", "I"}),
    ],
)
async def test_all_but_what_a_change_concerns_is_carried_over(
    lab: Lab,
    carried: list[set[str]],
    change: Callable[[Contents], object],
    expected: set[str],
) -> None:
    broker = await lab.broker(**vars(contents()))
    before = await steady(lab)
    before = await lab.take(previous=before)
    change(broker.contents)
    await lab.admin.snapshot(groups={"G"}, running_info=True)
    made = await lab.take(previous=before)
    assert carried[-1] == made.groups.keys() - expected
    for name in carried[-1]:
        assert made.groups[name] is before.groups[name]


async def test_nothing_is_carried_over_from_another_snapshot(
    lab: Lab, carried: list[set[str]]
) -> None:
    await lab.broker(**vars(contents()))
    before = await steady(lab)
    await lab.take(previous=before)
    await lab.take(previous=before)
    assert carried[-1] == set()


@pytest.mark.parametrize("seed", range(6))
async def test_whatever_happens_leads_to_what_is_joined_anew(
    lab: Lab, seed: int
) -> None:
    chance = Random(seed)
    brokers = [await lab.broker(name, **vars(contents())) for name in ("a", "b")]
    last = await steady(lab)
    for _ in range(25):
        await lab.clock.advance(chance.choice((1, 5, SETTLED_S)))
        held = chance.choice(brokers)
        held.faults.clear()
        told, group = held.contents, chance.choice("GHI")
        match chance.randrange(9):
            case 0:
                some = chance.sample("abcd", chance.randrange(1, 4))
                told.members[group] = members_of(*some)
            case 1:
                told.members.pop(group, None)
            case 2:
                topic = told.topics[chance.choice("TU")]
                topic[0] = (0, topic[0][1] + 1)
            case 3:
                name = chance.choice(("V", f"%RETRY%{group}"))
                told.topics.setdefault(name, {0: (0, 5)})
            case 4:
                told.topics.pop("V", None)
            case 5:
                told.committed[f"{chance.choice('TUV')}@{group}"] = {0: 1}
            case 6:
                told.groups ^= {chance.choice("IJ")}
            case 7:
                code = chance.choice(
                    (Code.GET_CONSUMER_CONNECTION_LIST, Code.GET_ALL_CONSUMER_OFFSET)
                )
                held.faults[code] = chance.choice((failed, busy))
        if chance.random() < 0.3:
            await lab.admin.snapshot(groups={"G"}, running_info=True)
        last = await lab.take(previous=last)
