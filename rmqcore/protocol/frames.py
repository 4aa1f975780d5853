"""Frames: the length-prefixed form of a command on the wire.

    length:4 | type:1 headerLength:3 | header | body        (big-endian)

`length` counts everything after itself. The type byte names the header's encoding,
and each frame is read by its own byte: a 5.x broker answers a binary request in JSON.

Invariants of the decoder: lengths are checked as soon as their four bytes are there,
before anything more is buffered; a command is returned once its last byte is in; after
an error, the stream has no known boundary any more, so the decoder stays broken. Cost:
each received byte is copied into the buffer once and into a body once.
"""

from __future__ import annotations

import struct
from typing import Annotated, Final

import msgspec
import orjson

from rmqcore.errors import FrameError, HeaderError, LocalProtocolError

from .codes import LanguageCode
from .command import RemotingCommand, SerializeType

MAX_FRAME_BYTES: Final = 16 * 1024 * 1024
"""RocketMQ's limit for the whole frame, including its length field."""

_LENGTHS = struct.Struct(">II")
_BINARY_HEAD = struct.Struct(">hBhiii")
_INT32 = struct.Struct(">i")
_UINT32 = struct.Struct(">I")
_INT16 = struct.Struct(">h")

_MAX_HEADER_BYTES: Final = 0xFFFFFF
_INT16_MAX: Final = 0x7FFF
_COMPACT_ABOVE_BYTES: Final = 64 * 1024
_GROW_ABOVE_BYTES: Final = 64 * 1024
_JSON: Final = int(SerializeType.JSON)
_BINARY: Final = int(SerializeType.ROCKETMQ)

_LANGUAGE_NAMES: Final[dict[str, LanguageCode]] = {
    code.name: code for code in LanguageCode
}
_LANGUAGE_TEXTS: Final[dict[int | str, str]] = {
    code: code.name for code in LanguageCode
}
_LANGUAGE_CODES: Final[dict[int, LanguageCode]] = {
    code.value: code for code in LanguageCode
}


def encode_frame(
    command: RemotingCommand, *, max_frame_bytes: int = MAX_FRAME_BYTES
) -> bytes:
    """Return the frame of a command, in the command's own header encoding.

    Raises `LocalProtocolError` when the frame exceeds the limit, or when the binary
    encoding cannot carry the code (it has 16 signed bits).
    """
    if command.serialize_type is SerializeType.JSON:
        header = _encode_json_header(command)
    else:
        header = _encode_binary_header(command)
    if len(header) > _MAX_HEADER_BYTES:
        raise LocalProtocolError(
            f"header of {len(header)} bytes, limit {_MAX_HEADER_BYTES}"
        )
    total = 8 + len(header) + len(command.body)
    if total > max_frame_bytes:
        raise LocalProtocolError(f"frame of {total} bytes, limit {max_frame_bytes}")
    lengths = _LENGTHS.pack(total - 4, command.serialize_type << 24 | len(header))
    return b"".join((lengths, header, command.body))


class FrameDecoder:
    """Turns received bytes into commands.

    Feed it with `receive_data`, then call `next_command` until it returns None, which
    means "need more". Raises `FrameError` or `HeaderError`; once one was raised, every
    later call raises it again.
    """

    __slots__ = ("_buffer", "_error", "_max_frame_bytes", "_start")

    def __init__(self, max_frame_bytes: int = MAX_FRAME_BYTES) -> None:
        # Bytes while little waits for the rest of its frame, which is nearly always;
        # a bytearray while a large frame arrives in many pieces.
        self._buffer: bytes | bytearray = b""
        self._start = 0
        self._max_frame_bytes = max_frame_bytes
        self._error: FrameError | HeaderError | None = None

    @property
    def broken(self) -> bool:
        """True once an error was found; no later byte can be read."""
        return self._error is not None

    @property
    def buffered_bytes(self) -> int:
        """How many bytes wait for the rest of their frame."""
        return len(self._buffer) - self._start

    def receive_data(self, data: bytes) -> None:
        """Take the next bytes of the stream."""
        buffer, start = self._buffer, self._start
        waiting = len(buffer) - start
        if not waiting:
            self._buffer, self._start = data, 0
        elif isinstance(buffer, bytearray):
            buffer += data
        elif waiting > _GROW_ABOVE_BYTES:
            self._buffer, self._start = bytearray(buffer[start:]) + data, 0
        else:
            self._buffer, self._start = buffer[start:] + data, 0

    def next_command(self) -> RemotingCommand | None:
        """Return the next whole command, or None when more bytes are needed."""
        if self._error is not None:
            raise self._error
        buffer, start = self._buffer, self._start
        available = len(buffer) - start
        try:
            if available < _LENGTHS.size:
                if available >= _UINT32.size:
                    (length,) = _UINT32.unpack_from(buffer, start)
                    if length + 4 > self._max_frame_bytes or length < 4:
                        raise self._misfit(length, 0)
                return None
            length, marked = _LENGTHS.unpack_from(buffer, start)
            header_length = marked & 0xFFFFFF
            if length + 4 > self._max_frame_bytes or header_length + 4 > length:
                raise self._misfit(length, header_length)
            if available < length + 4:
                self._judge_kind(marked >> 24)
                return None
            body_at, end = start + 8 + header_length, start + length + 4
            if isinstance(buffer, bytes):
                header, body = buffer[start + 8 : body_at], buffer[body_at:end]
            else:
                with memoryview(buffer) as view:
                    header = bytes(view[start + 8 : body_at])
                    body = bytes(view[body_at:end])
            self._consume(end)
            kind = marked >> 24
            if kind == _JSON:
                return _decode_json_header(header, body)
            self._judge_kind(kind)
            return _decode_binary_header(header, body)
        except (FrameError, HeaderError) as error:
            self._error = error
            self._buffer, self._start = b"", 0
            raise

    def _misfit(self, length: int, header_length: int) -> FrameError:
        if length + 4 > self._max_frame_bytes:
            return FrameError(
                f"frame of {length + 4} bytes, limit {self._max_frame_bytes}"
            )
        if length < 4:
            return FrameError(f"frame length {length}, at least 4 is needed")
        return FrameError(
            f"header of {header_length} bytes in a frame with {length - 4} left"
        )

    def _judge_kind(self, kind: int) -> None:
        if kind not in (_JSON, _BINARY):
            raise FrameError(
                f"unknown serialize type {kind}; "
                "the known ones are 0 (JSON), 1 (ROCKETMQ)"
            )

    def _consume(self, end: int) -> None:
        if end == len(self._buffer):
            self._buffer, self._start = b"", 0
        elif isinstance(self._buffer, bytearray) and end > _COMPACT_ABOVE_BYTES:
            del self._buffer[:end]
            self._start = 0
        else:
            self._start = end


# JSON header

_Number = Annotated[int, msgspec.Meta(ge=-0x80000000, le=0x7FFFFFFF)]


def _encode_json_header(command: RemotingCommand) -> bytes:
    language = command.language
    # Java writes members in alphabetical order and leaves null ones out; some
    # clients scan the text, so the order is kept.
    header: dict[str, object] = {"code": command.code}
    if command.ext_fields:
        header["extFields"] = command.ext_fields
    header["flag"] = command.flag
    header["language"] = _LANGUAGE_TEXTS.get(language) or str(language)
    header["opaque"] = command.opaque
    if command.remark is not None:
        header["remark"] = command.remark
    header["serializeTypeCurrentRPC"] = "JSON"
    header["version"] = command.version
    try:
        return orjson.dumps(header)
    except (TypeError, ValueError) as error:
        raise LocalProtocolError(
            f"header of request {command.code} cannot be written: {error}"
        ) from error


class _JsonHeader(msgspec.Struct, gc=False):
    """A header as peers write it; other forms are read the tolerant way."""

    code: _Number
    flag: _Number
    opaque: _Number
    version: _Number
    language: str
    extFields: dict[str, str] | None = None  # noqa: N815 - the wire's name
    remark: str | None = None


_JSON_HEADER: Final = msgspec.json.Decoder(_JsonHeader)


def _decode_json_header(data: bytes, body: bytes) -> RemotingCommand:
    try:
        read = _JSON_HEADER.decode(data)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        # Broken UTF-8 and deep nesting are not among msgspec's own errors.
        return _decode_unusual_json_header(data, body)
    return RemotingCommand(
        read.code,
        read.extFields or {},
        body,
        read.opaque,
        read.flag,
        read.remark,
        _LANGUAGE_NAMES.get(read.language, read.language),
        read.version,
    )


def _decode_unusual_json_header(data: bytes, body: bytes) -> RemotingCommand:
    try:
        header = orjson.loads(data)
    except orjson.JSONDecodeError as error:
        raise HeaderError(f"JSON header of {len(data)} bytes: {error}") from None
    if not isinstance(header, dict):
        raise HeaderError(f"JSON header is a {type(header).__name__}, not an object")
    ext_fields = header.get("extFields")
    if ext_fields is None:
        ext_fields = {}
    elif not isinstance(ext_fields, dict):
        raise HeaderError(f"extFields is a {type(ext_fields).__name__}, not an object")
    elif not all(type(value) is str for value in ext_fields.values()):
        ext_fields = {
            name: _ext_text(value)
            for name, value in ext_fields.items()
            if value is not None
        }
    remark = header.get("remark")
    language = header.get("language", "JAVA")
    return RemotingCommand(
        _int_member(header, "code"),
        ext_fields,
        body,
        opaque=_int_member(header, "opaque", default=0),
        flag=_int_member(header, "flag", default=0),
        remark=None if remark is None else str(remark),
        language=_LANGUAGE_NAMES.get(language, language)
        if isinstance(language, str)
        else LanguageCode.OTHER,
        version=_int_member(header, "version", default=0),
    )


def _ext_text(value: object) -> str:
    """Return an ext field's value as Java would: numbers and booleans as text."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return str(value)
    return orjson.dumps(value).decode()


def _int_member(
    header: dict[str, object], name: str, *, default: int | None = None
) -> int:
    value = header.get(name, default)
    if isinstance(value, str):
        try:
            value = int(value)
        except ValueError:
            value = None
    if not isinstance(value, int) or isinstance(value, bool):
        raise HeaderError(f"header member {name} is {header.get(name)!r}, not a number")
    if not -0x80000000 <= value <= 0x7FFFFFFF:
        raise HeaderError(f"header member {name} is {value}, beyond 32 bits")
    return value


# Binary ("ROCKETMQ") header


def _encode_binary_header(command: RemotingCommand) -> bytes:
    if not -_INT16_MAX - 1 <= command.code <= _INT16_MAX:
        raise LocalProtocolError(
            f"code {command.code} does not fit the binary header, limit {_INT16_MAX}"
        )
    language = command.language
    remark = (command.remark or "").encode()
    parts: list[bytes] = []
    for name, value in command.ext_fields.items():
        key = name.encode()
        if len(key) > _INT16_MAX:
            raise LocalProtocolError(
                f"ext field name of {len(key)} bytes, limit {_INT16_MAX}"
            )
        data = value.encode()
        parts += (_INT16.pack(len(key)), key, _INT32.pack(len(data)), data)
    ext = b"".join(parts)
    head = _BINARY_HEAD.pack(
        command.code,
        language if isinstance(language, int) else LanguageCode.OTHER,
        command.version,
        command.opaque,
        command.flag,
        len(remark),
    )
    return b"".join((head, remark, _INT32.pack(len(ext)), ext))


def _decode_binary_header(data: bytes, body: bytes) -> RemotingCommand:
    if len(data) < _BINARY_HEAD.size + 4:
        raise HeaderError(
            f"binary header of {len(data)} bytes, at least {_BINARY_HEAD.size + 4}"
        )
    code, language, version, opaque, flag, remark_length = _BINARY_HEAD.unpack_from(
        data
    )
    position = _BINARY_HEAD.size
    remark_bytes, position = _slice(data, position, remark_length, "remark")
    ext_length, position = _read(data, position, _INT32, "ext field length")
    ext, position = _slice(data, position, ext_length, "ext fields")
    return RemotingCommand(
        code,
        _decode_binary_ext(ext),
        body,
        opaque=opaque,
        flag=flag,
        remark=_text(remark_bytes, "remark") if remark_bytes else None,
        language=_LANGUAGE_CODES.get(language, language),
        version=version,
        serialize_type=SerializeType.ROCKETMQ,
    )


def _decode_binary_ext(ext: bytes) -> dict[str, str]:
    fields: dict[str, str] = {}
    position = 0
    while position < len(ext):
        key_length, position = _read(ext, position, _INT16, "ext field name length")
        key, position = _slice(ext, position, key_length, "ext field name")
        value_length, position = _read(ext, position, _INT32, "ext field length")
        value, position = _slice(ext, position, value_length, "ext field value")
        # Java reads a zero length as null, and a null key or value is not a field.
        if key and value:
            fields[_text(key, "ext field name")] = _text(value, "ext field value")
    return fields


def _read(
    data: bytes, position: int, form: struct.Struct, what: str
) -> tuple[int, int]:
    if position + form.size > len(data):
        raise HeaderError(f"binary header ends inside the {what}")
    return form.unpack_from(data, position)[0], position + form.size


def _slice(data: bytes, position: int, length: int, what: str) -> tuple[bytes, int]:
    left = len(data) - position
    if not 0 <= length <= left:
        raise HeaderError(f"{what} of {length} bytes with {left} left in the header")
    return data[position : position + length], position + length


def _text(data: bytes, what: str) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise HeaderError(f"{what} is not UTF-8: {error}") from None
