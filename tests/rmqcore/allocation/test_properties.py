"""What holds for every input: a group's plan is its members' shares."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from rmqcore.allocation import allocate, allocate_group, allocate_topics
from rmqcore.errors import ArgumentError
from rmqcore.model import MessageQueue, sorted_client_ids, sorted_queues

ROOMS = ("r1", "r2", "代", "\U0001f430")
brokers = st.builds(
    "{}{}{}".format,
    st.sampled_from(("", *ROOMS)),
    st.sampled_from("@-"),
    st.sampled_from(("a", "b", "a@", "\uffee", "")),
)
some_queues = st.lists(
    st.builds(MessageQueue, st.sampled_from(("T", "U")), brokers, st.integers(0, 5)),
    max_size=25,
)
some_members = st.lists(
    st.builds("{}-{}".format, st.sampled_from(ROOMS), st.integers(0, 3))
    | st.sampled_from(("", "no dash")),
    max_size=9,
)


def room_of(text: str) -> str | None:
    return text[:2].rstrip("@-") or None


def queue_room(queue: MessageQueue) -> str | None:
    return room_of(queue.broker_name)


def client_room(client_id: str) -> str | None:
    return client_id.partition("-")[0] or None


plain: st.SearchStrategy[tuple[str, dict[str, Any]]] = st.sampled_from(
    [
        ("AVG", {}),
        ("AVG_BY_CIRCLE", {}),
        ("CONSISTENT_HASH", {}),
        ("CONSISTENT_HASH", {"virtual_nodes": 0}),
        # Few places, so that nodes replace one another.
        (
            "CONSISTENT_HASH",
            {"virtual_nodes": 3, "hash_function": lambda t: len(t) % 7},
        ),
        ("MACHINE_ROOM", {"rooms": ("r1", "")}),
        ("MACHINE_ROOM", {"rooms": None}),
        ("CONFIG", {"config": {"r1-0": [MessageQueue("T", "r1-a", 0)] * 2}}),
        ("CONFIG", {"config": None}),
    ]
)
nearby = plain.map(
    lambda inner: (
        f"MACHINE_ROOM_NEARBY-{inner[0]}",
        {**inner[1], "queue_room": queue_room, "client_room": client_room},
    )
)
named: st.SearchStrategy[tuple[str, dict[str, Any]]] = plain | nearby


def each_alone(
    name: str,
    options: dict[str, Any],
    queues: list[MessageQueue],
    client_ids: list[str],
) -> dict[str, tuple[MessageQueue, ...]] | None:
    """Return every member's share, or None where one of them is refused."""
    ordered, members = sorted_queues(queues), sorted_client_ids(client_ids)
    try:
        return {
            client_id: tuple(
                allocate(
                    name,
                    group="G",
                    client_id=client_id,
                    queues=ordered,
                    client_ids=members,
                    **options,
                )
            )
            for client_id in members
        }
    except ArgumentError:
        return None


@settings(max_examples=settings.default.max_examples * 4)
@given(named, some_queues, some_members)
def test_a_group_is_its_members(
    strategy: tuple[str, dict[str, Any]],
    queues: list[MessageQueue],
    client_ids: list[str],
) -> None:
    name, options = strategy
    alone = each_alone(name, options, queues, client_ids)
    try:
        plan = allocate_group(
            name, group="G", queues=queues, client_ids=client_ids, **options
        )
    except ArgumentError:
        # Without a single member there is nobody whose refusal could be seen.
        assert alone is None or not client_ids
        return
    assert alone is not None
    assert dict(plan.by_client) == alone
    assert list(plan.by_client) == list(alone)
    taken = {queue for share in alone.values() for queue in share}
    assert set(plan.unassigned) == set(queues) - taken


@given(
    st.sampled_from(("AVG", "AVG_BY_CIRCLE", "CONSISTENT_HASH")),
    st.sets(
        st.builds(MessageQueue, st.just("T"), brokers, st.integers(0, 9)), min_size=1
    ),
    st.sets(st.text(min_size=1, max_size=3), min_size=1, max_size=9),
)
def test_every_queue_has_exactly_one_owner(
    name: str, queues: set[MessageQueue], client_ids: set[str]
) -> None:
    plan = allocate_group(name, group="G", queues=queues, client_ids=client_ids)
    assert not plan.unassigned
    assert sum(plan.counts.values()) == len(queues)
    assert set(plan.by_queue) == queues
    if name != "CONSISTENT_HASH":
        assert max(plan.counts.values()) - min(plan.counts.values()) <= 1


@given(
    st.sampled_from(("AVG", "AVG_BY_CIRCLE", "CONSISTENT_HASH")),
    st.lists(
        st.builds(MessageQueue, st.sampled_from("TUV"), brokers, st.integers(0, 3)),
        min_size=1,
    ),
    st.lists(st.text(min_size=1, max_size=3), min_size=1, max_size=5),
)
def test_topics_together_are_the_topics_one_by_one(
    name: str, queues: list[MessageQueue], client_ids: list[str]
) -> None:
    together = allocate_topics(name, group="G", queues=queues, client_ids=client_ids)
    expected: dict[str, tuple[MessageQueue, ...]] = dict.fromkeys(
        sorted_client_ids(client_ids), ()
    )
    for topic in sorted({queue.topic for queue in queues}):
        mine = [queue for queue in queues if queue.topic == topic]
        part = allocate_group(name, group="G", queues=mine, client_ids=client_ids)
        for client_id, share in part.by_client.items():
            expected[client_id] += share
    assert dict(together.by_client) == expected
