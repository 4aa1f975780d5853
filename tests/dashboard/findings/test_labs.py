"""Each lab's group gets the warning it is owed, by the real collector, and no other."""

from __future__ import annotations

from pathlib import Path

import pytest

from rmqcore.labs import LABS
from tests.support.valkey import Valkey

from .looking_on import play_watched

pytestmark = [
    pytest.mark.embedded,
    pytest.mark.django_db(transaction=True),
    pytest.mark.timeout(180),
]

LOOKS = {
    # A message has to hang for a minute before it is said to.
    "F6": (15, 5_000),
    # Locks expire after a minute: more than that would be another fault.
    "F7": (4, 2_000),
}


@pytest.mark.parametrize("name", LABS)
async def test_a_lab_gets_the_warning_it_is_owed(
    name: str, valkey: Valkey, tmp_path: Path
) -> None:
    looks = LOOKS.get(name, (4, 3_000))
    result, onlooker = await play_watched(name, valkey, tmp_path, looks=looks)
    assert result.seen
    found = set().union(*onlooker.found.values())
    owed = {result.finding} if result.finding else set()
    # A broadcasting group is always told as one; that is no warning.
    assert found - {"broadcasting"} == owed - {"broadcasting"}
    assert ("broadcasting" in found) == (name in {"F2", "F2b", "F3", "F4"})
