"""What every route of the REST API may answer."""

from __future__ import annotations

from ninja import Schema


class Problem(Schema):
    """Why a request was not followed, naming the value and what would be allowed."""

    detail: str
