"""Throw broken bytes at every decoder of `rmqcore.protocol`.

    .venv/bin/python -m benchmarks.fuzz_decoders --count 200000 --seed 1

Each case takes a captured frame, record or body, or nothing, and damages it: random
bytes, cut off, bits flipped, lengths blown up, pieces repeated, two samples spliced. A
decoder passes if it returns or raises an `RmqError` within the time for one case, and
the process grows by no more than the memory allowed. The first failure is printed with
all that is needed to reproduce it. The same seed gives the same cases.
"""

from __future__ import annotations

import argparse
import faulthandler
import gzip
import json
import random
import resource
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from rmqcore.errors import RmqError
from rmqcore.protocol import bodies
from rmqcore.protocol.batch import decode_batch
from rmqcore.protocol.compression import deflate, inflate
from rmqcore.protocol.fastjson import loads
from rmqcore.protocol.frames import FrameDecoder
from rmqcore.protocol.headers import REQUEST_HEADERS, RESPONSE_HEADERS, decode_header
from rmqcore.protocol.ids import decode_offset_msg_id
from rmqcore.protocol.message import decode_records
from rmqcore.protocol.properties import decode_properties

VECTORS = Path(__file__).parents[1] / "tests" / "vectors"
RECORD_CODES = (11, 12)
BATCH_CODE = 320
KIBIBYTE = 1024
MEBIBYTE = 1024 * KIBIBYTE

LENGTHS = [
    value.to_bytes(4, "big")
    for value in (0, 1, 0xFF, 0x7FFF, 0xFFFFFF, 0x1000001, 0x7FFFFFFF, 0xFFFFFFFF)
]
TOKENS = [
    *(b"{", b"}", b"[", b"]", b'"', b"'", b",", b":", b"\\", b"\x00", b"\x01", b"\x02"),
    *(b'{"$ref":"$"}', b'{"$ref":".."}', b"{0:", b"1e999", b"9" * 30, b"null"),
    *(b'{"brokerName":', b'"}:', b"}}}]", b"\\ud800", b"\xff", b"-", b"\\u00"),
]

Decoder = Callable[[bytes], object]
Report = Callable[[str], object]


@dataclass
class Target:
    """A decoder and the good inputs to damage for it."""

    name: str
    decode: Decoder
    samples: Sequence[bytes]


@dataclass
class Outcome:
    """What a run saw; `failure` is None when every case passed."""

    cases: int = 0
    results: Counter[str] = field(default_factory=Counter)
    slowest_s: float = 0.0
    slowest_name: str = ""
    grown_bytes: int = 0
    failure: str | None = None


def read_frame(data: bytes) -> int:
    """Feed a frame decoder in two pieces and take all commands out."""
    decoder = FrameDecoder()
    count = 0
    for piece in (data[: len(data) // 2], data[len(data) // 2 :]):
        decoder.receive_data(piece)
        while decoder.next_command() is not None:
            count += 1
    return count


def read_headers(data: bytes) -> None:
    """Use pieces of the data as ext fields of every header class."""
    texts = data.decode("utf-8", "replace").split(":")
    fields = {name: texts[i % len(texts)] for i, name in enumerate(HEADER_FIELDS)}
    for cls in HEADER_CLASSES:
        try:
            decode_header(cls, fields)
        except RmqError:
            continue


HEADER_CLASSES = sorted(
    {*REQUEST_HEADERS.values(), *RESPONSE_HEADERS.values()}, key=lambda c: c.__name__
)
HEADER_FIELDS = (
    *("topic", "queueId", "consumerGroup", "group", "timestamp", "isForce", "offset"),
    *(chr(letter) for letter in range(ord("a"), ord("o"))),
)


def targets() -> list[Target]:
    """Return every decoder with captured samples."""
    rows = list(captured_rows())
    frames = [data for _, data, _ in rows]
    texts = sorted({body for _, _, body in rows if body.startswith(b"{")})
    texts += java_texts()
    records = [body for code, _, body in rows if code in RECORD_CODES and body]
    batches = [body for code, _, body in rows if code == BATCH_CODE and body]
    found = [
        Target("frames", read_frame, frames),
        Target("records", lambda data: decode_records(data, "b"), records),
        Target("batch", decode_batch, batches),
        Target("headers", read_headers, [b"1:true:x:-1:T"]),
        Target("properties", read_properties, [b"TAGS\x01a\x02KEYS\x01k\x02"]),
        Target("ids", read_id, [b"7F00000100002A9F00000000000003E8"]),
        Target("fastjson", loads, texts),
        Target("register", read_registration, [compressed_registration()]),
    ]
    for kind in ("zlib", "lz4", "zstd"):
        sample = deflate(b"sample " * 500, kind)
        found.append(Target(kind, partial(inflate, kind=kind), [sample]))
    decoders = [name for name in bodies.__all__ if name.startswith("decode_")]
    found += [Target(name, getattr(bodies, name), texts) for name in decoders]
    return found


def read_properties(data: bytes) -> object:
    """Decode properties from bytes of any kind."""
    return decode_properties(data.decode("utf-8", "replace"))


def read_id(data: bytes) -> object:
    """Decode a message id from bytes of any kind."""
    return decode_offset_msg_id(data.decode("utf-8", "replace"))


def read_registration(data: bytes) -> object:
    """Decode a compressed registration, damaged after compressing or before."""
    try:
        return bodies.decode_register_broker(data, compressed=True)
    except RmqError:
        return bodies.decode_register_broker(deflate(data), compressed=True)


def compressed_registration() -> bytes:
    """Return what a compressed registration inflates to."""
    table = bodies.TopicConfigTable({}, bodies.DataVersion())
    body = bodies.RegisterBrokerBody(table, ("x",))
    return inflate(bodies.encode_register_broker_compressed(body))


def captured_rows() -> Iterator[tuple[int, bytes, bytes]]:
    """Yield request code, frame and body of each captured frame."""
    for encoding in ("json", "rocketmq"):
        with gzip.open(VECTORS / f"frames-{encoding}.jsonl.gz", "rt") as lines:
            for line in lines:
                row = json.loads(line)
                data = bytes.fromhex(row["hex"])
                yield row["requestCode"], data, data[8 + row["headerLen"] :]


def java_texts() -> list[bytes]:
    """Return the bodies that the Java client printed."""
    lines = (VECTORS / "java-client-5.3.3.txt").read_bytes().splitlines()
    return [line for line in lines if line.startswith(b'{"')]


def damaged(rng: random.Random, samples: Sequence[bytes]) -> bytes:
    """Return a sample after one to three damages."""
    data = bytearray(rng.choice(samples))
    for _ in range(rng.randint(1, 3)):
        rng.choice(DAMAGES)(rng, data, samples)
    return bytes(data)


def fill_with_noise(rng: random.Random, data: bytearray, _: Sequence[bytes]) -> None:
    data[:] = rng.randbytes(rng.randint(0, 200))


def cut_off(rng: random.Random, data: bytearray, _: Sequence[bytes]) -> None:
    del data[rng.randint(0, len(data)) :]


def flip_bits(rng: random.Random, data: bytearray, _: Sequence[bytes]) -> None:
    for _bit in range(rng.randint(1, 8) if data else 0):
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)


def blow_up_length(rng: random.Random, data: bytearray, _: Sequence[bytes]) -> None:
    at = rng.randint(0, len(data))
    data[at : at + 4] = rng.choice(LENGTHS)


def put_token(rng: random.Random, data: bytearray, _: Sequence[bytes]) -> None:
    at = rng.randint(0, len(data))
    data[at:at] = rng.choice(TOKENS) * rng.choice((1, 1, 1, 2, 200))


def repeat_piece(rng: random.Random, data: bytearray, _: Sequence[bytes]) -> None:
    at = rng.randint(0, len(data))
    piece = data[at : at + rng.randint(1, 100)]
    times = rng.choice((2, 10, 300)) if len(data) < 64 * KIBIBYTE else 2
    data[at:at] = piece * times


def splice(rng: random.Random, data: bytearray, samples: Sequence[bytes]) -> None:
    other = rng.choice(samples)
    data[rng.randint(0, len(data)) :] = other[rng.randint(0, len(other)) :]


DAMAGES = [
    fill_with_noise,
    cut_off,
    flip_bits,
    flip_bits,
    blow_up_length,
    put_token,
    put_token,
    repeat_piece,
    splice,
]


def run(
    count: int,
    seed: int,
    *,
    case_seconds: float = 5.0,
    memory_bytes: int = 512 * MEBIBYTE,
) -> Outcome:
    """Run that many cases, spread evenly over the decoders."""
    rng = random.Random(seed)
    listed = targets()
    outcome = Outcome()
    for number in range(count):
        target = listed[number % len(listed)]
        data = damaged(rng, target.samples)
        begin, before = time.perf_counter(), peak_bytes()
        try:
            target.decode(data)
            result = "decoded"
        except RmqError as error:
            result = type(error).__name__
        except Exception as error:
            outcome.failure = f"{type(error).__name__}: {error}"
            result = "failed"
        took, grown = time.perf_counter() - begin, peak_bytes() - before
        outcome.cases += 1
        outcome.results[result] += 1
        outcome.grown_bytes += grown
        if took > outcome.slowest_s:
            outcome.slowest_s, outcome.slowest_name = took, target.name
        if took > case_seconds:
            outcome.failure = f"took {took:.1f} s, limit {case_seconds} s"
        if outcome.grown_bytes > memory_bytes:
            outcome.failure = (
                f"grew by {outcome.grown_bytes} bytes, limit {memory_bytes}"
            )
        if outcome.failure:
            where = f"{target.name}, seed {seed}, case {number}"
            outcome.failure = f"{where}: {outcome.failure}\n{data[:2000].hex()}"
            break
    return outcome


def peak_bytes() -> int:
    """Return the most memory the process has had so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * KIBIBYTE


def main() -> int:
    """Run from the command line; the exit status tells whether all cases passed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=100_000, help="cases to run")
    parser.add_argument("--seed", type=int, default=0, help="which cases")
    options = parser.parse_args()
    faulthandler.dump_traceback_later(600, repeat=True)
    begin = time.perf_counter()
    outcome = run(options.count, options.seed)
    faulthandler.cancel_dump_traceback_later()
    print(f"{outcome.cases} cases in {time.perf_counter() - begin:.0f} s")
    for result, cases in outcome.results.most_common():
        print(f"  {cases:>9} {result}")
    print(f"slowest {outcome.slowest_s * 1000:.0f} ms ({outcome.slowest_name})")
    print(f"grew by {outcome.grown_bytes / MEBIBYTE:.0f} MiB")
    if outcome.failure:
        print(f"FAILED {outcome.failure}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
