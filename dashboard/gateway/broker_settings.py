"""The settings of every broker of a cluster (26), asked side by side on request.

Secrets never leave this module: their values are replaced, but a difference between two
brokers is still seen.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from rmqcore.admin import Admin
from rmqcore.errors import RmqError

from .asking import ask
from .configured import MASKED
from .settings import ClusterSettings

_SECRET: Final = re.compile(
    r"password|passwd|secret|credential|accesskey|token|inituser|initAuthenticationUser",
    re.IGNORECASE,
)


def is_secret(setting: str) -> bool:
    """Tell whether a broker's setting holds a secret, by its name."""
    return _SECRET.search(setting) is not None


def shown(setting: str, value: str) -> str:
    """Return a setting's value as people may see it: a secret is masked."""
    return MASKED if value and is_secret(setting) else value


@dataclass(frozen=True, slots=True)
class BrokerSettings:
    """The settings of one process by name, or the error; `broker_id` 0 is a master."""

    name: str
    broker_id: int
    address: str
    values: Mapping[str, str] | None
    error: str | None = None


@dataclass(frozen=True, slots=True)
class SettingRow:
    """One setting on all processes that answered, in their order.

    A value is None where that broker has no such setting. `differs` tells whether any
    two differ; secrets are compared by their real values.
    """

    name: str
    values: Sequence[str | None]
    differs: bool


@dataclass(frozen=True, slots=True)
class SettingsTable:
    """All settings of a cluster: one column for each process that answered."""

    answered: Sequence[BrokerSettings]
    silent: Sequence[BrokerSettings]
    rows: Sequence[SettingRow]


EXPECTED: Final = frozenset(
    {
        "brokerName",
        "brokerId",
        "brokerIP1",
        "brokerIP2",
        "listenPort",
        "haListenPort",
        "fastListenPort",
        "brokerRole",
        "haMasterAddress",
        "brokerConfigPath",
    }
)
"""Settings that have to differ from broker to broker, which therefore says nothing."""


def ask_settings(cluster: ClusterSettings) -> SettingsTable:
    """Return the settings of all brokers; raise RmqError if there is no answer."""
    return settings_table(ask(cluster, _ask_all))


def settings_table(found: Sequence[BrokerSettings]) -> SettingsTable:
    """Lay settings side by side."""
    answered = [each for each in found if each.values is not None]
    names = sorted({name for each in answered for name in each.values or {}})
    rows = [_row(name, answered) for name in names]
    silent = [each for each in found if each.values is None]
    return SettingsTable([_without_secrets(each) for each in answered], silent, rows)


async def _ask_all(admin: Admin) -> list[BrokerSettings]:
    brokers = await admin.brokers()

    async def ask_one(name: str, broker_id: int, address: str) -> BrokerSettings:
        try:
            values = await admin.broker_settings(address)
        except (RmqError, OSError) as error:
            return BrokerSettings(name, broker_id, address, None, str(error))
        return BrokerSettings(name, broker_id, address, values)

    return list(
        await asyncio.gather(
            *(
                ask_one(broker.broker_name, broker_id, address)
                for broker in brokers
                for broker_id, address in sorted(broker.addresses.items())
            )
        )
    )


def _row(name: str, answered: Sequence[BrokerSettings]) -> SettingRow:
    values = [(each.values or {}).get(name) for each in answered]
    told = [None if value is None else shown(name, value) for value in values]
    return SettingRow(name, told, len(set(values)) > 1 and name not in EXPECTED)


def _without_secrets(each: BrokerSettings) -> BrokerSettings:
    values = {name: shown(name, value) for name, value in (each.values or {}).items()}
    return BrokerSettings(each.name, each.broker_id, each.address, values)
