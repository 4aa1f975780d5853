"""Builds the document of a cluster's names when they have changed."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from hashlib import blake2b
from typing import Final

import orjson

from dashboard.live.name_documents import MOST_OF_A_KIND, NameKind, NamesDocument

WRITE_AGAIN_MS: Final = 60_000
"""Names that do not change are written again after this: the cache may have refused or
forgotten them."""


class NameBook:
    """The names of one cluster, as last written."""

    def __init__(self, cluster: str) -> None:
        self._cluster = cluster
        self._seen: dict[NameKind, frozenset[str]] = {}
        self._version = ""
        self._written_ms = 0

    def document(
        self, names: Mapping[NameKind, Collection[str]], now_ms: int
    ) -> bytes | None:
        """Return the encoded `NamesDocument`; None if the last one still holds."""
        holds = now_ms - self._written_ms < WRITE_AGAIN_MS
        seen = {kind: frozenset(each) for kind, each in names.items()}
        if seen == self._seen and holds:
            return None
        self._seen = seen
        listed = {kind: sorted(each)[:MOST_OF_A_KIND] for kind, each in names.items()}
        version = blake2b(orjson.dumps(listed), digest_size=16).hexdigest()
        if version == self._version and holds:
            return None
        self._version, self._written_ms = version, now_ms
        document: NamesDocument = {
            "version": version,
            "cluster": self._cluster,
            "names": listed,
            "left_out": sum(map(len, names.values())) - sum(map(len, listed.values())),
        }
        return orjson.dumps(document)
