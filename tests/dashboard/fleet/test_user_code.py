from __future__ import annotations

import sys
import threading

import pytest

from dashboard.fleet.user_code import within
from rmqcore.errors import ArgumentError
from tests.support.waiting import PATIENCE_SECONDS, wait_until


def test_results_and_errors_come_through() -> None:
    assert within(PATIENCE_SECONDS, "sum", "not made", lambda: 1 + 1) == 2
    with pytest.raises(KeyError, match="rate"):
        within(PATIENCE_SECONDS, "lookup", "not made", lambda: {}["rate"])
    with pytest.raises(SystemExit):
        within(PATIENCE_SECONDS, "exit", "not made", lambda: sys.exit(3))


def test_a_timeout_of_the_users_own_is_not_taken_for_ours() -> None:
    def times_out() -> None:
        raise TimeoutError("the server")

    for _ in range(2):
        with pytest.raises(TimeoutError, match="the server"):
            within(PATIENCE_SECONDS, "asking", "not made", times_out)


def test_what_is_late_is_refused_until_it_ends() -> None:
    release, calls = threading.Event(), []

    def hang() -> bool:
        calls.append(threading.current_thread())
        return release.wait(PATIENCE_SECONDS)

    with pytest.raises(
        ArgumentError, match=r"^module 'm' is not loaded after 0\.01 s$"
    ):
        within(0.01, "module 'm'", "not loaded", hang)
    with pytest.raises(ArgumentError, match=r"^module 'm' is still not loaded$"):
        within(PATIENCE_SECONDS, "module 'm'", "not loaded", hang)
    assert within(PATIENCE_SECONDS, "module 'n'", "not loaded", lambda: 1) == 1
    (thread,) = calls
    assert thread.daemon
    release.set()
    wait_until(lambda: not thread.is_alive())
    assert within(PATIENCE_SECONDS, "module 'm'", "not loaded", hang)
