"""Names of clusters, written as the collector does."""

from __future__ import annotations

from typing import Any

import redis

from dashboard.collector.names_document import NameBook
from dashboard.live.names import names_key


def put_names(port: int, cluster: str, **names: list[str]) -> None:
    """Put the names of a cluster into the cache, by kind."""
    listed: dict[Any, list[str]] = dict(names)
    text = NameBook(cluster).document(listed, 10**12)
    assert text is not None
    with redis.Redis(port=port) as client:
        client.set(names_key(cluster), text)
