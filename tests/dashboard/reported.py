"""Documents of brokers and clients, as the collector writes them."""

from __future__ import annotations

from typing import Any

from dashboard.collector.runtime_info import figures_of
from dashboard.live.broker_documents import (
    BrokersDocument,
    BrokerState,
    ClientGroup,
    ClientRow,
    ClientsDocument,
)

from .documents import NOW_MS

TABLE = {
    "bootTimestamp": str(NOW_MS - 86_400_000),
    "brokerActive": "true",
    "brokerVersionDesc": "V5_3_1",
    "putTps": "120.0 110.5 90.25",
    "getTransferredTps": "240.0 230.0 200.0",
    "putLatency99": "3.25",
    "putLatency999": "18.00",
    "putMessageEntireTimeMax": "412",
    "putMessageDistributeTime": "[<=0ms]:7 [0~10ms]:40 [10s~]:1 ",
    "pageCacheLockTimeMills": "0",
    "dispatchBehindBytes": "4096",
    "remainHowManyDataToFlush": "1.5 KiB",
    "commitLogDiskRatio": "0.42",
    "commitLogDirCapacity": "Total : 100.0 GiB, Free : 58.0 GiB.",
    "commitLogMinOffset": "0",
    "commitLogMaxOffset": "1073741824",
    "earliestMessageTimeStamp": str(NOW_MS - 3_600_000),
    "sendThreadPoolQueueSize": "3",
    "sendThreadPoolQueueCapacity": "10000",
    "sendThreadPoolQueueHeadWaitTimeMills": "50",
    "scheduleMessageOffset_3": "10,14",
}


def broker_state(
    name: str = "hz1@broker-a",
    broker_id: int = 0,
    *,
    table: dict[str, str] | None = None,
    **changes: Any,
) -> BrokerState:
    """Return what a process reported just now, some of it changed."""
    reported = {**TABLE, **(table or {})}
    figures, unknown = figures_of(reported)
    made: dict[str, Any] = {
        "name": name,
        "cluster": "hz1",
        "broker_id": broker_id,
        "address": f"10.20.6.{11 + broker_id}:10911",
        "asked_at": NOW_MS,
        "answered_at": NOW_MS,
        "took_ms": 3.5,
        "reason": None,
        "error": None,
        "figures": figures,
        "unknown": unknown,
        "fill_rate": 1024.0,
        "full_in_ms": None,
        "full_why": "age_first",
        "full_ratio": 0.85,
        "behind_bytes": None,
        "reported": reported,
        "settings": {"brokerRole": "ASYNC_MASTER", "enableControllerMode": "false"},
        "settings_error": None,
    }
    return BrokerState(**{**made, **changes})  # type: ignore[typeddict-item]


def brokers_document(*states: BrokerState) -> BrokersDocument:
    return {"cluster": "hangzhou", "taken_at": NOW_MS, "brokers": list(states)}


def client_row(client_id: str, **changes: Any) -> ClientRow:
    made: dict[str, Any] = {
        "client_id": client_id,
        "address": "10.20.4.17:51234",
        "language": "JAVA",
        "version": "V5_3_1",
        "connection": 0,
        "queues": 4,
        "strategy": "AVG",
        "subscriptions": [("orders", "*")],
        "reported_at": NOW_MS,
        "started_at": NOW_MS - 60_000,
        "seen_at": NOW_MS - 50_000,
        "missing_since": None,
        "managed": False,
    }
    return ClientRow(**{**made, **changes})  # type: ignore[typeddict-item]


def client_group(group: str, *members: ClientRow, **changes: Any) -> ClientGroup:
    made: dict[str, Any] = {
        "group": group,
        "kind": "owned",
        "subscriptions": [("orders", "*")],
        "why": None,
        "members": list(members),
    }
    return ClientGroup(**{**made, **changes})  # type: ignore[typeddict-item]


def clients_document(*groups: ClientGroup) -> ClientsDocument:
    return {"cluster": "hangzhou", "changed_at": NOW_MS, "groups": list(groups)}
