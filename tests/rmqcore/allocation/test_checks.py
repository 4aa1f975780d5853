"""The checks that strategies share (B7), for one member and for a group."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import pytest

from rmqcore.allocation import allocate, allocate_group, allocate_topics
from rmqcore.errors import AllocationError, ArgumentError

from .made import queues

CHECKED: list[tuple[str, dict[str, Any]]] = [
    ("AVG", {}),
    ("AVG_BY_CIRCLE", {}),
    ("CONSISTENT_HASH", {}),
    ("MACHINE_ROOM", {"rooms": ["r1"]}),
    (
        "MACHINE_ROOM_NEARBY-AVG",
        {"queue_room": lambda _: "r1", "client_room": lambda _: "r1"},
    ),
]
each_strategy = pytest.mark.parametrize(("name", "options"), CHECKED)


@each_strategy
@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"client_id": ""}, "currentCID is empty"),
        ({"client_id": None}, "currentCID is empty"),
        ({"queues": []}, "mqAll is null or mqAll empty"),
        ({"queues": None}, "mqAll is null or mqAll empty"),
        ({"client_ids": []}, "cidAll is null or cidAll empty"),
        ({"client_ids": None}, "cidAll is null or cidAll empty"),
        ({"client_id": "", "queues": [], "client_ids": []}, "currentCID is empty"),
        ({"queues": [], "client_ids": []}, "mqAll is null"),
    ],
)
def test_empty_input(
    name: str, options: dict[str, Any], change: dict[str, Any], message: str
) -> None:
    given = {"client_id": "A", "queues": queues(4), "client_ids": ["A"]} | change
    with pytest.raises(AllocationError, match=message):
        allocate(name, group="G", **given, **options)


@each_strategy
def test_not_a_member(
    name: str, options: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING, "rmqcore.allocation"):
        share = allocate(
            name,
            group="orders",
            client_id="X",
            queues=queues(4, "r1@b"),
            client_ids=["A", "B"],
            **options,
        )
    assert share == []
    (record,) = caplog.records
    for named in ("orders", "client_id=X", "['A', 'B']"):
        assert named in record.getMessage()


@each_strategy
@pytest.mark.parametrize("divided", [allocate_group, allocate_topics])
@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"queues": []}, "mqAll is null or mqAll empty"),
        ({"client_ids": []}, "cidAll is null or cidAll empty"),
        ({"client_ids": ["A", ""]}, "currentCID is empty"),
    ],
)
def test_empty_input_of_a_group(
    name: str,
    options: dict[str, Any],
    divided: Callable[..., Any],
    change: dict[str, Any],
    message: str,
) -> None:
    given = {"queues": queues(4), "client_ids": ["A", "B"]} | change
    with pytest.raises(AllocationError, match=message):
        divided(name, group="G", **given, **options)


def test_a_text_is_not_a_list_of_client_ids() -> None:
    with pytest.raises(ArgumentError, match="client_ids must be a list"):
        allocate("AVG", group="G", client_id="A", queues=queues(4), client_ids="ABC")
    with pytest.raises(ArgumentError, match="got 'ABC'"):
        allocate_group("AVG", group="G", queues=queues(4), client_ids="ABC")


def test_a_group_names_what_is_not_a_client_id_or_queue() -> None:
    with pytest.raises(AllocationError, match=r"group G is missing .* got None"):
        allocate_group("AVG", group="G", queues=queues(4), client_ids=["A", None])  # type: ignore[list-item]
    with pytest.raises(ArgumentError, match=r"MessageQueue.* 'T:0'"):
        allocate_group("AVG", group="G", queues=["T:0"], client_ids=["A"])  # type: ignore[list-item]
