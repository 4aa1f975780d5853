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


class Page(PaginationBase):
    """A part of a list; without `limit` the whole of it, as ever."""

    class Input(Schema):
        """Which part; one that is shorter than `limit` is the last."""

        limit: int | None = Field(
            None, ge=1, le=MOST_ROWS, description="how many to return; all without it"
        )
        offset: int = Field(0, ge=0, description="how many to leave out before them")

    Output = None  # type: ignore[assignment]

    def paginate_queryset(
        self, queryset: Any, pagination: Any, request: HttpRequest, **_given: Any
    ) -> Any:
        end = None if pagination.limit is None else pagination.offset + pagination.limit
        return queryset[pagination.offset : end]


def paged(view: View) -> View:
    """Decorate the route of a list."""
    return cast("View", paginate(Page)(view))
