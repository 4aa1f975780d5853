import pytest

from rmqcore.protocol.codes import LanguageCode
from rmqcore.protocol.command import RemotingCommand
from rmqcore.protocol.frames import FrameDecoder, encode_frame

from .captured import CapturedFrame, frames


def test_both_encodings_were_captured() -> None:
    assert len(frames("json")) + len(frames("rocketmq")) >= 440


def decode(frame: CapturedFrame) -> RemotingCommand:
    decoder = FrameDecoder()
    decoder.receive_data(frame.data)
    command = decoder.next_command()
    assert command is not None
    return command


@pytest.mark.parametrize("encoding", ["json", "rocketmq"])
def test_captured_frames_are_read(encoding: str) -> None:
    for frame in frames(encoding):
        command = decode(frame)
        assert command.body == frame.body
        assert command.language is LanguageCode.JAVA
        assert command.is_response == frame.is_response
        assert command.is_oneway == (frame.kind == "oneway")
        # The binary form does not tell an empty value from none.
        expected = {
            name: value
            for name, value in frame.ext_fields.items()
            if value or encoding == "json"
        }
        assert command.ext_fields == expected


@pytest.mark.parametrize("encoding", ["json", "rocketmq"])
def test_captured_frames_are_written_byte_for_byte(encoding: str) -> None:
    written = 0
    for frame in frames(encoding):
        # Java writes an empty map when a header object without fields was set.
        if b'"extFields":{}' in frame.data:
            continue
        command = decode(frame)
        if encoding == "json" or command.ext_fields == frame.ext_fields:
            assert encode_frame(command) == frame.data
            written += 1
    assert written > 180


def test_a_connections_stream_is_cut_at_the_same_places() -> None:
    def received(pieces: list[bytes]) -> int:
        decoder = FrameDecoder()
        count = 0
        for piece in pieces:
            decoder.receive_data(piece)
            while decoder.next_command() is not None:
                count += 1
        return count

    captured: list[CapturedFrame] = frames("json")[:30]
    stream = b"".join(frame.data for frame in captured)
    assert received([stream]) == len(captured)
    assert received([stream[i : i + 1] for i in range(len(stream))]) == len(captured)
