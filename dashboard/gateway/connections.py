"""Connections to one cluster: turns its settings into an admin client and snapshots.

One `ClusterConnection` belongs to one event loop and is kept open between sweeps; a
snapshot shares unchanged parts with the previous one.
"""

from __future__ import annotations

import functools
import ssl
from collections.abc import Collection, Iterable, Mapping, Sequence

from rmqcore.admin import AclCredentials, Admin
from rmqcore.model.columns import QueueKey
from rmqcore.model.snapshot import ClusterSnapshot, KnownBroker
from rmqcore.transport import ClientTls, Clock, RequestHook, signing

from .broker_runtime import Told, ask_brokers
from .read_only import only_reads
from .settings import ClusterSettings


class ClusterConnection:
    """Reads one cluster; joins no group and writes nothing to it."""

    def __init__(self, cluster: ClusterSettings, clock: Clock | None = None) -> None:
        self.cluster = cluster
        self._admin = open_admin(cluster, clock)
        self._last: ClusterSnapshot | None = None
        self._last_names: frozenset[str] = frozenset()
        self._last_groups: ClusterSnapshot | None = None

    async def snapshot(self) -> ClusterSnapshot:
        """Sweep everything, asking no members; raise when no name server answers."""
        self._last = await self._admin.snapshot(previous=self._last)
        return self._last

    async def groups(self, names: Collection[str]) -> ClusterSnapshot:
        """Sweep some groups and their topics, asking their members what they hold.

        Also asks how old the oldest messages are and which were handed out.
        """
        wanted = frozenset(names)
        previous = self._last_groups if wanted == self._last_names else None
        snapshot = await self._admin.snapshot(
            groups=wanted,
            running_info=True,
            time_lag=True,
            pulled=True,
            previous=previous,
        )
        self._last_names, self._last_groups = wanted, snapshot
        return snapshot

    async def ages(
        self, wanted: Mapping[str, Collection[tuple[str, str]]]
    ) -> Mapping[str, Mapping[QueueKey, int]]:
        """Return the ages (ms) of first unconsumed messages, by group and queue.

        `wanted` has pairs of group and topic by broker; ages not told are left out.
        """
        return await self._admin.oldest_ages(wanted)

    async def runtimes(
        self,
        addresses: Sequence[str],
        with_settings: Collection[str],
        masters: Collection[str],
    ) -> Sequence[Told]:
        """Ask brokers about themselves, side by side; see `ask_brokers`."""
        return await ask_brokers(self._admin, addresses, with_settings, masters)

    def known_brokers(self) -> Sequence[KnownBroker]:
        """Return the brokers that were seen, including those missing now."""
        return self._admin.known_brokers()

    def remember_brokers(self, brokers: Iterable[KnownBroker]) -> None:
        """Take brokers that were known before; see `Admin.remember_broker`."""
        for broker in brokers:
            self._admin.remember_broker(broker)

    def forget_broker(self, name: str) -> bool:
        """Treat a missing broker as gone; False when it is not missing."""
        return self._admin.forget_broker(name)

    def note_member(self, group: str, client_id: str, *, left: bool) -> None:
        """Take a member's own word that it is in its group, or has left it."""
        if left:
            self._admin.member_left(group, client_id)
        else:
            self._admin.member_there(group, client_id)

    async def broker_names(self) -> list[str]:
        """Return the brokers that the name server knows."""
        return sorted((await self._admin.cluster_info()).brokers)

    async def close(self) -> None:
        """Close every connection."""
        await self._admin.close()


def open_admin(cluster: ClusterSettings, clock: Clock | None = None) -> Admin:
    """Return an admin client for a cluster of the settings; it connects when used.

    It uses the machine's clock unless it is given another.
    """
    return Admin(
        list(cluster.name_servers),
        tls=tls_of(cluster),
        hooks=request_hooks(cluster),
        clock=clock,
    )


def tls_of(cluster: ClusterSettings) -> ssl.SSLContext | None:
    """Return the TLS context for a cluster, None if it speaks plain TCP.

    Its files are read once in a process: authorities take a megabyte each time, and a
    worker hosts hundreds of members.
    """
    return None if cluster.tls is None else _context(cluster.tls)


@functools.cache
def _context(tls: ClientTls) -> ssl.SSLContext:
    return tls.context()


def credentials_of(cluster: ClusterSettings) -> AclCredentials | None:
    """Return the keys that sign requests to a cluster, None if it has none."""
    if not cluster.access_key:
        return None
    return AclCredentials(cluster.access_key, cluster.secret_key)


def request_hooks(cluster: ClusterSettings) -> tuple[RequestHook, ...]:
    """Return the hooks of every client of the cluster, signing last.

    They refuse writes where the cluster is read-only, and sign where it has keys.
    """
    hooks = (only_reads(cluster),) if cluster.read_only else ()
    credentials = credentials_of(cluster)
    return hooks if credentials is None else (*hooks, signing(credentials))
