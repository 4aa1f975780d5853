"""Each recorded allocation of Apache's Java classes, errors included."""

from __future__ import annotations

from typing import Any

import pytest

from rmqcore.allocation import allocate, allocate_group, make_strategy
from rmqcore.errors import AllocationError
from rmqcore.model import MessageQueue, sorted_client_ids, sorted_queues

from .recorded import read_options, read_queues, recorded_cases

CASES = recorded_cases()
FAILING = [case for case in CASES if "error" in case]
ALLOCATED = [case for case in CASES if "result" in case]


def case_id(case: dict[str, Any]) -> str:
    return f"{case['case']}-{case['name'] or case['strategy']}"


def run(case: dict[str, Any]) -> list[MessageQueue]:
    return allocate(
        case["strategy"],
        group=case["group"],
        client_id=case["currentCID"],
        queues=read_queues(case["mqAll"]),  # type: ignore[arg-type]
        client_ids=case["cidAll"],
        **read_options(case),
    )


def test_all_were_read() -> None:
    assert len(CASES) == 1200
    assert len(FAILING) == 70


@pytest.mark.parametrize("case", ALLOCATED, ids=case_id)
def test_same_queues_as_java(case: dict[str, Any]) -> None:
    # Java's CONFIG returns null before it is given a list; ours a list without queues.
    assert run(case) == (read_queues(case["result"]) or [])


@pytest.mark.parametrize("case", FAILING, ids=case_id)
def test_same_refusal_as_java(case: dict[str, Any]) -> None:
    with pytest.raises(AllocationError) as caught:
        run(case)
    if case["error"].endswith("NullPointerException"):
        assert "missing" in str(caught.value)
    else:
        assert case["errorMessage"] in str(caught.value)


def test_same_names_as_java() -> None:
    for case in ALLOCATED:
        options = read_options(case)
        assert make_strategy(case["strategy"], options).name == case["name"]
        assert make_strategy(case["name"], options).name == case["name"]


def is_as_a_group_gives_it(case: dict[str, Any]) -> bool:
    """Groups are sorted and know their members; CONFIG has one list in a case."""
    return (
        case["strategy"] != "CONFIG"
        and None not in case["cidAll"]
        and case["currentCID"] in case["cidAll"]
        and sorted_client_ids(case["cidAll"]) == case["cidAll"]
        and sorted_queues(read_queues(case["mqAll"]) or [])
        == read_queues(case["mqAll"])
    )


def test_whole_group_gives_the_recorded_members_their_queues() -> None:
    groups = [case for case in ALLOCATED if is_as_a_group_gives_it(case)]
    assert len(groups) > 700
    for case in groups:
        plan = allocate_group(
            case["name"],
            group=case["group"],
            queues=reversed(read_queues(case["mqAll"]) or []),
            client_ids=reversed(case["cidAll"]),
            **read_options(case),
        )
        share = list(plan.by_client[case["currentCID"]])
        assert share == read_queues(case["result"]), case_id(case)


def test_whole_group_is_refused_as_its_members_are() -> None:
    groups = [
        case
        for case in FAILING
        if case["mqAll"] and case["cidAll"] and None not in case["cidAll"]
        if case["currentCID"] in case["cidAll"] and case["name"]
    ]
    assert len(groups) > 20
    for case in groups:
        with pytest.raises(AllocationError) as caught:
            allocate_group(
                case["name"],
                group=case["group"],
                queues=read_queues(case["mqAll"]) or [],
                client_ids=case["cidAll"],
                **read_options(case),
            )
        kind = case["errorMessage"].partition(" MessageQueue")[0]
        assert kind in str(caught.value) or "missing" in str(caught.value)
