from rmqcore.protocol.headers import (
    HEADERLESS_CODES,
    REQUEST_HEADERS,
    RESPONSE_HEADERS,
    SHORT_NAMED_CODES,
    decode_header,
    encode_header,
)
from tests.rmqcore.protocol.captured import all_frames


def test_captured_request_headers_are_read_and_written_field_for_field() -> None:
    seen = set()
    for frame in all_frames():
        if frame.is_response or frame.request_code in HEADERLESS_CODES:
            continue
        header = decode_header(REQUEST_HEADERS[frame.request_code], frame.ext_fields)
        short = frame.request_code in SHORT_NAMED_CODES
        assert encode_header(header, short_names=short) == frame.ext_fields
        seen.add(frame.request_code)
    assert len(seen) > 30


def test_captured_response_headers_are_read_and_written_field_for_field() -> None:
    seen = set()
    for frame in all_frames():
        if not (frame.is_response and frame.ext_fields):
            continue
        header = decode_header(RESPONSE_HEADERS[frame.request_code], frame.ext_fields)
        assert encode_header(header) == frame.ext_fields
        seen.add(frame.request_code)
    assert seen >= {11, 12, 14, 29, 30, 31, 32, 34, 201, 310, 320}


def test_requests_without_typed_header_carry_no_fields() -> None:
    for frame in all_frames():
        if not frame.is_response and frame.request_code in HEADERLESS_CODES:
            assert frame.ext_fields == {}
