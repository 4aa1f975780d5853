"""The document of the names in a cluster, for searching them.

Other documents have these names too, among megabytes of numbers that change at each
sweep. Names rarely change: the document is written when they have, and a reader who
kept the last one needs only its first bytes to see that it still holds.
"""

from __future__ import annotations

from typing import Final, Literal, get_args

from typing_extensions import TypedDict

NameKind = Literal["group", "topic", "client", "broker"]
KINDS: Final[tuple[NameKind, ...]] = get_args(NameKind)

MOST_OF_A_KIND: Final = 50_000
"""Names of one kind that the document lists; what is over is counted."""

HEAD_BYTES: Final = 46
"""The document begins with its version, as in `{"version":"…32 digits…",`."""


class NamesDocument(TypedDict):
    """The names in one cluster by kind, sorted; `left_out` counts those not listed.

    `version` is a digest of the rest.
    """

    version: str
    cluster: str
    names: dict[NameKind, list[str]]
    left_out: int
