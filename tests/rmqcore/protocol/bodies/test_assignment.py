import pytest
from hypothesis import given
from hypothesis import strategies as st

from rmqcore.errors import BodyError
from rmqcore.model import MessageModel
from rmqcore.protocol.bodies import (
    QueryAssignment,
    QueueAssignment,
    SetRequestMode,
    decode_assignments,
    decode_query_assignment,
    decode_set_request_mode,
    encode_assignments,
    encode_query_assignment,
    encode_set_request_mode,
)

from .tricky import filled, int32s, names, queues

modes = st.sampled_from(["PULL", "POP"])


@given(
    st.builds(
        QueryAssignment,
        filled,
        filled,
        filled,
        st.sampled_from(MessageModel),
        st.none() | names,
    )
)
def test_a_question_survives_the_trip(query: QueryAssignment) -> None:
    assert decode_query_assignment(encode_query_assignment(query)) == query


@given(
    st.none()
    | st.lists(
        st.builds(
            QueueAssignment, queues, modes, st.dictionaries(names, names, max_size=2)
        ),
        max_size=3,
    )
)
def test_assignments_survive_the_trip(
    assignments: list[QueueAssignment] | None,
) -> None:
    assert decode_assignments(encode_assignments(assignments)) == assignments


@given(st.builds(SetRequestMode, filled, filled, modes, int32s))
def test_a_mode_survives_the_trip(request: SetRequestMode) -> None:
    assert decode_set_request_mode(encode_set_request_mode(request)) == request


def test_an_unknown_mode_is_refused() -> None:
    with pytest.raises(BodyError, match="Invalid enum value 'PUSH'"):
        decode_set_request_mode(b'{"consumerGroup":"g","topic":"T","mode":"PUSH"}')


def test_an_answer_without_assignments_says_that_the_broker_cannot_tell() -> None:
    assert encode_assignments(None) == b"{}"
    assert decode_assignments(b"{}") is None
    assert decode_assignments(encode_assignments([])) == []
