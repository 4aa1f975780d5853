"""Documents of groups as odd as the collector may write them, and scenarios."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from dashboard.whatif.model import (
    QueueCount,
    RoomRule,
    Scenario,
    Weighing,
)

CLIENTS = ("10.0.0.1@a", "10.0.0.2@b", "10.0.0.3@c", "{left}<b>", "ж" * 40)
TOPICS = ("orders", "invoices", "%RETRY%")
BROKERS = ("broker-a", "hz2@broker-b")
STRATEGIES = (None, "AVG", "MACHINE_ROOM", "MACHINE_ROOM_NEARBY-AVG", "com.acme.Ours")
REASONS = ("unknown_strategy", "no_answer", "missing", "mixed", "not_asked")

numbers = st.none() | st.integers(0, 50_000)
rates = st.none() | st.floats(0, 5_000, allow_subnormal=False)
clients = st.sampled_from(CLIENTS)


@st.composite
def queue_rows(draw: st.DrawFn, key: tuple[str, str, int]) -> dict[str, Any]:
    """A queue: known, unknown for a reason or stale; owned, twice, by nobody."""
    owners = draw(st.lists(clients, max_size=3))
    unknown = {} if owners else draw(st.sampled_from([{}, {"owners": "not_read"}]))
    if not owners and not unknown and draw(st.booleans()):
        unknown = {"owners": draw(st.sampled_from(REASONS))}
    row: dict[str, Any] = {
        "topic": key[0],
        "broker": key[1],
        "queue_id": key[2],
        "min": draw(numbers),
        "max": draw(numbers),
        "lag": draw(numbers),
        "owners": owners,
        "owner_source": "reported",
        "rate_in": draw(rates),
        "rate_out": draw(rates),
        "unknown": unknown,
    }
    if draw(st.booleans()):
        row["max"] = row["lag"] = row["rate_in"] = row["rate_out"] = None
        row["last"] = {
            "at": 1_780_000_000_000,
            "lag": draw(numbers),
            "owners": draw(st.lists(clients, max_size=2)),
            "owner_source": "reported",
        }
    return row


@st.composite
def documents(draw: st.DrawFn) -> dict[str, Any]:
    """A group with single owners, or without members; any part of it unknown."""
    ids = draw(st.lists(clients, max_size=5))
    places = st.tuples(
        st.sampled_from(TOPICS), st.sampled_from(BROKERS), st.integers(0, 4)
    )
    keys = draw(st.lists(places, unique=True, max_size=10))
    document: dict[str, Any] = {
        "cluster": "test",
        "group": "G",
        "taken_at": 1_780_000_000_000,
        "mode": "CLUSTERING" if ids else None,
        "kind": "owned" if ids else "offline",
        "strategy": {"name": draw(st.sampled_from(STRATEGIES)), "source": "reported"},
        "members": [
            {
                "client_id": each,
                "label": each,
                "strategy": None,
                "rate_out": draw(rates),
                "subscriptions": [
                    {"topic": topic, "expression": "*"}
                    for topic in draw(st.sets(st.sampled_from(TOPICS)))
                ],
            }
            for each in ids
        ],
        "queues": [draw(queue_rows(key)) for key in keys],
        "brokers": [
            {
                "name": name,
                "answered": draw(st.booleans()),
                "age_ms": 5,
                "state": draw(st.sampled_from(["answered", "missing", "silent"])),
                "since": draw(st.none() | st.just(1_780_000_000_000)),
            }
            for name in BROKERS
        ],
        "managed": False,
    }
    if draw(st.booleans()):
        document["complete"] = draw(st.booleans())
    return document


@st.composite
def scenarios(draw: st.DrawFn) -> Scenario:
    """Edits that may not fit, options that may be missing."""
    rules = st.builds(
        RoomRule,
        st.sampled_from(["", "@", "-"]),
        st.lists(st.tuples(clients, st.just("hz")), max_size=2).map(tuple),
    )
    counts = st.builds(
        QueueCount,
        st.sampled_from(TOPICS),
        st.sampled_from(BROKERS),
        st.integers(0, 6),
    )
    inner = [None, None, "AVG", "MACHINE_ROOM_NEARBY", "CONFIG"]
    return Scenario(
        strategy=draw(st.sampled_from([None, "AVG", "CONFIG", "CONSISTENT_HASH"])),
        add=tuple(draw(st.lists(clients, max_size=2))),
        remove=tuple(draw(st.lists(clients, max_size=3))),
        rename=tuple(
            draw(st.lists(st.tuples(clients, st.sampled_from(["x@1"])), max_size=1))
        ),
        queue_counts=tuple(draw(st.lists(counts, max_size=2))),
        rates=tuple(
            draw(
                st.lists(
                    st.tuples(st.sampled_from(TOPICS), st.floats(0, 900)), max_size=1
                )
            )
        ),
        rate_factor=draw(st.sampled_from([0.0, 1.0, 2.5])),
        member_rate=draw(st.none() | st.floats(0, 10_000, allow_subnormal=False)),
        rooms=tuple(draw(st.sets(st.sampled_from(["hz2", "hz"])))),
        inner=draw(st.sampled_from(inner)),
        broker_rooms=draw(rules),
        client_rooms=draw(rules),
        weighing=draw(st.sampled_from(Weighing)),
    )
