"""Queries whose SQL is worked out once.

Every page asks a few small questions, such as which teams its reader is in. To work out
the SQL takes Django ten times as long as the database takes to answer.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

from django.db import connection
from django.db.models import QuerySet


class Compiled:
    """A query of plain values, which is asked again and again with other parameters.

    `make` returns it, by `values_list`, with any values of the right kinds; it is
    called once. A field that turns what it stores into something else has no say in
    what comes back: SQLite gives numbers for booleans.
    """

    def __init__(self, make: Callable[[], QuerySet[Any, Any]]) -> None:
        self._make = make

    @cached_property
    def _sql(self) -> str:
        return self._make().query.sql_with_params()[0]

    def rows(self, *values: Any) -> list[tuple[Any, ...]]:
        """Return all rows, for the values in the order in which the SQL has them."""
        with connection.cursor() as cursor:
            cursor.execute(self._sql, values)
            return list(cursor.fetchall())

    def count(self, *values: Any) -> int:
        """Return how many rows there are."""
        with connection.cursor() as cursor:
            # Values are never part of the SQL, which Django wrote.
            counting = f"SELECT COUNT(*) FROM ({self._sql}) AS found"  # noqa: S608
            cursor.execute(counting, values)
            (found,) = cursor.fetchone()
        return int(found)
