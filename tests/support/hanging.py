"""Ends a process of tests that hangs while it clears up after a test.

pytest-timeout bounds a test together with what clears up after it, but stops its clock
as soon as the test has failed. What then waits for ever keeps the whole run waiting:
one page that a failed test leaves open is enough. Python's own watchdog needs nothing
from the thread that hangs: it prints where every thread is, and ends the process. In a
run by several processes the others go on, and the test counts as failed.
"""

from __future__ import annotations

import faulthandler
import os
import sys
from collections.abc import Generator
from typing import Final

import pytest

_PRINTED: Final = pytest.StashKey[int]()
"""Where to print to while pytest keeps what is printed for itself."""


def pytest_configure(config: pytest.Config) -> None:
    """Keep a way to standard error."""
    assert sys.__stderr__ is not None
    config.stash[_PRINTED] = os.dup(sys.__stderr__.fileno())


def pytest_unconfigure(config: pytest.Config) -> None:
    """Close it."""
    os.close(config.stash[_PRINTED])


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_teardown(item: pytest.Item) -> Generator[None, None, None]:
    """Give what clears up after a test as long as a test has by default."""
    limit = float(item.config.getini("timeout"))
    faulthandler.dump_traceback_later(
        limit, exit=True, file=item.config.stash[_PRINTED]
    )
    try:
        return (yield)
    finally:
        faulthandler.cancel_dump_traceback_later()
