"""Answers that every route of the REST API may give."""

from __future__ import annotations

from ninja import Schema
from pydantic import Field


class Problem(Schema):
    """Why a request was refused, naming the value and what would be allowed."""

    detail: str
    code: str | None = Field(
        None,
        description='"confirm": repeat it with `confirm`, the name of the group; '
        '"read_only": nothing is written to this cluster',
    )
