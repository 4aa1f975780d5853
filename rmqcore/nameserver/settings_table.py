"""Keys and values by namespace, which a name server keeps for brokers and clients.

If the name server has a store, they are on disk before a change is answered: in one
file that is replaced as a whole, in the format of RocketMQ's own `kvConfig.json`.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

import msgspec

from rmqcore.store import ConfigFile

ORDER_TOPIC_NAMESPACE: Final = "ORDER_TOPIC_CONFIG"
"""Topic → `broker:queues;…`, for topics with queues independent of living brokers."""


class _Stored(msgspec.Struct, rename="camel"):
    config_table: dict[str, dict[str, str]] = {}


class SettingsTable:
    """Values by namespace and key; without a file they are in memory only.

    Raises `StoreError` naming the file when neither it nor its backup can be read.
    """

    def __init__(self, path: Path | None = None) -> None:
        self._file = None if path is None else ConfigFile(path)
        stored = None if self._file is None else self._file.load(_parse)
        self._namespaces = stored or {}

    def put(self, namespace: str, key: str, value: str) -> None:
        """Set a value; it is on disk when this returns."""
        self._namespaces.setdefault(namespace, {})[key] = value
        self._save()

    def get(self, namespace: str, key: str) -> str | None:
        """Return a value, None when it was never set."""
        return self._namespaces.get(namespace, {}).get(key)

    def delete(self, namespace: str, key: str) -> None:
        """Remove a value, if there is one."""
        values = self._namespaces.get(namespace, {})
        values.pop(key, None)
        if not values:
            self._namespaces.pop(namespace, None)
        self._save()

    def namespace(self, namespace: str) -> Mapping[str, str] | None:
        """Return all values of a namespace, None when it has none."""
        return self._namespaces.get(namespace)

    def _save(self) -> None:
        if self._file is not None:
            self._file.path.parent.mkdir(parents=True, exist_ok=True)
            self._file.save(msgspec.json.encode(_Stored(self._namespaces)))


def _parse(data: bytes) -> dict[str, dict[str, str]]:
    try:
        return msgspec.json.decode(data, type=_Stored).config_table
    except msgspec.MsgspecError as error:
        raise ValueError(f"not a table of settings: {error}") from None
