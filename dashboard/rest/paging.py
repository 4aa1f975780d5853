"""The pages of a list: all lists take `limit` and `offset`, and answer an array."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeVar, cast

from django.http import HttpRequest
from ninja import Schema
from ninja.pagination import PaginationBase, paginate
from pydantic import Field

View = TypeVar("View", bound=Callable[..., Any])

MOST_ROWS: Final = 2000


class PageQuery(Schema):
    """Which part of a list; one that is shorter than `limit` is the last.

    Lists that are too long to be returned whole have a `limit` of their own.
    """

    limit: int | None = Field(
        None, ge=1, le=MOST_ROWS, description="how many to return; all without it"
    )
    offset: int = Field(0, ge=0, description="how many to leave out before them")

    def of(self, rows: Any) -> Any:
        """Return that part of a sequence or of a queryset."""
        end = None if self.limit is None else self.offset + self.limit
        return rows[self.offset : end]


class Page(PaginationBase):
    """A part of a list; without `limit` the whole of it."""

    Input = PageQuery  # type: ignore[assignment]
    Output = None  # type: ignore[assignment]

    def paginate_queryset(
        self, queryset: Any, pagination: Any, request: HttpRequest, **_given: Any
    ) -> Any:
        return pagination.of(queryset)


def newest(count: int, most: int = MOST_ROWS) -> Any:
    """Return the field `limit` of a list that is not returned whole."""
    return Field(count, ge=1, le=most, description="how many to return")


def paged(view: View) -> View:
    """Decorate the route of a list that is returned whole unless a part is asked."""
    return cast("View", paginate(Page)(view))
