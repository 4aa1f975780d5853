from __future__ import annotations

from dataclasses import replace

import pytest

from rmqcore.admin.members import (
    MemberReport,
    Membership,
    _processes,
    join_members,
)
from rmqcore.admin.memory import SETTLING_MS, Memory
from rmqcore.admin.sweep import BrokerAnswers
from rmqcore.model import BrokerData, MessageModel
from rmqcore.model.snapshot import GroupKind
from rmqcore.protocol.bodies import (
    ClientConnection,
    ConsumerConnection,
    ConsumerRunningInfo,
)


def listed(*client_ids: str) -> ConsumerConnection:
    connections = tuple(
        ClientConnection(f"10.0.0.1:{40_000 + at}", client_id, "JAVA", 500)
        for at, client_id in enumerate(client_ids)
    )
    return ConsumerConnection(connections, {})


def test_a_connection_made_anew_is_no_second_process() -> None:
    assert _processes([listed("a", "a", "b"), listed("a", "b")]) == {"a": 1, "b": 1}


def test_two_processes_are_listed_twice_by_every_broker() -> None:
    assert _processes([listed("a", "a"), listed("a", "a")]) == {"a": 2}


def test_a_broker_that_does_not_list_an_id_says_nothing_of_it() -> None:
    assert _processes([listed("a", "a"), listed("b")]) == {"a": 2, "b": 1}


@pytest.mark.parametrize(("silent_ms", "members"), [(10_000, 1), (90_000, 2)])
def test_a_broker_that_stood_still_for_long_may_have_let_a_process_go(
    silent_ms: int, members: int
) -> None:
    answers = [
        BrokerAnswers(BrokerData("c", name, {}), None) for name in ("one", "two")
    ]
    for answer, ids in zip(answers, (("a", "a"), ("a",)), strict=True):
        answer.members["g"] = listed(*ids)
    answers[1].memory.note_silence(1_000)
    found = join_members("g", answers, {}, now_ms=1_000 + silent_ms)
    assert [each.client_id for each in found.members] == ["a"] * members


def test_a_broker_that_stood_still_settles_until_the_next_heartbeats() -> None:
    memory = Memory()
    memory.note_silence(1_000)
    assert not memory.settling(30_000)
    assert memory.settling(91_000)
    memory.note_answer(91_000)
    assert memory.settling(91_000 + SETTLING_MS - 1)
    memory.note_answer(91_000 + SETTLING_MS)
    assert not memory.settling(91_000 + SETTLING_MS)
    assert memory.silent_since_ms is None


CLUSTERING, BROADCASTING = MessageModel.CLUSTERING, MessageModel.BROADCASTING


def membership(
    *modes: MessageModel | None, told: dict[str, MessageModel] | None = None
) -> Membership:
    """Members "a" and "b" on a broker for each mode; `told` is what members say."""
    answers = []
    for number, mode in enumerate(modes):
        answer = BrokerAnswers(BrokerData("c", f"broker-{number}", {}), None)
        answer.members["g"] = replace(listed("a", "b"), message_model=mode)
        answers.append(answer)
    reports = {
        ("g", client_id): MemberReport(
            ConsumerRunningInfo({"messageModel": str(mode)}, {}), 1, 2
        )
        for client_id, mode in (told or {}).items()
    }
    return join_members("g", answers, reports, now_ms=3)


@pytest.mark.parametrize("mode", [CLUSTERING, BROADCASTING])
def test_brokers_and_members_that_agree_tell_the_mode(mode: MessageModel) -> None:
    found = membership(mode, mode, told={"a": mode})
    assert (found.mode, found.kind is GroupKind.BROADCASTING) == (
        mode,
        mode is BROADCASTING,
    )


def test_brokers_that_disagree_make_a_mixed_group() -> None:
    found = membership(CLUSTERING, BROADCASTING)
    assert (found.mode, found.kind) == (None, GroupKind.MIXED)


def test_members_that_disagree_do_so_whatever_the_broker_heard_last() -> None:
    found = membership(BROADCASTING, told={"a": CLUSTERING, "b": BROADCASTING})
    assert (found.mode, found.kind) == (None, GroupKind.MIXED)


def test_a_broker_that_names_no_mode_disagrees_with_nobody() -> None:
    assert membership(None, CLUSTERING).mode is CLUSTERING
    assert membership(None).kind is not GroupKind.MIXED
