"""Reading a group's document."""

from __future__ import annotations

from typing import Any

import pytest

from dashboard.whatif.model import read_situation
from rmqcore.errors import ArgumentError
from tests.dashboard.documents import waiting_for_locks
from tests.dashboard.whatif.made import group_document, queue, queue_row


def test_a_document_is_read() -> None:
    found = read_situation(group_document())
    assert (found.cluster, found.group, found.strategy) == ("test", "G", "AVG")
    assert found.members == ("A", "B")
    assert [state.queue for state in found.queues] == [queue(0), queue(1), queue(2)]
    assert found.queues[1].rate_in is None
    assert (found.queues[2].owners, found.queues[2].lag) == (("B",), 7)
    assert found.topics == ("orders",)


def test_the_collectors_document_is_read() -> None:
    document = waiting_for_locks()
    found = read_situation(document)
    assert len(found.members) == 3
    assert len(found.queues) == 16
    assert sum(1 for state in found.queues if not state.owners) == 4
    assert found.taken_at_ms == document["taken_at"]


def test_a_blank_sheet() -> None:
    found = read_situation({"group": "G"})
    assert (found.members, found.queues, found.strategy) == ((), (), None)
    assert found.member_rate is None


def test_a_client_id_listed_twice_stays_twice() -> None:
    twice = [{"client_id": "A"}, {"client_id": "A"}]
    assert read_situation(group_document(members=twice)).members == ("A", "A")


def test_a_member_can_take_what_it_was_seen_to_take() -> None:
    assert read_situation(group_document()).member_rate == 25.0


def test_one_that_keeps_up_takes_what_arrives() -> None:
    rows = [queue_row(0, ["A"], rate_in=70.0, lag=100), queue_row(1, ["B"])]
    assert read_situation(group_document(queues=rows)).member_rate == 70.0
    lagging = [queue_row(0, ["A"], rate_in=70.0, lag=10_000)]
    assert read_situation(group_document(queues=lagging)).member_rate == 25.0
    unknown = [queue_row(0, ["A"], rate_in=70.0, lag=None)]
    assert read_situation(group_document(queues=unknown)).member_rate == 25.0


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"mode": "BROADCASTING"}, "group G is BROADCASTING"),
        ({"kind": "broadcasting"}, "group G is BROADCASTING"),
        ({"kind": "shared_pop"}, r"no single owners \(shared_pop\)"),
        ({"kind": "mixed"}, r"group G is mixed"),
        ({"kind": "assigned_by_hand"}, r"no single owners \(assigned_by_hand\)"),
        ({"members": "A"}, "members of a group must be a list, got 'A'"),
        ({"members": [{}]}, "a row of members lacks client_id"),
        ({"queues": [{"topic": "T"}]}, "a row of queues lacks queue_id"),
        (
            {"queues": [{**queue_row(0, []), "queue_id": "0"}]},
            "queue_id must be a whole",
        ),
        ({"queues": [queue_row(0, [], lag=-1)]}, "lag must be finite .* got -1"),
        ({"queues": [queue_row(0, [], rate_in="5")]}, "rate_in must be .* got '5'"),
        ({"queues": [queue_row(0, [], rate_in=True)]}, "rate_in must be .* got True"),
    ],
)
def test_what_cannot_be_compared_is_refused(
    changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(ArgumentError, match=message):
        read_situation(group_document(**changes))
