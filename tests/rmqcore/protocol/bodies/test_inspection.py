from hypothesis import given
from hypothesis import strategies as st

from rmqcore.protocol.bodies import (
    ConsumeQueueEntry,
    ConsumeQueueSlice,
    HaStatus,
    decode_consume_queue,
    decode_ha_status,
    encode_consume_queue,
    encode_ha_status,
)
from rmqcore.protocol.tags import parse_tag_expression

from .tricky import int32s, names

int64s = st.integers(-(2**63), 2**63 - 1)
maybe = st.none() | names
entries = st.builds(
    ConsumeQueueEntry, int64s, int32s, int64s, maybe, maybe, st.booleans(), maybe
)
subscriptions = st.sampled_from([None, parse_tag_expression("T", "a || b", 5)])


@given(
    st.builds(
        ConsumeQueueSlice,
        st.lists(entries, max_size=3).map(tuple),
        int64s,
        int64s,
        subscriptions,
        maybe,
    )
)
def test_queue_entries_survive_the_trip(found: ConsumeQueueSlice) -> None:
    assert decode_consume_queue(encode_consume_queue(found)) == found


def test_a_queue_without_entries_may_leave_them_out() -> None:
    found = decode_consume_queue(b'{"maxQueueIndex":3,"minQueueIndex":1}')
    assert found == ConsumeQueueSlice((), 1, 3)


@given(st.booleans(), int64s, int32s)
def test_replicas_survive_the_trip(master: bool, end: int, followers: int) -> None:
    status = HaStatus(master, end, followers, ({"addr": "a"},))
    assert decode_ha_status(encode_ha_status(status)) == status
