"""A small run of the fuzz command, and what larger runs have found."""

import struct

import pytest

from benchmarks.fuzz_decoders import run, targets
from rmqcore.errors import HeaderError
from rmqcore.protocol.frames import FrameDecoder


def test_no_damage_gives_anything_but_a_value_or_an_error_of_ours() -> None:
    outcome = run(4000, seed=1)
    assert outcome.failure is None
    assert outcome.results["decoded"] > 100
    assert outcome.results["BodyError"] > 1000
    assert outcome.results["FrameError"] > 5


def test_undamaged_samples_are_decoded_by_what_they_are_samples_for() -> None:
    named = {target.name: target for target in targets()}
    for name in ("frames", "records", "batch", "properties", "ids", "fastjson", "zlib"):
        for sample in named[name].samples:
            named[name].decode(sample)


def json_frame(header: bytes) -> bytes:
    return struct.pack(">II", 4 + len(header), len(header)) + header


@pytest.mark.parametrize(
    "header",
    [
        b'{"code":1,"extFields":{"\xefrder":"x"},"flag":0,"opaque":1,"version":0}',
        b'{"code":1,"x":' + b"[" * 100_000 + b"}",
    ],
)
def test_headers_of_broken_text_or_great_depth_are_refused(header: bytes) -> None:
    decoder = FrameDecoder()
    decoder.receive_data(json_frame(header))
    with pytest.raises(HeaderError, match=f"JSON header of {len(header)} bytes"):
        decoder.next_command()
