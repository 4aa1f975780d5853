"""Answers that every route of the REST API may give."""

from __future__ import annotations

from ninja import Schema


class Problem(Schema):
    """Why a request was refused, naming the value and what would be allowed."""

    detail: str
