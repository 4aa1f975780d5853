"""The settings of a broker."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from rmqcore.errors import ArgumentError
from rmqcore.model.message import MAX_BODY_BYTES
from rmqcore.store import DELAY_LEVELS_MS
from rmqcore.store.message_store import (
    DEFAULT_KEEP_MS,
    DEFAULT_SEGMENT_BYTES,
    HOUR_MS,
)
from rmqcore.transport import ServerTls, TlsMode

MASTER_ID: Final = 0


@dataclass(frozen=True, slots=True)
class BrokerSettings:
    """Everything about a broker that is decided before it starts.

    Intervals are in seconds, ages in milliseconds. With `sync_flush`, a send is
    answered when its record is on disk, otherwise when the operating system has it.
    With `server_side_reset`, a reset of offsets takes effect at the group's next pull;
    without it, the online members are told to carry it out, as by brokers before 5.x.
    With `server_load_balancer`, a member that asks (400) is told its share; without it,
    all queues.
    `max_log_bytes` limits the log with its queues and keys, give or take one file.
    With `users` (access key → secret key), every request must be signed by one of them.
    `advertised_host` is the host that clients connect to, if not the one bound.
    """

    store_directory: Path
    name: str = "broker-a"
    cluster: str = "DefaultCluster"
    broker_id: int = MASTER_ID
    name_servers: tuple[str, ...] = ()
    host: str = "127.0.0.1"
    port: int = 0
    advertised_host: str | None = None
    tls: ServerTls | None = None
    users: Mapping[str, str] = field(default_factory=dict, repr=False)
    region: str = "DefaultRegion"
    auto_create_topic: bool = True
    auto_create_group: bool = True
    default_queue_nums: int = 8
    notify_member_changes: bool = True
    server_side_reset: bool = True
    server_load_balancer: bool = True
    max_message_bytes: int = MAX_BODY_BYTES
    delay_levels_ms: tuple[int, ...] = DELAY_LEVELS_MS
    sync_flush: bool = False
    segment_bytes: int = DEFAULT_SEGMENT_BYTES
    keep_ms: int = DEFAULT_KEEP_MS
    max_log_bytes: int | None = None
    register_interval_s: float = 30.0
    flush_interval_s: float = 0.5
    checkpoint_interval_s: float = 5.0
    persist_interval_s: float = 5.0

    def __post_init__(self) -> None:
        for name in ("name", "cluster"):
            if not getattr(self, name):
                raise ArgumentError(f"a broker needs a {name}, got an empty one")
        if self.broker_id != MASTER_ID:
            raise ArgumentError(
                f"broker id {self.broker_id}: this broker can only be a master, id 0"
            )
        if self.default_queue_nums < 1:
            raise ArgumentError(
                f"default queue count {self.default_queue_nums}, at least 1"
            )

    def as_properties(self) -> dict[str, str]:
        """Return the settings under RocketMQ's names, as code 26 shows them."""
        return {
            "brokerName": self.name,
            "brokerClusterName": self.cluster,
            "brokerId": str(self.broker_id),
            "namesrvAddr": ";".join(self.name_servers),
            "brokerIP1": self.host,
            "regionId": self.region,
            "brokerRole": "ASYNC_MASTER",
            "brokerPermission": "6",
            "maxMessageSize": str(self.max_message_bytes),
            "storePathRootDir": str(self.store_directory),
            "mappedFileSizeCommitLog": str(self.segment_bytes),
            "longPollingEnable": "true",
            "enablePropertyFilter": "false",
            "tls.server.mode": str(
                TlsMode.DISABLED if self.tls is None else self.tls.mode
            ),
            "authenticationEnabled": _write_bool(bool(self.users)),
            "timerWheelEnable": "false",
            "rejectTransactionMessage": "true",
            "messageDelayLevel": _write_delays(self.delay_levels_ms),
        } | {name: key.show(self) for name, key in _CHANGEABLE.items()}

    def changed(self, properties: Mapping[str, str]) -> BrokerSettings:
        """Return the settings with some changed by RocketMQ's names, as code 25 does.

        Raises `ArgumentError` for a name that cannot be changed while the broker
        runs, or a value of the wrong form.
        """
        values: dict[str, Any] = {}
        for name, text in properties.items():
            key = _CHANGEABLE.get(name)
            if key is None:
                raise ArgumentError(f"setting {name} cannot be changed at run time")
            try:
                values[key.attribute] = key.parse(text)
            except ValueError:
                raise ArgumentError(f"setting {name} cannot be {text!r}") from None
        return replace(self, **values)


def _write_delays(levels_ms: Iterable[int]) -> str:
    """Write delays as RocketMQ does, such as 10s; it has no ms, which tests use."""
    return " ".join(map(_write_delay, levels_ms))


def _write_delay(milliseconds: int) -> str:
    for unit, size in (("h", 3_600_000), ("m", 60_000), ("s", 1_000)):
        if milliseconds >= size and milliseconds % size == 0:
            return f"{milliseconds // size}{unit}"
    return f"{milliseconds}ms"


@dataclass(frozen=True, slots=True)
class _Key:
    attribute: str
    parse: Callable[[str], object]
    write: Callable[[Any], str]

    def show(self, settings: BrokerSettings) -> str:
        return self.write(getattr(settings, self.attribute))


def _parse_bool(text: str) -> bool:
    if text not in ("true", "false"):
        raise ValueError(text)
    return text == "true"


def _write_bool(value: bool) -> str:
    return "true" if value else "false"


def _parse_hours(text: str) -> int:
    return int(text) * HOUR_MS


def _write_hours(value: int) -> str:
    return str(value // HOUR_MS)


_CHANGEABLE: Final[Mapping[str, _Key]] = MappingProxyType(
    {
        "autoCreateTopicEnable": _Key("auto_create_topic", _parse_bool, _write_bool),
        "autoCreateSubscriptionGroup": _Key(
            "auto_create_group", _parse_bool, _write_bool
        ),
        "defaultTopicQueueNums": _Key("default_queue_nums", int, str),
        "notifyConsumerIdsChangedEnable": _Key(
            "notify_member_changes", _parse_bool, _write_bool
        ),
        "useServerSideResetOffset": _Key("server_side_reset", _parse_bool, _write_bool),
        "serverLoadBalancerEnable": _Key(
            "server_load_balancer", _parse_bool, _write_bool
        ),
        "fileReservedTime": _Key("keep_ms", _parse_hours, _write_hours),
    }
)
