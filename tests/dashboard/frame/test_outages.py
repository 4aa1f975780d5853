from __future__ import annotations

import pytest
import redis
from django.db import IntegrityError, InternalError, OperationalError

from dashboard.frame.outages import outage_of


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (OperationalError("database or disk is full"), "disk of the database is full"),
        (OperationalError("attempt to write a readonly database"), "only be read"),
        (
            InternalError("cannot execute UPDATE in a read-only transaction"),
            "only be read",
        ),
        (OperationalError("database is locked"), "database does not answer"),
        (redis.exceptions.OutOfMemoryError("command not allowed"), "memory limit"),
        (redis.ResponseError("MISCONF no RDB"), "refuses: MISCONF no RDB"),
        (redis.ConnectionError("refused"), "Redis does not answer"),
    ],
)
def test_an_outage_is_said(error: Exception, said: str) -> None:
    assert said in (outage_of(error) or "")


@pytest.mark.parametrize("error", [IntegrityError("UNIQUE"), ValueError("full")])
def test_other_errors_are_none(error: Exception) -> None:
    assert outage_of(error) is None
