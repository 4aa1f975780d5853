"""Compressing message bodies: zlib (which every client reads), lz4 frames, zstd.

The kind is in bits 8 to 10 of a message's sysFlag; 0 and 3 mean zlib, since 4.9 clients
set no bits there. Inflating is bounded: a few bytes can become gigabytes.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import Final, Literal

import lz4.frame
import zstandard

from rmqcore.errors import ArgumentError, BodyError

CompressionKind = Literal["zlib", "lz4", "zstd"]

MAX_INFLATED_BYTES: Final = 64 * 1024 * 1024
"""A body of 4 MiB before compressing is RocketMQ's limit; brokers may raise it."""

COMPRESSED_FLAG: Final = 1
KIND_MASK: Final = 0x700
KIND_FLAGS: Final[dict[CompressionKind, int]] = {
    "zlib": 0x300,
    "lz4": 0x100,
    "zstd": 0x200,
}
_KINDS: Final[dict[int, CompressionKind]] = {
    0: "zlib",
    0x100: "lz4",
    0x200: "zstd",
    0x300: "zlib",
}
_ZLIB_LEVEL: Final = 5

_ZSTD_WINDOW_BYTES: Final = 16 * 1024 * 1024
_ZSTD_STEP_BYTES: Final = 256
"""Four bytes can become 128 KiB, so a step gives at most 8 MiB."""


def compression_kind(sys_flag: int) -> CompressionKind:
    """Return how a body with this sysFlag is compressed; `BodyError` if unknown."""
    kind = _KINDS.get(sys_flag & KIND_MASK)
    if kind is None:
        raise BodyError(f"sysFlag {sys_flag:#x} names an unknown compression")
    return kind


def deflate(body: bytes, kind: CompressionKind = "zlib") -> bytes:
    """Return the body compressed."""
    if kind == "zlib":
        return zlib.compress(body, _ZLIB_LEVEL)
    if kind == "lz4":
        return bytes(lz4.frame.compress(body))
    if kind == "zstd":
        return zstandard.ZstdCompressor().compress(body)
    raise ArgumentError(
        f"unknown compression {kind!r}; the known ones are zlib, lz4 and zstd"
    )


def inflate(
    data: bytes,
    kind: CompressionKind = "zlib",
    *,
    limit_bytes: int = MAX_INFLATED_BYTES,
) -> bytes:
    """Return the original body; raise `BodyError` when broken or beyond the limit."""
    try:
        body = _INFLATERS[kind](data, limit_bytes + 1)
    except (zlib.error, zstandard.ZstdError, RuntimeError, EOFError) as error:
        raise BodyError(f"{kind} body of {len(data)} bytes: {error}") from None
    if len(body) > limit_bytes:
        raise BodyError(
            f"{kind} body of {len(data)} bytes inflates beyond {limit_bytes} bytes"
        )
    return body


def _inflate_zlib(data: bytes, most: int) -> bytes:
    stream = zlib.decompressobj()
    body = stream.decompress(data, most)
    if not stream.eof and len(body) < most:
        raise EOFError("the stream ends too early")
    return body


def _inflate_lz4(data: bytes, most: int) -> bytes:
    stream = lz4.frame.LZ4FrameDecompressor()
    body = bytes(stream.decompress(data, most))
    if not stream.eof and len(body) < most:
        raise EOFError("the stream ends too early")
    return body


def _inflate_zstd(data: bytes, most: int) -> bytes:
    stream = zstandard.ZstdDecompressor(
        max_window_size=_ZSTD_WINDOW_BYTES
    ).decompressobj()
    parts: list[bytes] = []
    size = 0
    # The output of one step is bounded only by the length of its input.
    for at in range(0, len(data), _ZSTD_STEP_BYTES):
        parts.append(stream.decompress(data[at : at + _ZSTD_STEP_BYTES]))
        size += len(parts[-1])
        if stream.eof or size >= most:
            return b"".join(parts)
    raise EOFError("the stream ends too early")


_INFLATERS: Final[dict[str, Callable[[bytes, int], bytes]]] = {
    "zlib": _inflate_zlib,
    "lz4": _inflate_lz4,
    "zstd": _inflate_zstd,
}
