"""Search over REST."""

from __future__ import annotations

from typing import Annotated, Any

from django.http import HttpRequest
from ninja import Router, Schema
from pydantic import Field

from dashboard.accounts.permissions import user_of
from dashboard.live.name_documents import NameKind

from .reads import LISTED, LONGEST, search

router = Router()


class FoundOut(Schema):
    """A name that was found; `page` is the path of its page."""

    kind: NameKind
    name: str
    cluster: str
    page: str


class SearchOut(Schema):
    """The best names of each kind, and how many there are of it in all."""

    found: list[FoundOut]
    counts: dict[NameKind, int]
    waiting: list[str] = Field(
        description="clusters whose names have not been collected yet"
    )
    left_out: int = Field(
        description="names that are not searched: a cluster has too many of a kind"
    )


@router.get("/search", response={200: SearchOut})
def search_names(
    request: HttpRequest,
    q: Annotated[str, Field(min_length=1, max_length=LONGEST)],
    cluster: Annotated[
        str, Field(description="the cluster whose names come first")
    ] = "",
) -> dict[str, Any]:
    """Find groups, topics, clients and brokers of all clusters by a part of a name."""
    answer = search(user_of(request), q, cluster, LISTED)
    return {
        "found": [
            {
                "kind": section.kind,
                "name": link.name,
                "cluster": link.cluster,
                "page": link.address,
            }
            for section in answer.sections
            for link in section.links
        ],
        "counts": {section.kind: section.count for section in answer.sections},
        "waiting": list(answer.waiting),
        "left_out": answer.left_out,
    }
