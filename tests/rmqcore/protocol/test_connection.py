import pytest

from rmqcore.errors import FrameError, LocalProtocolError
from rmqcore.protocol.command import RemotingCommand
from rmqcore.protocol.connection import (
    Connection,
    LateResponse,
    RequestReceived,
    ResponseReceived,
)
from rmqcore.protocol.frames import encode_frame


def test_two_connections_hold_a_conversation() -> None:
    client, server = Connection(), Connection()
    (asked,) = server.receive_data(client.send_request(RemotingCommand.request(105)))
    assert isinstance(asked, RequestReceived)
    answer = asked.command.response(17, "no route")
    (answered,) = client.receive_data(server.send_response(answer))
    assert isinstance(answered, ResponseReceived)
    assert answered.request_code == 105
    assert answered.command.remark == "no route"
    assert client.open_requests == 0


def test_both_directions_number_their_own_requests() -> None:
    client, server = Connection(), Connection()
    to_server = client.send_request(RemotingCommand.request(34))
    to_client = server.send_request(RemotingCommand.request(40))
    (at_server,) = server.receive_data(to_server)
    (at_client,) = client.receive_data(to_client)
    assert isinstance(at_server, RequestReceived)
    assert isinstance(at_client, RequestReceived)
    assert at_server.command.opaque == at_client.command.opaque
    (answered,) = client.receive_data(
        server.send_response(at_server.command.response())
    )
    assert isinstance(answered, ResponseReceived)
    assert answered.request_code == 34


def test_answers_in_another_order_find_their_requests() -> None:
    client, server = Connection(), Connection()
    frames = [client.send_request(RemotingCommand.request(code)) for code in (1, 2, 3)]
    requests = server.receive_data(b"".join(frames))
    answers = [server.send_response(event.command.response()) for event in requests]
    events = client.receive_data(b"".join(reversed(answers)))
    assert [
        event.request_code for event in events if isinstance(event, ResponseReceived)
    ] == [3, 2, 1]


def test_a_forgotten_request_has_a_late_answer() -> None:
    client, server = Connection(), Connection()
    command = RemotingCommand.request(11)
    (asked,) = server.receive_data(client.send_request(command))
    client.forget(command.opaque)
    (event,) = client.receive_data(server.send_response(asked.command.response()))
    assert isinstance(event, LateResponse)


def test_a_oneway_request_is_not_open() -> None:
    client = Connection()
    client.send_request(RemotingCommand.request(35, oneway=True))
    assert client.open_requests == 0


def test_requests_and_responses_are_not_confused() -> None:
    connection = Connection()
    request = RemotingCommand.request(1)
    with pytest.raises(LocalProtocolError, match="is a response"):
        connection.send_request(request.response())
    with pytest.raises(LocalProtocolError, match="is not a response"):
        connection.send_response(request)


def test_a_request_too_large_leaves_nothing_open() -> None:
    connection = Connection(max_frame_bytes=200)
    with pytest.raises(LocalProtocolError, match="limit 200"):
        connection.send_request(RemotingCommand.request(1, body=b"x" * 300))
    assert connection.open_requests == 0


def test_events_before_broken_bytes_are_not_lost() -> None:
    connection = Connection()
    good = encode_frame(RemotingCommand.request(1))
    (event,) = connection.receive_data(good + b"\0\0\0\1" + b"\0" * 4)
    assert isinstance(event, RequestReceived)
    assert connection.broken
    with pytest.raises(FrameError):
        connection.receive_data(b"")


def test_numbers_wrap_and_skip_those_still_open() -> None:
    connection = Connection()
    first = RemotingCommand.request(1)
    connection.send_request(first)
    connection._opaque = 0x7FFFFFFF
    for expected in (0, 2):
        command = RemotingCommand.request(1)
        connection.send_request(command)
        assert command.opaque == expected
