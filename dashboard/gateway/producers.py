"""The producers that brokers know: all of them (328), or those of one group (204)."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from rmqcore.admin import Admin
from rmqcore.model.route import BrokerData

from .asking import ask, or_error
from .settings import ClusterSettings


@dataclass(frozen=True, slots=True)
class ProducerRow:
    """A producer on one host; `heard` is its last heartbeat (ms) by broker.

    A heartbeat is None where the broker did not say when it was.
    """

    group: str
    client_id: str
    address: str
    language: str
    version: int
    heard: Mapping[str, int | None]

    @property
    def brokers(self) -> tuple[str, ...]:
        return tuple(self.heard)

    @property
    def heard_at(self) -> int | None:
        """The latest of its heartbeats."""
        return max((at for at in self.heard.values() if at), default=None)


@dataclass(frozen=True, slots=True)
class Producers:
    """The producers of the brokers that answered, and the errors of the others."""

    rows: Sequence[ProducerRow]
    silent: Mapping[str, str]


def ask_producers(cluster: ClusterSettings, group: str = "") -> Producers:
    """Return the producers that each master knows, or those of the group that is named.

    Brokers before 4.9.5 list only the producers of a named group.
    """

    async def work(admin: Admin) -> Producers:
        return await producers_of(admin, await admin.brokers(), group)

    return ask(cluster, work)


async def producers_of(
    admin: Admin, brokers: Iterable[BrokerData], group: str = ""
) -> Producers:
    """Ask the masters of some brokers; producers send heartbeats to no others."""
    masters = {each.broker_name: each.master for each in brokers}
    found = await asyncio.gather(
        *(
            or_error(_told(admin, name, at, group))
            for name, at in masters.items()
            if at is not None
        )
    )
    names = [name for name, at in masters.items() if at is not None]
    told = dict(zip(names, found, strict=True))
    return Producers(
        _joined([rows for rows in told.values() if not isinstance(rows, str)]),
        {
            name: error
            for name in masters
            if isinstance(error := told.get(name, "no master is up"), str)
        },
    )


async def _told(
    admin: Admin, broker: str, address: str, group: str
) -> list[ProducerRow]:
    if group:
        return [
            ProducerRow(
                group, c.client_id, c.client_addr, c.language, c.version, {broker: None}
            )
            for c in await admin.producer_connections(group, address)
        ]
    return [
        ProducerRow(
            name,
            p.client_id,
            p.remote_ip,
            p.language,
            p.version,
            {broker: p.last_update_timestamp or None},
        )
        for name, infos in (await admin.producers(address)).items()
        for p in infos
    ]


def _joined(told: Iterable[Sequence[ProducerRow]]) -> list[ProducerRow]:
    """Make one row of a client's connections to several brokers."""
    rows: dict[tuple[str, str, str], ProducerRow] = {}
    for each in (row for found in told for row in found):
        host = each.address.rpartition(":")[0].removeprefix("/") or each.address
        key = (each.group, each.client_id, host)
        heard = dict(rows[key].heard) if key in rows else {}
        for broker, at in each.heard.items():
            heard[broker] = max(filter(None, (at, heard.get(broker))), default=None)
        rows[key] = ProducerRow(
            each.group, each.client_id, host, each.language, each.version, heard
        )
    return [rows[key] for key in sorted(rows)]
