"""A member's account of itself when an administrator asks (307).

The property names are Java's: admin tools look for some of them, and find the strategy
where Java clients print it, as a class name.
"""

from __future__ import annotations

import asyncio
import sys
import traceback
from collections.abc import Mapping
from io import StringIO
from typing import Final

from rmqcore.allocation import JAVA_CLASSES, AllocateStrategy
from rmqcore.loop_thread import running_loops
from rmqcore.model import ConsumeType, MessageQueue
from rmqcore.protocol.bodies import (
    ConsumerRunningInfo,
    ConsumeStatus,
    ProcessQueueInfo,
    RunningProperty,
)

from .group import GroupContext
from .process_queue import ProcessQueue

CLIENT_VERSION: Final = "V5_5_0"
"""The release whose behaviour and version ordinal this client has."""

STRATEGY_PROPERTY: Final = "allocateMessageQueueStrategy"
_JAVA_PACKAGE: Final = "org.apache.rocketmq.client.consumer.rebalance"
_MIB: Final = 1024 * 1024


def running_info(
    context: GroupContext,
    properties: Mapping[str, str],
    *,
    with_stacks: bool,
) -> ConsumerRunningInfo:
    """Return a member's account of itself; `properties` are its settings."""
    now_ms = context.now_ms()
    known = context.offsets.clone_offset_table()
    return ConsumerRunningInfo(
        properties=properties,
        queues={
            queue: queue_info(process, known.get(queue))
            for queue, process in context.held.items()
        },
        subscriptions=context.subscriptions.all,
        statuses={
            topic: _status(context, topic, now_ms)
            for topic in context.subscriptions.topics
        },
        jstack=stacks() if with_stacks else None,
    )


def queue_info(process: ProcessQueue, offset: int | None) -> ProcessQueueInfo:
    """Return one process queue as Java shows it.

    Values are 0 where there is none, and -1 for an offset that its store does not have.
    """
    taken = process.taken_offsets or (0, 0)
    return ProcessQueueInfo(
        cached_msg_count=process.cached_count,
        cached_msg_min_offset=process.first_offset or 0,
        cached_msg_max_offset=process.last_offset or 0,
        cached_msg_size_in_mi_b=process.size_bytes // _MIB,
        commit_offset=-1 if offset is None else offset,
        droped=process.dropped,
        last_consume_timestamp=process.last_consume_ms,
        last_lock_timestamp=process.last_lock_ms,
        last_pull_timestamp=process.last_pull_ms,
        locked=process.locked,
        transaction_msg_count=process.taken_count,
        transaction_msg_min_offset=taken[0],
        transaction_msg_max_offset=taken[1],
        try_unlock_times=process.try_unlock_times,
    )


def common_properties(
    context: GroupContext,
    *,
    consume_type: ConsumeType,
    strategy: AllocateStrategy,
    started_ms: int,
) -> dict[str, str]:
    """Return the properties that every kind of member has."""
    nameservers = ";".join(context.instance.nameservers.addresses)
    return {
        RunningProperty.CONSUME_TYPE: consume_type.value,
        RunningProperty.CONSUME_ORDERLY: java_bool(context.orderly),
        RunningProperty.NAMESERVER_ADDR: f"{nameservers};",
        RunningProperty.CLIENT_VERSION: CLIENT_VERSION,
        RunningProperty.CONSUMER_START_TIMESTAMP: str(started_ms),
        STRATEGY_PROPERTY: strategy_text(strategy),
        "consumerGroup": context.group,
        "messageModel": context.message_model.value,
        "namesrvAddr": nameservers,
        "language": "PYTHON",
    }


def java_bool(value: bool) -> str:
    """Return a truth value as Java prints it."""
    return "true" if value else "false"


def strategy_text(strategy: AllocateStrategy) -> str:
    """Return a strategy as the text form of the Java object that it stands for.

    A strategy of the application's own is named by its Python class.
    """
    name = strategy.name.partition("-")[0]
    for java_class, ours in JAVA_CLASSES.items():
        if ours == name:
            return f"{_JAVA_PACKAGE}.{java_class}@{id(strategy) & 0xFFFFFFFF:x}"
    kind = type(strategy)
    return f"{kind.__module__}.{kind.__qualname__}@{id(strategy) & 0xFFFFFFFF:x}"


def stacks() -> str:
    """Return the stacks of this process's threads and of its loops' tasks.

    A listener may run on another loop than its member.
    """
    text = StringIO()
    for thread_id, frame in sys._current_frames().items():
        text.write(f"thread {thread_id}\n")
        text.writelines(traceback.format_stack(frame))
        text.write("\n")
    for loop in {asyncio.get_running_loop(), *running_loops()}:
        for task in asyncio.all_tasks(loop):
            text.write(f"task {task.get_name()}\n")
            task.print_stack(file=text)
            text.write("\n")
    return text.getvalue()


def offsets_of(context: GroupContext, topic: str) -> dict[MessageQueue, int]:
    """Return a member's own view of its progress on a topic (221)."""
    return context.offsets.clone_offset_table(topic)


def _status(context: GroupContext, topic: str, now_ms: int) -> ConsumeStatus:
    rates = context.statistics_of(topic).rates(now_ms)
    return ConsumeStatus(
        consume_failed_msgs=rates.consume_failed_msgs,
        consume_failed_tps=rates.consume_failed_tps,
        consume_ok_tps=rates.consume_ok_tps,
        consume_rt=rates.consume_rt,
        pull_rt=rates.pull_rt,
        pull_tps=rates.pull_tps,
    )
