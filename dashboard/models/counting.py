"""Exact bounds: one transaction at a time counts the rows of a kind and adds to them.

PostgreSQL shows a transaction what others have committed, so two that count at the same
time would both find room for one more. SQLite has one writer at a time anyway.
"""

from __future__ import annotations

from django.db import connection, transaction


def count_alone(kind: str) -> None:
    """Wait until no other transaction counts rows of that kind; count after this.

    Others wait until this transaction has ended. Raises TransactionManagementError
    outside a transaction, where no lock would be held.
    """
    if not connection.in_atomic_block:
        raise transaction.TransactionManagementError(
            f"counting {kind!r} needs a transaction"
        )
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(hashtext(%s))", [kind])
