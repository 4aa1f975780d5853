"""Realistic documents: groups as the collector writes them, at any size."""

from __future__ import annotations

import time
from typing import Any

from dashboard.live.documents import (
    FindingState,
    GroupState,
    Member,
    Overview,
    OverviewRow,
    Queue,
)

NOW_MS = 1_780_000_000_000
BROKERS = ("hz1@broker-a", "hz2@broker-b")


def now_ms() -> int:
    return int(time.time() * 1000)


def member(number: int, **changes: Any) -> Member:
    """Return member `number` (from 0), the holder of hue `number` mod 12."""
    made: dict[str, Any] = {
        "client_id": f"10.20.4.{17 + number}@{4100 + number}#88012345678901",
        "label": f"10.20.4.{17 + number}",
        "address": f"10.20.4.{17 + number}:51234",
        "language": "JAVA",
        "version": "V5_3_1",
        "strategy": "AVG",
        "subscriptions": [{"topic": "orders", "expression": "*"}],
        "slot": number % 12,
        "queues": 0,
        "idle": None,
        "lag": 0,
        "rate_out": 0.0,
        "in_hand": 12,
    }
    return Member(**{**made, **changes})  # type: ignore[typeddict-item]


def queue(broker: str, number: int, **changes: Any) -> Queue:
    made: dict[str, Any] = {
        "topic": "orders",
        "broker": broker,
        "queue_id": number,
        "min": 1_000,
        "max": 91_000,
        "committed": 90_900,
        "pulled": 90_950,
        "lag": 100,
        "lag_ms": 400,
        "owners": [],
        "owner_source": "reported",
        "expected": None,
        "moved_at": None,
        "rate_in": 180.0,
        "rate_out": 181.0,
        "unknown": {},
    }
    return Queue(**{**made, **changes})  # type: ignore[typeddict-item]


def group_state(
    members: list[Member], queues: list[Queue], **changes: Any
) -> GroupState:
    """Return a document whose totals and member sums follow from its queues."""
    for each in members:
        own = [q for q in queues if each["client_id"] in q["owners"]]
        each["queues"] = len(own)
        each["lag"] = sum(q["lag"] or 0 for q in own)
        each["rate_out"] = sum(q["rate_out"] or 0 for q in own)
    unowned = sum(not q["owners"] for q in queues)
    lags = [each["lag"] or 0 for each in members]
    mean = sum(lags) / len(lags) if lags else 0
    made: dict[str, Any] = {
        "run": "19d0000-0000abcd",
        "seq": 7,
        "cluster": "hangzhou",
        "group": "order-settlement",
        "taken_at": NOW_MS,
        "mode": "CLUSTERING",
        "kind": "owned",
        "consume_type": "CONSUME_PASSIVELY",
        "orderly": True,
        "strategy": {"name": "AVG", "source": "reported"},
        "managed": False,
        "members": members,
        "queues": queues,
        "totals": {
            "members": len(members),
            "queues": len(queues),
            "owned": len(queues) - unowned,
            "unowned": unowned,
            "lag": sum(q["lag"] or 0 for q in queues),
            "lag_partial": any(q["lag"] is None for q in queues),
            "oldest_partial": any(q["lag"] is None for q in queues),
            "oldest_ms": max((q["lag_ms"] or 0 for q in queues), default=0),
            "rate_in": sum(q["rate_in"] or 0 for q in queues),
            "rate_out": sum(q["rate_out"] or 0 for q in queues),
            "skew": max(lags) / mean if mean else None,
        },
        "status": {"level": "ok", "word": "healthy"},
        "brokers": [{"name": b, "answered": True, "age_ms": 300} for b in BROKERS],
        "epoch": {"number": 43, "began_at": NOW_MS - 41_000},
        "last_change": None,
        "findings": [],
    }
    return GroupState(**{**made, **changes})  # type: ignore[typeddict-item]


def lock_finding(keys: list[str], at: int = NOW_MS) -> FindingState:
    """Return the finding that lab F7 is owed, as the collector writes it."""
    return {
        "key": "lock_expired",
        "level": "warn",
        "since": at - 42_000,
        "text": "gone",
        "advice": "advice",
        "values": {
            "queues": len(keys),
            "holder": "10.20.4.19@11",
            "expires_at": at + 18_000,
        },
        "evidence": [
            ("queues", len(keys)),
            ("last_owner", ["10.20.4.19@11"]),
            ("waiting_ms", 42_000),
            ("free_by_at", at + 18_000),
        ],
        "queues": keys,
        "queue_count": len(keys),
        "members": [],
        "member_count": 0,
    }


def waiting_for_locks(at: int = NOW_MS, **changes: Any) -> GroupState:
    """Return lab F7: an orderly member died, four of sixteen queues wait for locks."""
    members = [member(number) for number in range(3)]
    ids = [each["client_id"] for each in members]
    lags = [145, 141, 51, 95, 460, 636, 128_440, 49]
    lags += [457, 546, 706, 183, 7_916, 7_466, 7_310, 7_297]
    owners = [ids[0]] * 6 + [ids[1]] * 5 + [ids[2]] + [None] * 4
    moved = {4, 5, 8, 9, 10}
    queues = []
    for index, (lag, owner) in enumerate(zip(lags, owners, strict=True)):
        queues.append(
            queue(
                BROKERS[index // 8],
                index % 8,
                lag=lag,
                lag_ms=lag * 2 if owner else 42_000,
                committed=91_000 - lag if lag < 91_000 else 1_200,
                max=91_000 if lag < 91_000 else 1_200 + lag,
                pulled=None if owner is None else 91_000 if lag < 91_000 else 2_200,
                owners=[owner] if owner else [],
                expected=owner or ids[2],
                moved_at=at - 38_000 if index in moved else None,
                rate_in=612.0 if lag > 100_000 else 180.0,
                rate_out=402.0 if lag > 100_000 else 240.0 if owner else 0.0,
                unknown={} if owner else {"pulled": "no_owner"},
            )
        )
    made: dict[str, Any] = {
        "taken_at": at,
        "status": {"level": "crit", "word": "no_owner"},
        "epoch": {"number": 43, "began_at": at - 41_000},
    }
    return group_state(members, queues, **{**made, **changes})


def messages_lost(at: int = NOW_MS) -> GroupState:
    """Return a group whose oldest messages brokers have deleted."""
    made = waiting_for_locks(at)
    made["totals"]["oldest_ms"] = None
    made["totals"]["oldest_partial"] = True
    for each in made["queues"]:
        each["lag_ms"] = 0 if each["lag"] == 0 else None
        each["unknown"]["lag_ms"] = "expired"
    return made


def hosted_group(at: int = NOW_MS, count: int = 3, **changes: Any) -> GroupState:
    """Return 16 queues divided by AVG among members that our fleet hosts."""
    group = changes.get("group", "order-settlement")
    members = [
        member(
            number,
            client_id=f"10.20.6.11@{group}-{number + 1}.1",
            label=f"{group}-{number + 1}.1",
            managed=True,
        )
        for number in range(count)
    ]
    size, odd = divmod(16, count)
    counts = [size + (number < odd) for number in range(count)]
    owners = [
        m["client_id"] for m, n in zip(members, counts, strict=True) for _ in range(n)
    ]
    queues = [
        queue(
            BROKERS[index // 8],
            index % 8,
            owners=[owner],
            expected=owner,
            lag=(66_000, 40, 900, 120)[index % 4] + index,
            rate_in=100.0 + 37 * (index % 5),
            rate_out=130.0 + 37 * (index % 5),
        )
        for index, owner in enumerate(owners)
    ]
    made = {"taken_at": at, "managed": True, **changes}
    return group_state(members, queues, **made)


def shared_client_ids(at: int = NOW_MS, **changes: Any) -> GroupState:
    """Return lab F3b beside a third member: two processes with one client id.

    Both hold the same two of six queues; the third member holds two, nobody two.
    """
    members = [member(0), member(0, address="10.20.4.17:51999"), member(1)]
    for connection, each in enumerate(members[:2]):
        each["connection"] = connection
    mine, other = members[0]["client_id"], members[2]["client_id"]
    owners = [[mine, mine], [mine, mine], [other], [other], [], []]
    queues = [
        queue(BROKERS[0], number, owners=each) for number, each in enumerate(owners)
    ]
    return group_state(members, queues, **{"taken_at": at, **changes})


def large_group(
    queues: int, members: int, at: int = NOW_MS, **changes: Any
) -> GroupState:
    """Return a group divided in blocks, with some heavy queues and two idle members."""
    who = [member(number) for number in range(members)]
    busy = max(1, members - 2)
    made = []
    for index in range(queues):
        lag = (index * 7919) % 900 + (60_000 if index % 97 == 5 else 0)
        owner = who[index * busy // queues]["client_id"]
        made.append(
            queue(
                f"hz{index * 10 // queues // 5 + 1}@broker-{index * 10 // queues}",
                index - -(-(index * 10 // queues) * queues // 10),
                lag=lag,
                lag_ms=lag * 3,
                owners=[owner],
                moved_at=at - 20_000 if index % 61 == 0 else None,
            )
        )
    for each in who[busy:]:
        each["idle"] = "more_members_than_queues"
    return group_state(who, made, taken_at=at, **changes)


def overview_row(group: str, **changes: Any) -> OverviewRow:
    made: dict[str, Any] = {
        "group": group,
        "kind": "owned",
        "mode": "CLUSTERING",
        "consume_type": "CONSUME_PASSIVELY",
        "managed": False,
        "topics": ["orders"],
        "members": 3,
        "queues": 16,
        "unowned": 0,
        "idle": 0,
        "lag": 120,
        "lag_partial": False,
        "oldest_partial": False,
        "oldest_ms": 900,
        "rate_in": 331.0,
        "rate_out": 330.0,
        "skew": 1.1,
        "strategy": {"name": "AVG", "source": "reported"},
        "orderly": False,
        "status": {"level": "ok", "word": "healthy"},
        "findings": [],
        "lag_trend": [None] * 28 + [4, 9],
    }
    return OverviewRow(**{**made, **changes})  # type: ignore[typeddict-item]


def overview_rows() -> list[OverviewRow]:
    """Return one row of each kind, worst first."""
    unknown = {"lag": None, "oldest_ms": None, "rate_in": None, "rate_out": None}
    return [
        overview_row(
            "order-settlement",
            unowned=4,
            lag=161_898,
            oldest_ms=209_000,
            skew=3.0,
            orderly=True,
            status={"level": "crit", "word": "no_owner"},
        ),
        overview_row(
            "invoice-pdf",
            topics=["invoices"],
            lag=92_418,
            oldest_ms=2_472_000,
            rate_out=0.0,
            status={"level": "crit", "word": "stalled"},
        ),
        overview_row(
            "payment-events",
            topics=["payments"],
            members=12,
            queues=96,
            idle=2,
            lag=313_886,
            lag_partial=True,
            oldest_partial=True,
            oldest_ms=71_000,
            skew=11.6,
            strategy={"name": "MACHINE_ROOM_NEARBY-AVG", "source": "reported"},
            status={"level": "warn", "word": "falling_behind"},
        ),
        overview_row(
            "price-feed",
            topics=["prices"],
            **unknown,
            lag_partial=True,
            oldest_partial=True,
            skew=None,
            strategy={"name": None, "source": None},
            status={"level": "unk", "word": "unknown"},
        ),
        overview_row(
            "report-nightly",
            kind="offline",
            members=0,
            lag=48_210,
            oldest_ms=260_000,
            rate_out=None,
            skew=None,
            strategy={"name": None, "source": None},
            status={"level": "unk", "word": "no_members"},
        ),
        overview_row(
            "cache-invalidate",
            kind="broadcasting",
            mode="BROADCASTING",
            topics=["products"],
            members=9,
            queues=32,
            **unknown,
            skew=None,
            status={"level": "unk", "word": "not_measured"},
        ),
        overview_row(
            "search-index",
            topics=["products"],
            lag=21_904,
            oldest_ms=28_000,
            rate_out=971.0,
            status={"level": "ok", "word": "catching_up"},
        ),
        overview_row("demo-settlement", managed=True, topics=["a", "b", "c"]),
        overview_row("gateway-pop", kind="shared_pop", skew=None, topics=["calls"]),
        *(overview_row(f"service-{number:02}") for number in range(12)),
    ]


def overview(at: int = NOW_MS, **changes: Any) -> Overview:
    rows = changes.pop("groups", None) or overview_rows()
    by_level = dict.fromkeys(("crit", "warn", "unk", "ok"), 0)
    for row in rows:
        by_level[row["status"]["level"]] += 1
    made: dict[str, Any] = {
        "run": "19d0000-0000abcd",
        "seq": 11,
        "cluster": "hangzhou",
        "taken_at": at,
        "brokers": [
            _broker("hz1@broker-a", took_ms=9.2),
            _broker("hz2@broker-b", took_ms=11.4),
            _broker(
                "hz2@broker-c",
                answered=False,
                took_ms=None,
                age_ms=96_000,
                error="10.20.6.9:10911 did not answer request 43 within 3.0 s",
            ),
        ],
        "totals": {
            "groups": len(rows),
            "by_level": by_level,
            "topics": 9,
            "members": sum(row["members"] or 0 for row in rows),
            "queues": sum(row["queues"] for row in rows),
            "lag": sum(row["lag"] or 0 for row in rows),
            "lag_partial": True,
            "oldest_partial": True,
            "oldest_ms": 2_472_000,
            "oldest_group": "invoice-pdf",
            "rate_in": 36_400.0,
            "rate_out": 35_865.0,
            "brokers": 3,
            "brokers_answered": 2,
        },
        "groups": rows,
    }
    return Overview(**{**made, **changes})  # type: ignore[typeddict-item]


def looked_at(**changes: Any) -> Overview:
    """Return a list of groups of this moment, from brokers that all answered."""
    made = {"at": now_ms(), "brokers": [_broker(name) for name in BROKERS], **changes}
    return overview(**made)


def _broker(name: str, **changes: Any) -> dict[str, Any]:
    return {
        "name": name,
        "cluster": "hangzhou",
        "address": "10.20.6.7:10911",
        "version": "V5_3_1",
        "answered": True,
        "took_ms": 10.0,
        "age_ms": 800,
        "error": None,
        **changes,
    }
