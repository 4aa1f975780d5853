"""Keys and values by namespace, which a name server keeps for brokers and clients."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

ORDER_TOPIC_NAMESPACE: Final = "ORDER_TOPIC_CONFIG"
"""Topic → `broker:queues;…`, for topics whose queues must not depend on who lives."""


class SettingsTable:
    """Values by namespace and key, in memory only."""

    def __init__(self) -> None:
        self._namespaces: dict[str, dict[str, str]] = {}

    def put(self, namespace: str, key: str, value: str) -> None:
        """Set a value."""
        self._namespaces.setdefault(namespace, {})[key] = value

    def get(self, namespace: str, key: str) -> str | None:
        """Return a value, None when it was never set."""
        return self._namespaces.get(namespace, {}).get(key)

    def delete(self, namespace: str, key: str) -> None:
        """Remove a value, if there is one."""
        values = self._namespaces.get(namespace, {})
        values.pop(key, None)
        if not values:
            self._namespaces.pop(namespace, None)

    def namespace(self, namespace: str) -> Mapping[str, str] | None:
        """Return all values of a namespace, None when it has none."""
        return self._namespaces.get(namespace)
