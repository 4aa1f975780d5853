"""Documents of groups as odd as a collector may ever write: for pages and scripts.

`documents()` draws a `GroupState` without any cluster behind it: names of all kinds,
shared client ids, rows of which nothing is known, last values, brokers in every state.
It keeps the rules of `dashboard.live.documents` (what is None has a reason, sums follow
from the rows), and half of the time it lacks the fields that older documents lack.
"""

from __future__ import annotations

from collections import Counter
from typing import Any, cast, get_args

from hypothesis import strategies as st

from dashboard.live.documents import (
    GroupState,
    Kind,
    Member,
    Overview,
    OwnerSource,
    Queue,
)
from rmqcore.model.columns import Reason

from . import names
from .network import START_MS
from .truth import QueueKey

BROKER_STATES = ("answered", "slave", "partial", "silent", "missing")
REASONS = (*(reason.value for reason in Reason), "missing", "not_read", "no_owner")
STATUSES = (
    ("ok", "healthy"),
    ("ok", "catching_up"),
    ("warn", "falling_behind"),
    ("crit", "no_owner"),
    ("crit", "stalled"),
    ("unk", "unknown"),
    ("unk", "no_members"),
    ("unk", "not_measured"),
)

_numbers = st.none() | st.sampled_from((0, 1, 999, 61_000, 2**53, 2**62))
_rates = st.none() | st.sampled_from((0.0, 0.1, 17.5, 1e9))
_ages = st.none() | st.sampled_from((0, 999, 61_000, 10**9))
_times = st.none() | st.integers(START_MS - 100_000, START_MS)


@st.composite
def documents(draw: st.DrawFn, *, cluster: str, group: str | None = None) -> GroupState:
    """Draw the document of one group of a cluster, of any name or of the one given."""
    new = draw(st.booleans())
    brokers = draw(st.lists(names.brokers(), min_size=1, max_size=3, unique=True))
    topics = draw(st.lists(names.topics(), min_size=1, max_size=2, unique=True))
    keys = draw(
        st.sets(
            st.tuples(
                st.sampled_from(topics), st.sampled_from(brokers), st.integers(0, 5)
            ),
            max_size=8,
        )
    )
    ids = sorted(draw(st.lists(names.client_ids(), max_size=5)))
    queues = [draw(_queue(key, ids, new=new)) for key in sorted(keys)]
    places: Counter[str] = Counter()
    members = []
    for client_id in ids:
        members.append(draw(_member(client_id, queues, places[client_id], new=new)))
        places[client_id] += 1
    name = draw(names.groups().filter(bool)) if group is None else group
    level, word = draw(st.sampled_from(STATUSES))
    made: dict[str, Any] = {
        "run": "18bcfe5-0000abcd",
        "seq": draw(st.integers(1, 1_000)),
        "cluster": cluster,
        "group": name,
        "taken_at": START_MS,
        "mode": draw(st.sampled_from(("CLUSTERING", "BROADCASTING", None))),
        "kind": draw(st.sampled_from(get_args(Kind))),
        "consume_type": draw(st.sampled_from(("CONSUME_PASSIVELY", None))),
        "orderly": draw(st.none() | st.booleans()),
        "strategy": draw(
            st.sampled_from(
                (
                    {"name": "AVG", "source": "assumed"},
                    {"name": "<script>Theirs", "source": "reported"},
                    {"name": None, "source": "reported"},
                    {"name": None, "source": None},
                )
            )
        ),
        "managed": False,
        "members": members,
        "queues": queues,
        "totals": _totals(members, queues, new=new),
        "status": {"level": level, "word": word},
        "brokers": [draw(_broker(broker, queues, new=new)) for broker in brokers],
        "epoch": draw(st.sampled_from((None, {"number": 7, "began_at": START_MS}))),
        "last_change": draw(st.none() | _changes()),
        "findings": [],
        "past_slots": draw(st.dictionaries(names.client_ids(), st.integers(0, 40))),
    }
    if new:
        whole = all(each["state"] == "answered" for each in made["brokers"])
        held = {"as_of": START_MS - 60_000, "until": START_MS + 60_000}
        made["complete"] = whole
        made["held"] = None if whole or draw(st.booleans()) else held
        made["fault"] = draw(st.sampled_from((None, "KeyError: '<script>'")))
    return cast(GroupState, made)


@st.composite
def _queue(draw: st.DrawFn, key: QueueKey, ids: list[str], *, new: bool) -> Queue:
    columns = ("min", "max", "committed", "pulled", "lag_ms")
    row: dict[str, Any] = {name: draw(_numbers) for name in columns}
    high, done = row["max"], row["committed"]
    row["lag"] = None if high is None or done is None else max(0, high - done)
    owners = draw(st.lists(st.sampled_from(ids), max_size=3)) if ids else []
    unknown = {
        name: draw(st.sampled_from(REASONS))
        for name in (*columns, "lag")
        if row[name] is None
    }
    source = draw(st.sampled_from((None, *get_args(OwnerSource))))
    row |= {
        "topic": key[0],
        "broker": key[1],
        "queue_id": key[2],
        "owners": owners if source else [],
        "owner_source": source,
        "expected": draw(st.sampled_from((None, *ids))),
        "moved_at": draw(_times),
        "rate_in": draw(_rates),
        "rate_out": draw(_rates),
        "unknown": unknown,
    }
    if new:
        lacks = high is None or done is None
        last: dict[str, Any] = {
            name: draw(_numbers) for name in ("min", "max", "committed", "lag")
        }
        last |= {"at": START_MS - 70_000, "owners": owners, "owner_source": source}
        row["last"] = last if lacks and draw(st.booleans()) else None
    return cast(Queue, row)


@st.composite
def _member(
    draw: st.DrawFn, client_id: str, queues: list[Queue], place: int, *, new: bool
) -> Member:
    mine = [queue for queue in queues if client_id in queue["owners"]]
    lags = [queue["lag"] for queue in mine]
    texts = st.sampled_from((None, "JAVA", "<script>"))
    made: dict[str, Any] = {
        "client_id": client_id,
        "label": client_id.partition("@")[0],
        "address": draw(st.sampled_from((None, "10.0.0.1:4711"))),
        "language": draw(texts),
        "version": draw(texts),
        "strategy": draw(texts),
        "subscriptions": draw(
            st.lists(
                st.fixed_dictionaries(
                    {"topic": names.topics(), "expression": names.topics()}
                ),
                max_size=2,
            )
        ),
        "slot": draw(st.integers(0, 40)),
        "queues": len(mine),
        "idle": None if mine else draw(st.sampled_from((None, "no_queues"))),
        "lag": None if None in lags else sum(lag or 0 for lag in lags),
        "rate_out": draw(_rates),
        "in_hand": draw(_numbers),
        "reported_at": draw(_times),
        "managed": False,
    }
    if new:
        made["connection"] = place
        made["missing_since"] = draw(_times)
        made["busy_since"] = draw(_times)
    return cast(Member, made)


def _totals(members: list[Member], queues: list[Queue], *, new: bool) -> dict[str, Any]:
    lags = [queue["lag"] for queue in queues]
    known = [lag for lag in lags if lag is not None]
    rates = {
        name: [queue[name] for queue in queues]  # type: ignore[literal-required]
        for name in ("rate_in", "rate_out")
    }
    sums = {
        name: None if None in each or not each else sum(each)
        for name, each in rates.items()
    }
    totals: dict[str, Any] = {
        "members": len(members),
        "queues": len(queues),
        "owned": sum(bool(queue["owners"]) for queue in queues),
        "unowned": 0,
        "lag": sum(known) if known else None,
        "lag_partial": len(known) < len(lags),
        "oldest_ms": max((q["lag_ms"] for q in queues if q["lag_ms"]), default=None),
        **sums,
        "skew": None,
    }
    if new:
        totals |= {"queues_known": len(known), "rate_partial": None in sums.values()}
        totals |= {"retry_lag": None, "reporting": len(members)}
    return totals


@st.composite
def _broker(
    draw: st.DrawFn, name: str, queues: list[Queue], *, new: bool
) -> dict[str, Any]:
    state = draw(st.sampled_from(BROKER_STATES))
    mine = sum(queue["broker"] == name for queue in queues)
    made = {
        "name": name,
        "answered": state in ("answered", "slave", "partial"),
        "age_ms": draw(_ages),
    }
    if new:
        made |= {
            "state": state,
            "since": None if state == "answered" else START_MS - 90_000,
            "address": draw(st.sampled_from((None, "10.0.0.1:10911"))),
            "error": draw(st.sampled_from((None, "<script> did not answer"))),
            "queues": mine,
            "last_lag": draw(_numbers),
        }
    return made


@st.composite
def _changes(draw: st.DrawFn) -> dict[str, Any]:
    gone = draw(st.lists(names.client_ids(), max_size=2))
    return {
        "at": START_MS - 30_000,
        "text_key": draw(st.sampled_from(("members_changed", "queues_changed"))),
        "params": {
            "joined": gone,
            "joined_count": len(gone),
            "left": gone,
            "left_count": len(gone),
            "members_before": 2,
            "members": 2,
            "queues": 8,
        },
    }


@st.composite
def overviews(draw: st.DrawFn, *, cluster: str) -> Overview:
    """Draw the list of a cluster's groups, of all names, and of its brokers."""
    states = draw(st.lists(documents(cluster=cluster), max_size=3))
    rows = {state["group"]: _row(state) for state in states}
    new = draw(st.booleans())
    brokers = [draw(_listed_broker(name, new=new)) for name in ("broker-a", "<script>")]
    levels = Counter(row["status"]["level"] for row in rows.values())
    lags = [row["lag"] for row in rows.values()]
    made: dict[str, Any] = {
        "run": "18bcfe5-0000abcd",
        "seq": 3,
        "cluster": cluster,
        "taken_at": START_MS,
        "brokers": brokers,
        "totals": {
            "groups": len(rows),
            "by_level": {
                level: levels[level] for level in ("crit", "warn", "unk", "ok")
            },
            "topics": draw(st.integers(0, 9)),
            "members": sum(row["members"] for row in rows.values()),
            "queues": draw(st.integers(0, 9)),
            "lag": sum(lag or 0 for lag in lags) if any(lags) else None,
            "lag_partial": None in lags,
            "oldest_ms": draw(_numbers),
            "oldest_group": next(iter(rows), None),
            "rate_in": draw(_rates),
            "rate_out": draw(_rates),
            "brokers": len(brokers),
            "brokers_answered": sum(broker["answered"] for broker in brokers),
        },
        "groups": list(rows.values()),
    }
    if draw(st.booleans()):
        made["error"] = "<script>: connection refused"
    if new:
        server = {"address": "10.1.0.1:9876", "answered": True, "error": None}
        made["nameservers"] = [{**server, "unlisted": ["<script>"]}]
    return cast(Overview, made)


def _row(state: GroupState) -> dict[str, Any]:
    totals = state["totals"]
    copied = ("members", "queues", "unowned", "lag", "lag_partial", "oldest_ms")
    row: dict[str, Any] = {
        name: state[name]  # type: ignore[literal-required]
        for name in ("group", "kind", "mode", "consume_type", "managed", "strategy")
    }
    row |= {name: totals[name] for name in (*copied, "rate_in", "rate_out", "skew")}  # type: ignore[literal-required]
    row |= {
        "topics": sorted({queue["topic"] for queue in state["queues"]}),
        "idle": sum(member["idle"] is not None for member in state["members"]),
        "orderly": state["orderly"],
        "status": state["status"],
        "findings": [],
        "lag_trend": [None, 0, 3],
    }
    if "complete" in state:
        row |= {"complete": state["complete"], "as_of": START_MS}
    return row


@st.composite
def _listed_broker(draw: st.DrawFn, name: str, *, new: bool) -> dict[str, Any]:
    state = draw(st.sampled_from(BROKER_STATES))
    made = {
        "name": name,
        "cluster": "<script>",
        "address": draw(st.sampled_from((None, "10.0.0.1:10911"))),
        "version": draw(st.sampled_from((None, "V5_5_0"))),
        "answered": state in ("answered", "slave", "partial"),
        "took_ms": draw(_rates),
        "age_ms": draw(_ages),
        "error": draw(st.sampled_from((None, "<script> did not answer"))),
    }
    if new:
        since = None if state == "answered" else START_MS - 90_000
        made |= {"state": state, "since": since}
    return made
