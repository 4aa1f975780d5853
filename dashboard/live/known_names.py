"""The names in clusters, read for searching.

Each process keeps the last names of each cluster. A search reads 46 bytes for each
cluster, and a whole document (0.3 MB for 10,000 groups) only where names have changed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, cast

import redis
from django.conf import settings

from .decoding import read_object
from .name_documents import HEAD_BYTES, KINDS, NameKind, NamesDocument
from .names import names_key
from .state import LiveState, live_state


@dataclass(frozen=True, slots=True)
class KnownNames:
    """The names of one cluster by kind, and the same as they are compared."""

    cluster: str
    names: Mapping[NameKind, Sequence[str]]
    folded: Mapping[NameKind, Sequence[str]]
    left_out: int


_kept: Final[dict[str, tuple[bytes, KnownNames]]] = {}
"""The last names of each cluster, with the first bytes of their document."""


def known_names(clusters: Sequence[str]) -> list[KnownNames]:
    """Return the names of those clusters that have been collected, in that order.

    Raise redis.RedisError.
    """
    if not settings.ROCKETSCOPE_REDIS_URL:
        raise redis.ConnectionError("ROCKETSCOPE_REDIS_URL is not set")
    state = live_state()
    with state.client.pipeline(transaction=False) as asked:
        for name in clusters:
            asked.getrange(names_key(name), 0, HEAD_BYTES - 1)
        heads = cast("list[bytes]", asked.execute())
    found = (
        _names(state, name, head) for name, head in zip(clusters, heads, strict=True)
    )
    return [each for each in found if each is not None]


def _names(state: LiveState, cluster: str, head: bytes) -> KnownNames | None:
    last = _kept.get(cluster)
    if last is not None and last[0] == head:
        return last[1]
    _kept.pop(cluster, None)
    text = cast("bytes | None", state.client.get(names_key(cluster)))
    document = cast("NamesDocument | None", read_object(text))
    if text is None or document is None or "names" not in document:
        return None
    listed = {kind: document["names"].get(kind, []) for kind in KINDS}
    folded = {kind: [each.casefold() for each in listed[kind]] for kind in KINDS}
    names = KnownNames(cluster, listed, folded, document["left_out"])
    _kept[cluster] = (text[:HEAD_BYTES], names)
    return names
