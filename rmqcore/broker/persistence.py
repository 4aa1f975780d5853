"""The broker's tables on disk: topics, groups, offsets, delay offsets.

One file per table in `config/`, in the format of RocketMQ's own files, which is that of
the bodies 21, 201, 43 and 45. In place of a damaged file, the previous one is read.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from rmqcore.protocol.bodies import (
    ConsumerOffsets,
    SubscriptionGroupTable,
    TopicConfigTable,
    decode_consumer_offsets,
    decode_delay_offsets,
    decode_group_table,
    decode_topic_config_table,
    encode_consumer_offsets,
    encode_delay_offsets,
    encode_group_table,
    encode_topic_config_table,
)
from rmqcore.store import ConfigFile

from . import groups
from .delays import DelayOffsets
from .offsets import ConsumerOffsetTable
from .topics import TopicTable


@dataclass(frozen=True, slots=True)
class PendingFile:
    """A file and what it must hold; `write` may run in a thread."""

    file: ConfigFile
    data: bytes

    def write(self) -> None:
        """Replace the file's content and wait for the disk."""
        self.file.save(self.data)


class TableFiles:
    """Reads the tables of a broker at its start and writes what changes."""

    def __init__(
        self,
        directory: Path,
        topics: TopicTable,
        group_table: groups.SubscriptionGroupTable,
        offsets: ConsumerOffsetTable,
        delays: DelayOffsets,
    ) -> None:
        config = directory / "config"
        self._topics_file = ConfigFile(config / "topics.json")
        self._groups_file = ConfigFile(config / "subscriptionGroup.json")
        self._offsets_file = ConfigFile(config / "consumerOffset.json")
        self._delays_file = ConfigFile(config / "delayOffset.json")
        self._topics = topics
        self._groups = group_table
        self._offsets = offsets
        self._delays = delays

    def load(self) -> None:
        """Fill the tables; raise `StoreError` when a file and its backup are bad."""
        topics = self._topics_file.load(decode_topic_config_table)
        if topics is not None:
            self._topics.restore(topics.topics, topics.data_version)
        group_table = self._groups_file.load(decode_group_table)
        if group_table is not None:
            self._groups.restore(group_table.groups, group_table.data_version)
        offsets = self._offsets_file.load(decode_consumer_offsets)
        if offsets is not None:
            self._offsets.restore(offsets.offsets, offsets.data_version)
        delays = self._delays_file.load(decode_delay_offsets)
        if delays is not None:
            self._delays.restore(delays)

    def save_configuration(self) -> None:
        """Write topics and groups now, where they changed.

        They change seldom and must be on disk before anything that refers to them: a
        message whose topic is forgotten is as good as lost.
        """
        if self._topics.changed:
            topics = TopicConfigTable(self._topics.all, self._topics.version)
            self._topics_file.save(encode_topic_config_table(topics))
            self._topics.changed = False
        if self._groups.changed:
            table = SubscriptionGroupTable(self._groups.all, self._groups.version)
            self._groups_file.save(encode_group_table(table))
            self._groups.changed = False

    def changed_progress(self) -> list[PendingFile]:
        """Return the new content of the offset files, where offsets changed.

        They count as saved from now on; `retry_progress` takes that back. A file is
        written by one thread at a time, in the order of these calls.
        """
        pending = []
        if self._offsets.changed:
            self._offsets.changed = False
            offsets = ConsumerOffsets(self._offsets.snapshot(), self._offsets.version)
            data = encode_consumer_offsets(offsets)
            pending.append(PendingFile(self._offsets_file, data))
        if self._delays.changed:
            self._delays.changed = False
            data = encode_delay_offsets(self._delays.all, self._delays.version)
            pending.append(PendingFile(self._delays_file, data))
        return pending

    def retry_progress(self) -> None:
        """Have the offset files written again, after writing has failed."""
        self._offsets.changed = self._delays.changed = True
