"""Runs code of the user's that may block, and waits for it no longer than a limit.

A module that is imported, or a function that makes a listener, may wait forever for a
lock or a server. It runs in a daemon thread, so that whoever needs it gets an error
instead of waiting, and the process can end. While such a call goes on, another one for
the same thing is refused at once: attempts do not pile up threads.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from typing import TypeVar

from rmqcore.errors import ArgumentError

T = TypeVar("T")

_overdue: dict[str, Future[object]] = {}


def within(seconds: float, what: str, not_yet: str, work: Callable[[], T]) -> T:
    """Return what `work` returns, and raise what it raises.

    Raise `ArgumentError`, which says that `what` is `not_yet` after that many seconds,
    or still is. May be called from any thread.
    """
    if (late := _overdue.get(what)) is not None and not late.done():
        raise ArgumentError(f"{what} is still {not_yet}")
    outcome: Future[T] = Future()
    threading.Thread(
        target=_settle, args=(outcome, work), name=what, daemon=True
    ).start()
    try:
        return outcome.result(seconds)
    except FutureTimeoutError:
        if outcome.done():
            raise
        _overdue[what] = outcome  # type: ignore[assignment]
        raise ArgumentError(f"{what} is {not_yet} after {seconds:g} s") from None


def _settle(outcome: Future[T], work: Callable[[], T]) -> None:
    try:
        outcome.set_result(work())
    except BaseException as error:  # whoever waits is told, whatever it is
        outcome.set_exception(error)
