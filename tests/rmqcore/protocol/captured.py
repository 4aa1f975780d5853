"""What was captured of Apache RocketMQ: frames of 5.5.0, texts of client 5.3.3."""

import gzip
import json
import re
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

VECTORS = Path(__file__).parents[2] / "vectors"


class CapturedFrame(NamedTuple):
    """One frame, its header as the Java classes read it, and its body."""

    request_code: int
    kind: str
    response_code: int | None
    data: bytes
    header: dict[str, Any]
    body: bytes

    @property
    def is_response(self) -> bool:
        return self.kind == "response"

    @property
    def ext_fields(self) -> dict[str, str]:
        return self.header.get("extFields") or {}


@cache
def frames(encoding: str) -> list[CapturedFrame]:
    """Return the frames captured with headers in "json" or "rocketmq"."""
    with gzip.open(VECTORS / f"frames-{encoding}.jsonl.gz", "rt") as lines:
        return [_frame(json.loads(line)) for line in lines]


def _frame(row: dict[str, Any]) -> CapturedFrame:
    data = bytes.fromhex(row["hex"])
    return CapturedFrame(
        row["requestCode"],
        row["kind"],
        row["responseCode"],
        data,
        row["header"],
        data[8 + row["headerLen"] :],
    )


def all_frames() -> list[CapturedFrame]:
    """Return the frames of both encodings."""
    return frames("json") + frames("rocketmq")


def java_text(title: str) -> str:
    """Return what the Java client printed below a title."""
    return _java_texts()[title]


@cache
def _java_texts() -> dict[str, str]:
    text = (VECTORS / "java-client-5.3.3.txt").read_text()
    return {
        title: content.rstrip("\n")
        for title, content in re.findall(
            r"^== (.*)\n((?:(?!== ).*\n?)*)", text, re.MULTILINE
        )
    }
