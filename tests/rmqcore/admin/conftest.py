"""What several test modules of the admin room start from."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

import pytest

from .lab import Lab


@pytest.fixture
async def lab() -> AsyncIterator[Lab]:
    """A name server without brokers yet; add some with `lab.broker`."""
    async with AsyncExitStack() as stack:
        lab = Lab(stack)
        await lab.start()
        yield lab
