"""Asks brokers about themselves (28, 26), and masters for their slaves (907)."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Final

from rmqcore.admin import Admin
from rmqcore.admin.failures import reason_for
from rmqcore.errors import ResponseError, RmqError
from rmqcore.protocol.bodies import HaStatus
from rmqcore.protocol.codes import ResponseCode

AT_ONCE: Final = 16
KEPT_SETTINGS: Final = frozenset(
    {
        "brokerRole",
        "brokerPermission",
        "enableControllerMode",
        "controllerAddr",
        "fileReservedTime",
        "deleteWhen",
        "diskMaxUsedSpaceRatio",
        "diskSpaceCleanForciblyRatio",
        "diskSpaceWarningLevelRatio",
        "flushDiskType",
    }
)
"""The settings that a collector keeps of each broker; none of them is secret."""


@dataclass(frozen=True, slots=True)
class Told:
    """What one broker process answered. Either `table` or `reason` is set.

    `settings` is None if they were not asked for, or were not told; then
    `settings_error` says why. `replicas` and `replicas_why` are the same for slaves.
    """

    address: str
    table: dict[str, str] | None = None
    took_ms: float | None = None
    reason: str | None = None
    error: str | None = None
    settings: dict[str, str] | None = None
    settings_error: str | None = None
    replicas: HaStatus | None = None
    replicas_why: str | None = None


async def ask_brokers(
    admin: Admin,
    addresses: Sequence[str],
    with_settings: Collection[str] = (),
    masters: Collection[str] = (),
) -> list[Told]:
    """Return what each address answers, all asked at once; silence is an answer, too.

    Those of `with_settings` are asked for `KEPT_SETTINGS` as well, and `masters` for
    the slaves that follow them.
    """
    places = asyncio.Semaphore(AT_ONCE)

    async def ask(address: str) -> Told:
        async with places:
            told = await _ask(admin, address, settings=address in with_settings)
            if address not in masters or told.table is None:
                return told
            return await _with_replicas(admin, told)

    return list(await asyncio.gather(*map(ask, addresses)))


async def _ask(admin: Admin, address: str, *, settings: bool) -> Told:
    began = time.perf_counter()
    try:
        table = await admin.broker_runtime(address)
    except (RmqError, OSError) as error:
        return Told(address, reason=reason_for(error).value, error=str(error))
    took_ms = round((time.perf_counter() - began) * 1000, 1)
    if not settings:
        return Told(address, table, took_ms)
    try:
        all_settings = await admin.broker_settings(address)
    except (RmqError, OSError) as error:
        return Told(address, table, took_ms, settings_error=str(error))
    kept = {key: all_settings[key] for key in KEPT_SETTINGS & all_settings.keys()}
    return Told(address, table, took_ms, settings=kept)


async def _with_replicas(admin: Admin, told: Told) -> Told:
    try:
        return replace(told, replicas=await admin.ha_status(told.address))
    except (RmqError, OSError) as error:
        return replace(told, replicas_why=_why_no_replicas(error))


def _why_no_replicas(error: Exception) -> str:
    if (
        isinstance(error, ResponseError)
        and error.code == ResponseCode.REQUEST_CODE_NOT_SUPPORTED
    ):
        return "older_broker"
    return reason_for(error).value
