import json

import pytest

from rmqcore.labs import (
    Claim,
    Division,
    Evidence,
    LabResult,
    OffsetsFile,
    Part,
    Progress,
    QueueProgress,
    document,
)
from rmqcore.model import MessageQueue

QUEUES = tuple(MessageQueue("T", "b", number) for number in range(4))


def division(*parts: tuple[str, tuple[int, ...]]) -> Division:
    return Division(
        "T",
        "joined",
        tuple(Part(n, f"ip@{n}", tuple(QUEUES[i] for i in ids)) for n, ids in parts),
        QUEUES,
    )


def result(*seen: bool) -> LabResult:
    claims = tuple(Claim(f"F0.c{n}", each, "", {}) for n, each in enumerate(seen))
    file = OffsetsFile("ip@a", "G", "joined", "main", {QUEUES[0]: 7})
    return LabResult(evidence=Evidence("F0", 1, 2, (), (), (), (file,), claims))


def test_a_division_knows_the_idle_the_unowned_and_the_shared() -> None:
    seen = division(("a", (0, 1)), ("b", (1,)), ("c", ()))
    assert seen.idle == ["c"]
    assert seen.unowned == [QUEUES[2], QUEUES[3]]
    assert seen.shared == [QUEUES[1]]
    assert str(seen) == "a 0-1; b 1; c nothing"


@pytest.mark.parametrize(
    ("ids", "text"), [((0, 1, 3), "a 0-1, 3"), ((0, 2), "a 0, 2"), ((), "a nothing")]
)
def test_queue_ids_are_written_as_spans(ids: tuple[int, ...], text: str) -> None:
    assert str(division(("a", ids))) == text


def test_nothing_committed_counts_as_no_message_done() -> None:
    queues = (QueueProgress(QUEUES[0], None, 3), QueueProgress(QUEUES[1], 2, 4))
    progress = Progress("G", "T", "", queues)
    assert (progress.committed, progress.end) == (2, 7)


@pytest.mark.parametrize("seen", [(True, True), (True, False), ()])
def test_a_lab_was_seen_when_all_its_claims_were(seen: tuple[bool, ...]) -> None:
    assert result(*seen).seen is all(seen)


def test_claims_are_found_by_key() -> None:
    assert result(True, False).claim("c1").seen is False


def test_a_result_becomes_json() -> None:
    made = json.loads(json.dumps(document(result(True))))
    assert made["seen"] is True
    assert made["finding"] is None
    assert made["evidence"]["lab"] == "F0"
    assert made["evidence"]["files"][0]["offsets"] == [["T", "b", 0, 7]]
    assert document(division(("a", (0,))))["parts"][0]["queues"] == [["T", "b", 0]]
