"""Listings of a broker's topics and groups, sent again only when they changed.

Releases since 5.3 send listings in pages and say how long the whole is. Asked for "one
item from the end on, if you are still at this version", they send nothing when nothing
changed and a first page when something did. Others do not know these fields and send
the whole listing each time; they are recognized by the missing total.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, NamedTuple

from rmqcore.protocol.codes import RequestCode
from rmqcore.protocol.command import RemotingCommand

from .line import Line
from .tables import Listing


class ListingKind(NamedTuple):
    """A listing's request code, and the names of its paging fields."""

    code: RequestCode
    sequence_field: str
    limit_field: str
    total_field: str


TOPICS: Final = ListingKind(
    RequestCode.GET_ALL_TOPIC_CONFIG, "topicSeq", "maxTopicNum", "totalTopicNum"
)
GROUPS: Final = ListingKind(
    RequestCode.GET_ALL_SUBSCRIPTIONGROUP_CONFIG,
    "groupSeq",
    "maxGroupNum",
    "totalGroupNum",
)


@dataclass(frozen=True, slots=True)
class Remembered:
    """A listing, and how long the broker said it is (0: it does not send pages)."""

    listing: Listing
    total: int


async def ask_listing(
    line: Line,
    kind: ListingKind,
    decode: Callable[[bytes], Listing],
    remembered: Remembered | None,
) -> Remembered:
    """Return the current listing: the remembered one, if it is still valid."""
    if remembered is not None and remembered.total and remembered.listing.version:
        answer = await line.ask(
            RemotingCommand.request(
                kind.code,
                {
                    "dataVersion": remembered.listing.version,
                    kind.sequence_field: str(remembered.total),
                    kind.limit_field: "1",
                },
            )
        )
        page = decode(answer.body)
        known = remembered.listing
        if (
            not page.names
            and page.version == known.version
            and page.mapping_version == known.mapping_version
        ):
            return remembered
    answer = await line.ask(RemotingCommand.request(kind.code))
    return Remembered(decode(answer.body), _total(answer, kind.total_field))


def _total(answer: RemotingCommand, name: str) -> int:
    text = answer.ext_fields.get(name, "")
    return int(text) if text.isascii() and text.isdigit() else 0
