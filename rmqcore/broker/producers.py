"""The producers: producer groups and their clients, from heartbeats.

No IO and no clock: times are arguments in ms.
"""

from __future__ import annotations

from typing import Generic

from .consumers import CHANNEL_EXPIRY_MS, ChannelT, ClientChannel


class ProducerTable(Generic[ChannelT]):
    """Clients by producer group; a group exists while a client of it is connected."""

    def __init__(self) -> None:
        self._groups: dict[str, dict[ChannelT, ClientChannel[ChannelT]]] = {}

    def clients(self, group: str) -> list[ClientChannel[ChannelT]]:
        """Return the clients of one group, none when it is unknown."""
        return list(self._groups.get(group, {}).values())

    def all_clients(self) -> dict[str, list[ClientChannel[ChannelT]]]:
        """Return the clients of every group."""
        return {name: list(table.values()) for name, table in self._groups.items()}

    def register(
        self, group: str, client: ClientChannel[ChannelT], now_ms: int
    ) -> None:
        """Add a client to a group, or renew its time."""
        clients = self._groups.setdefault(group, {})
        clients.setdefault(client.channel, client).last_update_ms = now_ms

    def unregister(self, group: str, channel: ChannelT) -> None:
        """Take a channel out of one group."""
        clients = self._groups.get(group)
        if clients is None:
            return
        clients.pop(channel, None)
        if not clients:
            del self._groups[group]

    def close(self, channel: ChannelT) -> None:
        """Take a lost channel out of every group."""
        for group in list(self._groups):
            self.unregister(group, channel)

    def expired(self, now_ms: int) -> list[ChannelT]:
        """Return the channels silent for more than 120 s; the caller closes them."""
        limit = now_ms - CHANNEL_EXPIRY_MS
        silent: dict[ChannelT, None] = {}
        for clients in self._groups.values():
            for client in clients.values():
                if client.last_update_ms < limit:
                    silent[client.channel] = None
        return list(silent)
