"""Answers that every route of the REST API may give."""

from __future__ import annotations

from typing import Any

from ninja import Schema
from pydantic import Field


class FieldError(Schema):
    """One value that does not fit: where it is, and what would fit."""

    type: str
    loc: list[str | int] = Field(
        description="query, path or body, and the names down to the value"
    )
    msg: str
    value: str | None = Field(
        None, description="what was given; at most 80 characters, and no secret"
    )
    ctx: dict[str, Any] | None = Field(None, description="the limit, by its name")


class Problem(Schema):
    """Why a request was refused, naming the value and what would be allowed."""

    detail: str
    code: str | None = Field(
        None,
        description='"confirm": repeat it with `confirm`, the name of the group; '
        '"read_only": nothing is written to this cluster',
    )
    errors: list[FieldError] | None = Field(
        None, description="each value that does not fit, with status 422"
    )
