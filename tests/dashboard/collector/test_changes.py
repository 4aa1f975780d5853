from __future__ import annotations

import copy
from typing import cast

from hypothesis import given
from hypothesis import strategies as st

from dashboard.collector.changes import changes_between, update_message
from dashboard.collector.group_document import group_document
from dashboard.live.documents import GroupState, queue_key
from dashboard.live.numbering import Stamp

from .sights import NOW, group, keys, member, sight, table


def document(
    lags: list[int], members: int = 1, seq: int = 1, now_ms: int = NOW
) -> GroupState:
    queues = keys(len(lags))
    ids = [f"c{number}" for number in range(members)]
    seen = group(
        table(queues, high=[100 + lag for lag in lags]),
        [member(ids[0], queues), *(member(name, ()) for name in ids[1:])],
        expected=[ids[0]] * len(queues),
    )
    return group_document(sight(seen, now_ms=now_ms), Stamp("r1", seq))


def applied(before: GroupState, changes: dict) -> GroupState:  # type: ignore[type-arg]
    """Do what a page does with an update."""
    after = cast("dict", copy.deepcopy(before))  # type: ignore[type-arg]
    rows = {queue_key(queue): queue for queue in before["queues"]}
    for key, row in changes.get("queues", {}).items():
        if row is None:
            rows.pop(key)
        else:
            rows[key] = row
    after.update(changes)
    after["queues"] = sorted(
        rows.values(), key=lambda q: (q["topic"], q["broker"], q["queue_id"])
    )
    return cast("GroupState", after)


def test_equal_documents_have_no_changes() -> None:
    assert changes_between(document([0, 1]), document([0, 1], seq=2)) == {}


def test_only_changed_rows_are_sent() -> None:
    changes = changes_between(document([0, 0, 0]), document([0, 7, 0]))
    assert list(changes["queues"]) == ["orders|a|1"]
    assert changes["totals"]["lag"] == 7
    assert changes["members"][0]["lag"] == 7
    assert "brokers" not in changes


def test_a_queue_that_is_gone_is_null() -> None:
    changes = changes_between(document([0, 0]), document([0]))
    assert changes["queues"]["orders|a|1"] is None


def test_a_member_that_only_the_document_before_has_is_null() -> None:
    after = document([0])
    before = copy.deepcopy(after)
    before["nameservers"] = []
    assert changes_between(before, after) == {"nameservers": None}


def test_queues_whose_keys_are_one_text_are_sent_whole() -> None:
    alike = (("a", "b|c", 0), ("a|b", "c", 0))

    def lagging(lag: int) -> GroupState:
        seen = group(table(alike, high=[100 + lag, 100]))
        return group_document(sight(seen), Stamp("r1", 1))

    after = lagging(7)
    assert changes_between(lagging(0), after)["queues"] == after["queues"]
    assert "queues" not in changes_between(after, lagging(7))


def test_the_message_carries_name_and_number() -> None:
    after = document([0], seq=9)
    assert update_message(after, {"taken_at": 1}) == {
        "type": "update",
        "cluster": "east",
        "group": "g",
        "run": "r1",
        "seq": 9,
        "changes": {"taken_at": 1},
    }


states = st.builds(
    document,
    st.lists(st.integers(0, 3), min_size=1, max_size=6),
    st.integers(1, 4),
    st.just(1),
    st.integers(NOW, NOW + 5),
)


@given(states, states)
def test_changes_applied_give_the_new_document(
    before: GroupState, after: GroupState
) -> None:
    assert applied(before, changes_between(before, after)) == after
