import zlib

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from rmqcore.errors import ArgumentError, BodyError
from rmqcore.protocol.compression import (
    KIND_FLAGS,
    KIND_MASK,
    CompressionKind,
    compression_kind,
    deflate,
    inflate,
)

KINDS: list[CompressionKind] = ["zlib", "lz4", "zstd"]
kinds = pytest.mark.parametrize("kind", KINDS)


@given(st.binary(max_size=300), st.sampled_from(KINDS))
def test_bodies_survive_the_trip(body: bytes, kind: CompressionKind) -> None:
    assert inflate(deflate(body, kind), kind) == body


def test_zlib_is_the_kind_that_every_client_reads() -> None:
    data = deflate(b"x" * 5000)
    assert zlib.decompress(data) == b"x" * 5000
    assert inflate(data) == b"x" * 5000


@kinds
def test_a_bomb_is_stopped_at_the_limit(kind: CompressionKind) -> None:
    data = deflate(bytes(10_000_000), kind)
    assert len(data) < 50_000
    with pytest.raises(
        BodyError, match=f"{kind} body of .* inflates beyond 1000 bytes"
    ):
        inflate(data, kind, limit_bytes=1000)


@kinds
def test_a_body_at_the_limit_passes(kind: CompressionKind) -> None:
    assert len(inflate(deflate(bytes(1000), kind), kind, limit_bytes=1000)) == 1000


@kinds
@pytest.mark.parametrize("keep", [0, 5, -3])
def test_a_body_cut_short_is_refused(kind: CompressionKind, keep: int) -> None:
    data = deflate(bytes(range(256)) * 20, kind)[:keep]
    with pytest.raises(BodyError, match=f"{kind} body of {len(data)} bytes: "):
        inflate(data, kind)


@kinds
def test_a_body_of_another_kind_is_refused(kind: CompressionKind) -> None:
    with pytest.raises(BodyError, match=f"{kind} body of 9 bytes: "):
        inflate(b"no stream", kind)


def test_zstd_without_its_length_is_read_and_its_end_is_missed_when_cut() -> None:
    body = bytes(range(256)) * 1000
    streamed = zstandard.ZstdCompressor(write_content_size=False).compress(body)
    assert inflate(streamed, "zstd") == body
    with pytest.raises(BodyError, match="ends too early"):
        inflate(streamed[:-3], "zstd")


@pytest.mark.parametrize(
    ("sys_flag", "kind"),
    [(1, "zlib"), (0x301, "zlib"), (0x101, "lz4"), (0x201, "zstd")],
)
def test_the_flag_names_the_kind(sys_flag: int, kind: str) -> None:
    assert compression_kind(sys_flag) == kind


def test_every_kinds_flag_names_it() -> None:
    assert {compression_kind(flag) for flag in KIND_FLAGS.values()} == set(KINDS)
    assert all(flag & KIND_MASK == flag for flag in KIND_FLAGS.values())


def test_an_unknown_kind_is_refused() -> None:
    with pytest.raises(BodyError, match="sysFlag 0x401 names an unknown compression"):
        compression_kind(0x401)
    with pytest.raises(
        ArgumentError, match="unknown compression 'gzip'; the known ones are"
    ):
        deflate(b"", "gzip")  # type: ignore[arg-type]
