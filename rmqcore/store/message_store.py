"""The message store: one directory, one commit log, and all that is derived from it.

Theory. Appending puts a record into the log and its entry into consume queue and key
index in one step, so a message can be read as soon as `append` returns, and it survives
the death of the process. It survives a crash of the machine once `flush` has passed its
offset; callers that need that wait for `flushed_offset`.

Queues, index and checkpoint are written later, by `begin_checkpoint`, whose work may
run in a thread, and `end_checkpoint`. Everything else belongs to one thread. Times are
arguments in ms; store times never decrease from record to record, even when the
caller's clock does, because queues are searched by them.

Cost: an append is one encode and two copies, some 5 µs alone and 3 µs in a block; a
read of 32 messages is one pass over 32 entries and as few copies as the log has
pieces, some 20 µs.
"""

from __future__ import annotations

import fcntl
import os
import threading
from collections.abc import Callable, Container, Iterable, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Final, NamedTuple

from rmqcore.errors import ArgumentError, StoreError
from rmqcore.model.topic import SCHEDULE_TOPIC

from . import record
from .block import (
    BlockItem,
    Envelope,
    MessageColumns,
    encode_block,
    encode_one,
    key_entries,
    record_sizes,
)
from .checkpoint import Checkpoint, CheckpointWork
from .commit_log import CommitLog
from .consume_queue import ConsumeQueue, Entry
from .dispatch import (
    DELAY_LEVELS_MS,
    enters_queue,
    key_hashes,
    property_values,
    seeded_hashes,
    tag_hash,
    tags_code,
)
from .key_index import key_hash
from .reading import ReadResult, read_queue
from .record import PendingRecord
from .recovery import Recovery

DEFAULT_SEGMENT_BYTES: Final = 64 * 1024 * 1024
HOUR_MS: Final = 3_600_000
DEFAULT_KEEP_MS: Final = 72 * HOUR_MS


class Appended(NamedTuple):
    """Where and when a record was stored; on disk once flushed up to `end`."""

    queue_offset: int
    log_offset: int
    size: int
    store_timestamp: int

    @property
    def end(self) -> int:
        """The log offset at which the record ends."""
        return self.log_offset + self.size


class AppendedBlock(NamedTuple):
    """Where and when a send's messages were stored; on disk if flushed up to `end`."""

    queue_offset: int
    log_offsets: list[int]
    end: int
    store_timestamp: int


class MessageStore:
    """The store of one broker in `directory`; opening it recovers it.

    Raises `StoreError` when another process has it open, or when its files are damaged
    in a way that recovery must not repair by itself.
    """

    def __init__(
        self,
        directory: Path,
        *,
        segment_bytes: int = DEFAULT_SEGMENT_BYTES,
        delay_levels_ms: Sequence[int] = DELAY_LEVELS_MS,
    ) -> None:
        directory.mkdir(parents=True, exist_ok=True)
        self.directory = directory
        self.on_arrival: Callable[[str, int, int, Sequence[int]], None] | None = None
        """Called after appending to a queue: topic, queue id, the first new offset,
        and the tags codes from there on."""
        self._delay_levels_ms = delay_levels_ms
        self._lock_descriptor = _lock_directory(directory)
        try:
            self._log = CommitLog(directory / "commitlog", segment_bytes)
            recovery = Recovery(directory, self._log, delay_levels_ms)
            recovery.run()
        except BaseException:
            os.close(self._lock_descriptor)
            raise
        self._queues = recovery.queues
        self._index = recovery.index
        self._make_queue = recovery.queue
        self._checkpoint_file = recovery.checkpoint_file
        self._checkpoint_lock = threading.Lock()
        self._working: CheckpointWork | None = None
        self._last_timestamp = self._newest_timestamp()

    # Appending

    def append(self, pending: PendingRecord, now_ms: int) -> Appended:
        """Store one record at the end of its queue.

        Raises `StoreError` when the disk is full or the record is too large.
        """
        return self.append_all((pending,), now_ms)[0]

    def append_all(
        self, pending: Sequence[PendingRecord], now_ms: int
    ) -> list[Appended]:
        """Store records one after another: all of them or, in a crash, none.

        Records of one queue get consecutive queue offsets.
        """
        log_offset = self._log.place(sum([each.size for each in pending]))
        timestamp = self._last_timestamp = max(now_ms, self._last_timestamp)
        following: dict[ConsumeQueue, int] = {}
        queues: list[ConsumeQueue] = []
        encoded: list[bytes] = []
        placed: list[Appended] = []
        at = log_offset
        for each in pending:
            key = (each.topic, each.queue_id)
            queue = self._queues.get(key) or self._make_queue(*key)
            number = following.get(queue) or queue.max
            following[queue] = number + 1
            queues.append(queue)
            encoded.append(record.encode(each, number, at, timestamp))
            placed.append(Appended(number, at, each.size, timestamp))
            at += each.size
        self._log.write(
            log_offset, encoded[0] if len(encoded) == 1 else b"".join(encoded)
        )
        for each, queue, place in zip(pending, queues, placed, strict=True):
            self._enter(each, queue, place)
        return placed

    def append_one(self, envelope: Envelope, item: BlockItem, now_ms: int) -> Appended:
        """Store the one message of a send at the end of its queue.

        Raises `StoreError` when the disk is full or no file can hold it, and
        `struct.error` for a number beyond its field.
        """
        topic, form = envelope.topic, envelope.form
        key = (topic, envelope.queue_id)
        queue = self._queues.get(key) or self._make_queue(*key)
        timestamp = self._last_timestamp
        if now_ms > timestamp:
            timestamp = self._last_timestamp = now_ms
        number, log = queue.max, self._log
        size = form.overhead + len(item[1]) + len(item[2])
        at = log.place(size)
        data = encode_one(
            envelope,
            item,
            size,
            queue_offset=number,
            log_offset=at,
            store_timestamp=timestamp,
        )
        log.write(at, data)
        values = item[3]
        hashes = seeded_hashes(form.key_seed, values)
        if hashes:
            self._index.append(log.last_segment_start, at, hashes)
        if enters_queue(envelope.sys_flag):
            code = tags_code(topic, values, timestamp, self._delay_levels_ms)
            queue.append(at, size, code)
            if self.on_arrival is not None:
                self.on_arrival(*key, number, (code,))
        return Appended(number, at, size, timestamp)

    def append_block(
        self, envelope: Envelope, columns: MessageColumns, now_ms: int
    ) -> AppendedBlock:
        """Store the messages of a batch: all of them or, in a crash, none.

        They get consecutive queue offsets. Raises the errors of `append_one`, and
        `ArgumentError` for the schedule topic: delayed messages are stored one by one.
        """
        if envelope.topic == SCHEDULE_TOPIC:
            raise ArgumentError(f"a batch cannot go to {SCHEDULE_TOPIC}")
        key = (envelope.topic, envelope.queue_id)
        queue = self._queues.get(key) or self._make_queue(*key)
        timestamp = self._last_timestamp
        if now_ms > timestamp:
            timestamp = self._last_timestamp = now_ms
        number, log = queue.max, self._log
        sizes = record_sizes(envelope, columns)
        at = log.place(sum(sizes))
        log_offsets = list(accumulate(sizes, initial=at))
        end = log_offsets.pop()
        data = encode_block(
            envelope,
            columns,
            sizes,
            log_offsets,
            queue_offset=number,
            store_timestamp=timestamp,
        )
        log.write(at, data)
        start = log.last_segment_start
        distances = [log_offset - start for log_offset in log_offsets]
        self._index.append_block(start, key_entries(envelope, columns, distances))
        if enters_queue(envelope.sys_flag):
            codes = list(map(tag_hash, columns.tags)) or [0] * len(sizes)
            queue.append_block(log_offsets, sizes, codes)
            if self.on_arrival is not None:
                self.on_arrival(*key, number, codes)
        return AppendedBlock(number, log_offsets, end, timestamp)

    # Reading

    def read(
        self,
        topic: str,
        queue_id: int,
        offset: int,
        max_messages: int,
        *,
        codes: Container[int] | None = None,
    ) -> ReadResult:
        """Return what a pull from `offset` finds; see `reading.read_queue`."""
        queue = self._queues.get((topic, queue_id))
        return read_queue(self._log, queue, offset, max_messages, codes=codes)

    def record_at(self, log_offset: int) -> bytes | None:
        """Return the record at a log offset, None when there is none."""
        return self._log.record_at(log_offset)

    def find_by_key(
        self, topic: str, key: str, limit: int, begin_ms: int, end_ms: int
    ) -> list[bytes]:
        """Return the newest records of a topic with a key, the oldest of them first.

        `key` is one of the message's keys or its unique key; store times outside
        [begin_ms, end_ms] are left out.
        """
        wanted = key.encode()
        found: list[bytes] = []
        for log_offset in self._index.candidates(key_hash(topic.encode(), wanted)):
            if len(found) >= limit:
                break
            data = self._log.record_at(log_offset)
            if data is None:
                continue
            stored = record.parse(data)
            if (
                stored.topic == topic
                and begin_ms <= stored.store_timestamp <= end_ms
                and _has_key(stored.properties, wanted)
            ):
                found.append(data)
        return found[::-1]

    def min_offset(self, topic: str, queue_id: int) -> int:
        """Return the first offset of a queue, 0 when it was never written."""
        queue = self._queues.get((topic, queue_id))
        return 0 if queue is None else queue.min

    def max_offset(self, topic: str, queue_id: int) -> int:
        """Return the offset that a queue's next message gets."""
        queue = self._queues.get((topic, queue_id))
        return 0 if queue is None else queue.max

    def entry(self, topic: str, queue_id: int, offset: int) -> Entry | None:
        """Return log offset, size and tags code of one message, or None."""
        queue = self._queues.get((topic, queue_id))
        return None if queue is None else queue.entry(offset)

    def store_timestamp(self, topic: str, queue_id: int, offset: int) -> int | None:
        """Return when a message was stored, in ms; None when it is not there."""
        entry = self.entry(topic, queue_id, offset)
        return None if entry is None else self._timestamp(entry)

    def offset_by_time(
        self, topic: str, queue_id: int, timestamp: int, *, upper: bool = False
    ) -> int:
        """Return the first offset stored at or after `timestamp` (ms), else the max.

        With `upper`, the last offset stored at or before it, else the minimum.
        """
        queue = self._queues.get((topic, queue_id))
        if queue is None or queue.is_empty:
            return 0 if queue is None else queue.max
        if not upper:
            return queue.search(timestamp, self._timestamp)
        return max(queue.search(timestamp + 1, self._timestamp) - 1, queue.min)

    def queue_ids(self, topic: str) -> list[int]:
        """Return the queues of a topic that were written to."""
        return sorted(queue_id for name, queue_id in self._queues if name == topic)

    @property
    def newest_timestamp(self) -> int:
        """When the newest record was stored, in ms; 0 when there never was one."""
        return self._last_timestamp

    @property
    def log_offsets(self) -> tuple[int, int]:
        """First and next offset of the commit log, in bytes."""
        return self._log.min_offset, self._log.max_offset

    def earliest_timestamp(self) -> int | None:
        """Return when the oldest record was stored, None when there is none."""
        head = self._log.read(self._log.min_offset, record.SMALLEST_RECORD)
        if len(head) < record.SMALLEST_RECORD:
            return None
        return record.store_timestamp_of(head)

    # The disk

    @property
    def flushed_offset(self) -> int:
        """The log offset before which everything is on disk."""
        return self._log.flushed_offset

    def flush(self) -> int:
        """Write the log to disk and return up to where. May run in a thread."""
        return self._log.flush()

    def begin_checkpoint(self) -> CheckpointWork | None:
        """Return the writes to be done, None while another checkpoint is at work."""
        if self._working is not None:
            return None
        unsaved = ((queue, queue.unsaved()) for queue in self._queues.values())
        self._working = CheckpointWork(
            self._log,
            self._checkpoint_file,
            Checkpoint.of(self._log.max_offset, self._queues.values(), self._index),
            [(queue, entries) for queue, entries in unsaved if entries is not None],
            self._index.unsaved(),
            self._checkpoint_lock,
        )
        return self._working

    def end_checkpoint(self, work: CheckpointWork, *, done: bool = True) -> None:
        """Note that the work was run or, with `done` false, that it failed."""
        self._working = None
        if not done:
            return
        for queue, entries in work.entries:
            if id(queue) not in work.dropped:
                queue.mark_saved(entries)
        for keys in work.keys:
            self._index.mark_saved(keys)

    def checkpoint(self) -> None:
        """Write everything to the disk now."""
        work = self.begin_checkpoint()
        if work is None:
            raise StoreError(f"{self.directory}: a checkpoint is already at work")
        try:
            work.run()
        except BaseException:
            self.end_checkpoint(work, done=False)
            raise
        self.end_checkpoint(work)

    def drop_topic(self, topic: str) -> None:
        """Forget a topic's queues; its records stay in the log until they expire."""
        self._drop([key for key in self._queues if key[0] == topic])

    def keep_topics(self, topics: Container[str]) -> None:
        """Forget the queues of every other topic."""
        self._drop([key for key in self._queues if key[0] not in topics])

    def expire(self, now_ms: int, keep_ms: int, max_bytes: int | None = None) -> int:
        """Remove whole log files of old records; return how many.

        A file is removed when its last record is older than `keep_ms`, or while the log
        with its queues and keys is larger than `max_bytes`. The file being written is
        always kept.
        """
        removed = 0
        most_log_bytes = None if max_bytes is None else self._log_share(max_bytes)
        while len(starts := self._log.segment_starts) > 1:
            is_large = (
                most_log_bytes is not None
                and self._log.max_offset - starts[0] > most_log_bytes
            )
            # The next file's first record is as new as this one's last, or newer.
            head = self._log.read(starts[1], record.SMALLEST_RECORD)
            if len(head) < record.SMALLEST_RECORD:
                break
            if not is_large and record.store_timestamp_of(head) > now_ms - keep_ms:
                break
            self._log.drop_oldest()
            removed += 1
        if removed:
            with self._checkpoint_lock:
                for queue in self._queues.values():
                    queue.drop_before_log_offset(self._log.min_offset)
                self._index.drop_before(self._log.min_offset)
        return removed

    def abandon(self) -> None:
        """Release the directory without writing anything, as if the process had died.

        May be called again, and after `close`.
        """
        if self._lock_descriptor >= 0:
            self._log.abandon()
            os.close(self._lock_descriptor)
            self._lock_descriptor = -1

    def close(self) -> None:
        """Write everything to the disk and release the directory."""
        if self._working is not None:
            self.end_checkpoint(self._working, done=False)
        self.checkpoint()
        self.abandon()

    # Private, in order of first use

    def _log_share(self, total_bytes: int) -> int:
        """Return the log's part of a store's bytes, by how the store is divided now."""
        log_bytes = self._log.max_offset - self._log.min_offset
        queue_bytes = sum(queue.total_bytes for queue in self._queues.values())
        all_bytes = log_bytes + queue_bytes + self._index.total_bytes
        return total_bytes * log_bytes // max(all_bytes, 1)

    def _newest_timestamp(self) -> int:
        newest = 0
        for queue in self._queues.values():
            entry = queue.entry(queue.max - 1)
            if entry is not None:
                newest = max(newest, self._timestamp(entry))
        return newest

    def _enter(
        self, pending: PendingRecord, queue: ConsumeQueue, place: Appended
    ) -> None:
        values = pending.values
        if values is None:
            values = property_values(pending.properties)
        hashes = key_hashes(pending.topic_bytes, values)
        if hashes:
            start = self._log.last_segment_start
            self._index.append(start, place.log_offset, hashes)
        if not enters_queue(pending.sys_flag):
            return
        topic = pending.topic
        code = tags_code(topic, values, place.store_timestamp, self._delay_levels_ms)
        queue.append(place.log_offset, place.size, code)
        if self.on_arrival is not None:
            self.on_arrival(topic, pending.queue_id, place.queue_offset, (code,))

    def _timestamp(self, entry: Entry) -> int:
        return record.store_timestamp_of(
            self._log.read(entry[0], record.SMALLEST_RECORD)
        )

    def _drop(self, keys: Iterable[tuple[str, int]]) -> None:
        dropped = [self._queues.pop(key) for key in keys]
        if not dropped:
            return
        with self._checkpoint_lock:
            for queue in dropped:
                if self._working is not None:
                    self._working.dropped.add(id(queue))
                queue.delete()
        if self._working is None:
            self.checkpoint()


def _has_key(properties: bytes, key: bytes) -> bool:
    values = property_values(properties)
    return key == values.get(b"UNIQ_KEY") or key in values.get(b"KEYS", b"").split()


def _lock_directory(directory: Path) -> int:
    descriptor = os.open(directory / "lock", os.O_RDWR | os.O_CREAT, 0o644)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        raise StoreError(f"{directory} is in use by another process") from None
    return descriptor
