"""Reading a queue from an offset on, for a pull.

The batch ends at `max_messages`, at 32 messages, or before the message that would pass
256 KiB, whichever is first; the first message is always returned. At most 800 entries
are checked (more when more messages are asked for), so a filter that matches nothing
makes progress without holding up other requests.
"""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass
from enum import Enum
from typing import Final

from .commit_log import CommitLog
from .consume_queue import ConsumeQueue

MAX_BATCH_MESSAGES: Final = 32
MAX_BATCH_BYTES: Final = 256 * 1024
_SCANNED_ENTRIES: Final = 800


class ReadStatus(Enum):
    """How a read ended; the names are RocketMQ's and are sent as remarks."""

    FOUND = "FOUND"
    NO_MATCHED_MESSAGE = "NO_MATCHED_MESSAGE"
    NO_MESSAGE_IN_QUEUE = "NO_MESSAGE_IN_QUEUE"
    OFFSET_OVERFLOW_ONE = "OFFSET_OVERFLOW_ONE"
    OFFSET_OVERFLOW_BADLY = "OFFSET_OVERFLOW_BADLY"
    OFFSET_TOO_SMALL = "OFFSET_TOO_SMALL"
    OFFSET_RESET = "OFFSET_RESET"


@dataclass(frozen=True, slots=True)
class ReadResult:
    """The records found, and where to go on; `body` is whole records, as stored."""

    status: ReadStatus
    next_offset: int
    min_offset: int
    max_offset: int
    count: int = 0
    body: bytes = b""


def read_queue(
    log: CommitLog,
    queue: ConsumeQueue | None,
    offset: int,
    max_messages: int,
    *,
    codes: Container[int] | None = None,
    max_bytes: int = MAX_BATCH_BYTES,
) -> ReadResult:
    """Return the messages from `offset` on whose tags code is in `codes` (None: all).

    `next_offset` is where the next read should begin, whatever the status: after the
    last entry checked, or the nearest offset that exists.
    """
    if queue is None or queue.max == 0:
        return ReadResult(ReadStatus.NO_MESSAGE_IN_QUEUE, 0, 0, 0)
    low, high = queue.min, queue.max
    if offset < low:
        return ReadResult(ReadStatus.OFFSET_TOO_SMALL, low, low, high)
    if offset == high:
        return ReadResult(ReadStatus.OFFSET_OVERFLOW_ONE, offset, low, high)
    if offset > high:
        return ReadResult(ReadStatus.OFFSET_OVERFLOW_BADLY, high, low, high)
    limit = max(1, min(max_messages, MAX_BATCH_MESSAGES))
    window = limit if codes is None else max(_SCANNED_ENTRIES, max_messages)
    number, total, count = offset, 0, 0
    pieces: list[tuple[int, int]] = []
    start = end = -1
    for log_offset, size, code in queue.entries(offset, window):
        if count == limit or (count and total + size > max_bytes):
            break
        number += 1
        if codes is not None and code not in codes:
            continue
        if log_offset != end:
            if count:
                pieces.append((start, end - start))
            start = log_offset
        end = log_offset + size
        count += 1
        total += size
    if not count:
        return ReadResult(ReadStatus.NO_MATCHED_MESSAGE, number, low, high)
    pieces.append((start, end - start))
    body = log.read_pieces(pieces)
    return ReadResult(ReadStatus.FOUND, number, low, high, count, body)
