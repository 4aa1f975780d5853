"""What several test modules of the admin room start from."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

import pytest

from rmqcore.admin import snapshot
from rmqcore.admin.assemble import Gathered, assemble
from rmqcore.admin.last_sweep import LastSweep
from rmqcore.model.snapshot import ClusterSnapshot

from .lab import ALONE, Lab


@pytest.fixture
async def lab() -> AsyncIterator[Lab]:
    """A name server without brokers yet; add some with `lab.broker`."""
    async with AsyncExitStack() as stack:
        lab = Lab(stack)
        await lab.start()
        yield lab


@pytest.fixture
async def lab_of_one() -> AsyncIterator[Lab]:
    """A lab for a single broker, which is not waited for long when it is silent."""
    async with AsyncExitStack() as stack:
        lab = Lab(stack)
        await lab.start(ALONE)
        yield lab


@pytest.fixture(autouse=True)
def what_is_reused_equals_what_is_joined_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hold each snapshot of these tests against ones that know less."""

    def assemble_both(
        gathered: Gathered,
        previous: ClusterSnapshot | None,
        last: LastSweep,
    ) -> ClusterSnapshot:
        made = assemble(gathered, previous, last)
        assert made == assemble(gathered) == assemble(gathered, previous)
        return made

    monkeypatch.setattr(snapshot, "assemble", assemble_both)
