"""The admin client: inspects and operates a cluster by its name-server address.

    async with Admin("127.0.0.1:9876") as admin:
        snapshot = await admin.snapshot(running_info=True)

It joins no group, sends no heartbeat, and creates nothing unless a call says so.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from rmqcore.model.snapshot import ClusterSnapshot, KnownBroker

from .access import AccessCalls
from .ages import GroupAges
from .groups import GroupCalls
from .moving import MovingCalls
from .sending import SendingCalls
from .sweep import Question


class Admin(SendingCalls, MovingCalls, GroupCalls, AccessCalls):
    """Typed calls to one cluster; see `Caller` for how it is made."""

    async def snapshot(
        self,
        *,
        groups: Collection[str] | None = None,
        running_info: bool | Collection[str] = False,
        time_lag: bool = False,
        pulled: bool = False,
        previous: ClusterSnapshot | None = None,
    ) -> ClusterSnapshot:
        """Return the cluster as one sweep over all brokers sees it.

        `groups` limits it to those groups and their topics. `running_info` asks every
        member (of all groups, or of those named) what it holds; `time_lag` asks how old
        the first unconsumed messages are; `pulled` asks which offsets were handed out.
        Unchanged parts are shared with `previous`, which must come from a call with the
        same limits. Raises `ConnectError` when no name server answers; brokers that do
        not answer are marked in the snapshot.
        """
        question = Question(
            None if groups is None else frozenset(groups),
            running_info if isinstance(running_info, bool) else frozenset(running_info),
            time_lag,
            pulled,
        )
        return await self._snapshots.take(question, previous)

    async def oldest_ages(
        self, wanted: Mapping[str, Collection[tuple[str, str]]]
    ) -> GroupAges:
        """Return the ages (ms) of first unconsumed messages, by group and queue.

        `wanted` has pairs of group and topic by broker name. Ages are by the broker's
        clock. Those not told within `Patience.timeout_s` are left out, as are brokers
        that no snapshot has shown or that are left alone for a pause.
        """
        return await self._snapshots.ages(wanted)

    def forget_broker(self, name: str) -> bool:
        """Treat a missing broker as gone: snapshots no longer show it or its queues.

        Return False when it is not missing: named by a name server, or not known.
        """
        return self._snapshots.register.forget(name)

    def member_left(self, group: str, client_id: str) -> None:
        """Take a member's own word that it leaves its group.

        A broker that is away or has restarted cannot tell: without this word the
        member would be shown as missing for 40 s after that. One that a broker lists is
        still shown.
        """
        self._snapshots.member_left(group, client_id)

    def member_there(self, group: str, client_id: str) -> None:
        """Take a member's own word that it is in its group, perhaps again."""
        self._snapshots.member_there(group, client_id)

    def known_brokers(self) -> tuple[KnownBroker, ...]:
        """Return the brokers that snapshots have shown, including missing ones."""
        return self._snapshots.known_brokers()

    def remember_broker(self, broker: KnownBroker) -> None:
        """Add a broker that was there before this client was made.

        The next snapshots show it, as missing where the name servers do not name it.
        What this client has seen itself is kept.
        """
        self._snapshots.remember_broker(broker)
