"""Asks brokers about themselves (28), and for the settings that explain it (26)."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final

from rmqcore.admin import Admin
from rmqcore.admin.failures import reason_for
from rmqcore.errors import RmqError

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
    `settings_error` says why.
    """

    address: str
    table: dict[str, str] | None = None
    took_ms: float | None = None
    reason: str | None = None
    error: str | None = None
    settings: dict[str, str] | None = None
    settings_error: str | None = None


async def ask_brokers(
    admin: Admin, addresses: Sequence[str], with_settings: Collection[str] = ()
) -> list[Told]:
    """Return what each address answers, all asked at once; silence is an answer, too.

    Those of `with_settings` are asked for `KEPT_SETTINGS` as well.
    """
    places = asyncio.Semaphore(AT_ONCE)

    async def ask(address: str) -> Told:
        async with places:
            return await _ask(admin, address, settings=address in with_settings)

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
