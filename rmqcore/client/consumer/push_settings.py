"""How a push consumer consumes: RocketMQ's knobs with RocketMQ's defaults."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from rmqcore.client.membership.process_queue import QueueLimits
from rmqcore.client.membership.running_info import java_bool
from rmqcore.errors import ArgumentError
from rmqcore.model.topic import DEFAULT_RETRY_MAX_TIMES

from .pulling import PullSettings

UNLIMITED_TIMES: Final = 2**31 - 1
MAX_BATCH: Final = 1024


@dataclass(frozen=True, slots=True)
class PushSettings:
    """Settings of one push consumer; times in ms.

    `threads` is how many listeners run at once; `batch_size` is how many messages each
    gets at most. `max_reconsume_times` -1 means 16 attempts, or no limit for orderly
    consumption.
    """

    threads: int = 20
    batch_size: int = 1
    consume_timeout_ms: int = 15 * 60 * 1000
    max_reconsume_times: int = -1
    suspend_ms: int = 1000
    pull: PullSettings = field(default_factory=PullSettings)

    def __post_init__(self) -> None:
        if self.threads < 1:
            raise ArgumentError(f"threads is {self.threads}, must be at least 1")
        for name in ("batch_size",):
            value = getattr(self, name)
            if not 1 <= value <= MAX_BATCH:
                raise ArgumentError(f"{name} is {value}, allowed 1 to {MAX_BATCH}")
        if not 1 <= self.pull.batch_size <= MAX_BATCH:
            raise ArgumentError(
                f"pull batch_size is {self.pull.batch_size}, allowed 1 to {MAX_BATCH}"
            )

    def attempts(self, orderly: bool) -> int:
        """Return how often a message is tried again before it is given up."""
        if self.max_reconsume_times >= 0:
            return self.max_reconsume_times
        return UNLIMITED_TIMES if orderly else DEFAULT_RETRY_MAX_TIMES

    def limits(self, orderly: bool) -> QueueLimits:
        """Return the limits of flow control, without a span limit if `orderly` (C6)."""
        given = self.pull.limits
        if not orderly:
            return given
        return QueueLimits(given.max_messages, given.max_bytes, None)

    def properties(self, orderly: bool) -> dict[str, str]:
        """Return the settings under the names that Java clients report them by."""
        limits = self.pull.limits
        return {
            "consumeThreadMin": str(self.threads),
            "consumeThreadMax": str(self.threads),
            "consumeMessageBatchMaxSize": str(self.batch_size),
            "consumeTimeout": str(self.consume_timeout_ms // 60_000),
            "maxReconsumeTimes": str(self.max_reconsume_times),
            "suspendCurrentQueueTimeMillis": str(self.suspend_ms),
            "pullBatchSize": str(self.pull.batch_size),
            "pullInterval": str(self.pull.interval_ms),
            "pullThresholdForQueue": str(limits.max_messages),
            "pullThresholdSizeForQueue": str(limits.max_bytes // (1024 * 1024)),
            "consumeConcurrentlyMaxSpan": str(limits.max_span or 0),
            "consumeOrderly": java_bool(orderly),
        }
