"""Documents of groups and clusters of which something is missing, silent or old."""

from __future__ import annotations

from typing import Any

from dashboard.live.documents import (
    BrokerAge,
    GroupState,
    LastKnown,
    NameServerState,
    Overview,
    Queue,
)

from .documents import BROKERS, NOW_MS, group_state, member, overview, queue

SINCE_MS = 38_000
"""How long ago the broker of these documents went away."""


def old_queue(broker: str, number: int, at: int, **changes: Any) -> Queue:
    """Return a queue of which nothing is known but what it said at `at`."""
    last: LastKnown = {
        "at": at,
        "min": 1_000,
        "max": 91_000,
        "committed": 85_400,
        "lag": 5_600,
        "owners": [],
        "owner_source": "reported",
    }
    reason = changes.pop("reason", "missing")
    for name in set(changes) & set(last):
        last[name] = changes.pop(name)  # type: ignore[literal-required]
    columns = ("min", "max", "committed", "pulled", "lag", "lag_ms")
    made: dict[str, Any] = {
        **dict.fromkeys((*columns, "rate_in", "rate_out")),
        "owners": [],
        "owner_source": None,
        "unknown": dict.fromkeys((*columns, "owners"), reason),
        "last": last,
    }
    return queue(broker, number, **{**made, **changes})


def troubled(name: str, state: str, since: int | None, **changes: Any) -> BrokerAge:
    made: dict[str, Any] = {
        "name": name,
        "answered": state not in {"silent", "missing", "partial"},
        "age_ms": SINCE_MS,
        "state": state,
        "since": since,
        "address": "10.20.6.7:10911",
        "error": "10.20.6.7:10911 did not answer request 43 within 3.0 s",
        "queues": 8,
        "last_lag": None,
    }
    return BrokerAge(**{**made, **changes})  # type: ignore[typeddict-item]


def answering(name: str, **changes: Any) -> BrokerAge:
    made: dict[str, Any] = {
        "name": name,
        "answered": True,
        "age_ms": 900,
        "state": "answered",
        "since": None,
        "address": "10.20.6.8:10911",
        "error": None,
        "queues": 8,
        "last_lag": None,
    }
    return BrokerAge(**{**made, **changes})  # type: ignore[typeddict-item]


OLD_LAGS = (5_511, 5_602, 5_498, 5_570, 5_623, 5_549, 5_580, 5_579)
FRESH_LAGS = (5_560, 5_591, 5_604, 5_577, 5_538, 5_612, 5_587, 5_586)


def broker_missing(at: int = NOW_MS, **changes: Any) -> GroupState:
    """Return 16 queues of three members, eight of them on a broker that is missing.

    Status, findings and epoch stand still. The lag of what is known is 44,655, and
    44,512 waited on the missing broker when it was last heard.
    """
    since = changes.pop("since", at - SINCE_MS)
    members = [member(number) for number in range(3)]
    ids = [each["client_id"] for each in members]
    queues = [
        old_queue(BROKERS[0], n, since, lag=lag, owners=[ids[n % 3]])
        for n, lag in enumerate(OLD_LAGS)
    ]
    queues += [
        queue(
            BROKERS[1],
            n,
            lag=lag,
            lag_ms=190_000 - n * 100,
            committed=91_000 - lag,
            pulled=91_025 - lag,
            owners=[ids[(n + 2) % 3]],
            rate_in=5.0,
            rate_out=2.1,
        )
        for n, lag in enumerate(FRESH_LAGS)
    ]
    made: dict[str, Any] = {
        "taken_at": at,
        "status": {"level": "warn", "word": "falling_behind"},
        "brokers": [
            troubled(BROKERS[0], "missing", since, last_lag=sum(OLD_LAGS)),
            answering(BROKERS[1]),
        ],
        "epoch": {"number": 7, "began_at": at - 1_700_000},
        "complete": False,
        "held": {"as_of": since, "until": since + 120_000},
        "nameservers": [name_server(1, unlisted=[BROKERS[0]]), name_server(2)],
        **changes,
    }
    state = group_state(members, queues, **made)
    state["totals"].update(
        {
            "owned": 16,
            "unowned": 0,
            "lag_partial": True,
            "oldest_partial": True,
            "rate_partial": True,
            "queues_known": 8,
            "skew": None,
        }
    )
    return state


def name_server(number: int, **changes: Any) -> NameServerState:
    made: dict[str, Any] = {
        "address": f"10.20.6.{number}:9876",
        "answered": True,
        "error": None,
        "unlisted": [],
        **changes,
    }
    return NameServerState(**made)  # type: ignore[typeddict-item]


def overview_missing(at: int = NOW_MS, **changes: Any) -> Overview:
    """Return a cluster in which each broker is in another trouble."""
    made = overview(at)
    answering_, silent, missing = made["brokers"]
    answering_.update({"state": "answered", "since": None})
    silent.update(
        {
            "state": "silent",
            "since": at - 40_000,
            "answered": False,
            "error": "10.20.6.7:10911 did not answer request 43 within 3.0 s",
        }
    )
    missing.update({"state": "missing", "since": at - SINCE_MS})
    for row in made["groups"]:
        whole = not row["lag_partial"]
        row.update(complete=whole, as_of=None if whole else at - SINCE_MS)
    made["groups"][-1].update(
        complete=False, as_of=at - SINCE_MS, lag_partial=True, oldest_partial=True
    )
    made["totals"]["brokers_answered"] = 1
    made["nameservers"] = [
        name_server(1, unlisted=[missing["name"]]),
        name_server(2, unlisted=[missing["name"]]),
    ]
    return Overview(**{**made, **changes})  # type: ignore[typeddict-item]


def many_troubles(at: int = NOW_MS) -> GroupState:
    """Return queues on five brokers, four of them in trouble of another kind each."""
    members = [member(0), member(1, missing_since=at - 50_000)]
    first, second = (each["client_id"] for each in members)
    names = [f"broker-{letter}" for letter in "abcde"]
    since = at - SINCE_MS
    queues = [
        old_queue("broker-a", 0, since, owners=[first]),
        old_queue("broker-a", 1, since, owners=[second]),
        old_queue("broker-b", 0, since, owners=[first], lag=None, reason="no_answer"),
        old_queue("broker-b", 1, since, owners=[first], reason="no_answer", last=None),
        old_queue("broker-c", 0, since, owners=[first], max=None, reason="refused"),
        queue("broker-c", 1, owners=[first]),
        queue("broker-d", 0, owners=[first], lag=None, unknown={"lag": "expired"}),
        queue("broker-e", 0, owners=[second], lag=9_000),
    ]
    state = group_state(
        members,
        queues,
        taken_at=at,
        complete=False,
        held=None,
        status={"level": "ok", "word": "healthy"},
        brokers=[
            troubled(names[0], "missing", since, queues=2, last_lag=11_200),
            troubled(names[1], "silent", at - 3_000, queues=2, last_lag=None),
            troubled(names[2], "partial", None, queues=2, last_lag=5_600),
            troubled(names[3], "slave", at - 90_000, queues=1, error=None),
            answering(names[4], queues=1),
        ],
    )
    state["totals"].update(
        lag_partial=True, oldest_partial=True, rate_partial=True, skew=None, unowned=0
    )
    return state


def without_broker(state: GroupState, name: str, at: int = NOW_MS) -> GroupState:
    """Return a group of which one broker is missing, its values kept as they were."""
    since = at - SINCE_MS
    lag = 0
    for index, each in enumerate(state["queues"]):
        if each["broker"] == name:
            lag += each["lag"] or 0
            state["queues"][index] = old_queue(
                name,
                each["queue_id"],
                since,
                topic=each["topic"],
                lag=each["lag"],
                owners=each["owners"],
            )
    known = {each["broker"] for each in state["queues"]} - {name}
    state["brokers"] = [
        troubled(name, "missing", since, last_lag=lag),
        *(answering(each) for each in sorted(known)),
    ]
    state["complete"] = False
    state["held"] = {"as_of": since, "until": since + 120_000}
    state["totals"].update(
        lag_partial=True, oldest_partial=True, rate_partial=True, skew=None
    )
    return state


def shared_ids(at: int = NOW_MS) -> GroupState:
    """Return a group two of whose three members have one client id."""
    members = [member(0), member(0, connection=1, address="10.20.4.99:4"), member(1)]
    held = [members[0]["client_id"], members[2]["client_id"]]
    queues = [queue(BROKERS[0], n, owners=[held[n // 3]]) for n in range(6)]
    return group_state(members, queues, taken_at=at)


def overview_unnamed(at: int = NOW_MS) -> Overview:
    """Return a cluster none of whose name servers answers; its brokers do."""
    made = overview(at)
    for broker in made["brokers"]:
        broker.update(state="answered", since=None, answered=True, error=None)
    error = "cannot connect within 3.0 s"
    servers = [
        name_server(n, answered=False, since=at - 61_000, error=error) for n in (1, 2)
    ]
    for row in made["groups"]:
        row.update(complete=True, as_of=None)
    return Overview(**{**made, "nameservers": servers})  # type: ignore[typeddict-item]
