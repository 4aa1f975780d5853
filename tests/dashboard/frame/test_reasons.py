"""The reason of a write, as every feature checks it."""

from __future__ import annotations

import pytest

from dashboard.frame.reasons import MAX_REASON, checked_reason


class RefusedError(Exception):
    pass


def test_white_space_around_a_reason_is_not_kept() -> None:
    assert checked_reason("  drained \n", RefusedError) == "drained"


def test_a_reason_may_be_as_long_as_is_said() -> None:
    assert checked_reason("x" * MAX_REASON, RefusedError) == "x" * MAX_REASON
    with pytest.raises(RefusedError, match="has 1001 characters, at most 1000"):
        checked_reason("x" * (MAX_REASON + 1), RefusedError)


def test_a_reason_is_needed_unless_said_otherwise() -> None:
    with pytest.raises(RefusedError, match="A reason is needed"):
        checked_reason(" \t", RefusedError)
    assert checked_reason(" ", RefusedError, needed=False) == ""
