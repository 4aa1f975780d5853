"""What several test modules of the admin room start from."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

import pytest

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
