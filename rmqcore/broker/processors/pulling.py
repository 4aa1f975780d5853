"""Pulling: messages of one queue from an offset on (11, 361), now or when they arrive.

The checks and their order are RocketMQ's. A pull that finds nothing new may wait
(`holds`); it is then answered by `answer_held`, which runs it once more without
allowing it to wait. The offset that a pull commits counts only at its first run.
"""

from __future__ import annotations

from collections.abc import Container
from typing import Final

from rmqcore.broker.holds import HeldPull
from rmqcore.broker.state import Answer, BrokerState
from rmqcore.broker.statistics import (
    BROKER_GET_NUMS,
    GET_FOUND,
    GET_MISS,
    GROUP_GET_NUMS,
    GROUP_GET_SIZE,
)
from rmqcore.errors import RmqError
from rmqcore.model import MessageModel, Perm, SubscriptionData, TopicConfig
from rmqcore.protocol.codes import ResponseCode
from rmqcore.protocol.command import RemotingCommand
from rmqcore.protocol.headers import (
    PullMessageRequestHeader,
    PullSysFlag,
    decode_header,
)
from rmqcore.protocol.tags import parse_tag_expression
from rmqcore.store import ReadResult, ReadStatus
from rmqcore.transport import Channel

_GROUP_FORBIDDEN: Final = 2
_TOPIC_FORBIDDEN: Final = 3
_BROADCASTING_FORBIDDEN: Final = 4

_TAG: Final = "TAG"
_MASTER: Final = "0"

_CODES: Final = {
    ReadStatus.FOUND: ResponseCode.SUCCESS,
    ReadStatus.NO_MATCHED_MESSAGE: ResponseCode.PULL_RETRY_IMMEDIATELY,
    ReadStatus.OFFSET_OVERFLOW_ONE: ResponseCode.PULL_NOT_FOUND,
    ReadStatus.OFFSET_OVERFLOW_BADLY: ResponseCode.PULL_OFFSET_MOVED,
    ReadStatus.OFFSET_TOO_SMALL: ResponseCode.PULL_OFFSET_MOVED,
    ReadStatus.OFFSET_RESET: ResponseCode.PULL_OFFSET_MOVED,
}


def pull_message(
    state: BrokerState, channel: Channel, command: RemotingCommand
) -> Answer:
    """Return what is there; None when the pull waits for more."""
    header = decode_header(PullMessageRequestHeader, command.ext_fields)
    return _pull(state, channel, command, header, may_wait=True)


def answer_held(state: BrokerState, held: HeldPull[Channel]) -> None:
    """Answer a pull that was woken, with messages or without."""
    try:
        answer = _pull(state, held.channel, held.command, held.header, may_wait=False)
    except RmqError as error:
        answer = held.command.response(ResponseCode.SYSTEM_ERROR, str(error))
    if answer is not None:
        held.channel.send_response(answer)


# Private, in order of first use


def _pull(
    state: BrokerState,
    channel: Channel,
    command: RemotingCommand,
    header: PullMessageRequestHeader,
    *,
    may_wait: bool,
) -> Answer:
    group, topic, queue_id = header.consumer_group, header.topic, header.queue_id
    checked = _check(state, command, header)
    if isinstance(checked, RemotingCommand):
        return checked
    subscription, config = checked
    codes = None if subscription.takes_all else subscription.codes
    reset = state.offsets.take_reset(group, topic, queue_id)
    if reset is None:
        found = state.store.read(
            topic, queue_id, header.queue_offset, header.max_msg_nums, codes=codes
        )
        _note_offsets(state, header, found, may_commit=may_wait)
    else:
        found = ReadResult(
            ReadStatus.OFFSET_RESET,
            reset,
            state.store.min_offset(topic, queue_id),
            state.store.max_offset(topic, queue_id),
        )
    code = _code(header, found)
    if (
        code == ResponseCode.PULL_NOT_FOUND
        and may_wait
        and header.sys_flag & PullSysFlag.SUSPEND
    ):
        _hold(state, channel, command, header, codes)
        return None
    _count(state, header, found)
    return command.response(
        code,
        found.status.value,
        {
            "suggestWhichBrokerId": _MASTER,
            "nextBeginOffset": str(found.next_offset),
            "minOffset": str(found.min_offset),
            "maxOffset": str(found.max_offset),
            "topicSysFlag": str(config.topic_sys_flag),
            "groupSysFlag": "0",
        },
        found.body,
    )


def _check(
    state: BrokerState, command: RemotingCommand, header: PullMessageRequestHeader
) -> tuple[SubscriptionData, TopicConfig] | RemotingCommand:
    """Return the subscription to filter by, or the answer that refuses the pull."""
    group = state.groups.find(header.consumer_group, state.clock.time_ms())
    if group is None:
        return command.response(
            ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST,
            f"subscription group [{header.consumer_group}] does not exist, ",
        )
    if not group.consume_enable:
        return _forbidden(
            command,
            _GROUP_FORBIDDEN,
            f"subscription group no permission, {header.consumer_group}",
        )
    topic = state.topics.get(header.topic)
    if topic is None:
        return command.response(
            ResponseCode.TOPIC_NOT_EXIST,
            f"topic[{header.topic}] not exist, apply first please! ",
        )
    if Perm.READ not in topic.perm:
        return _forbidden(
            command,
            _TOPIC_FORBIDDEN,
            f"the topic[{header.topic}] pulling message is forbidden",
        )
    if not 0 <= header.queue_id < topic.read_queue_nums:
        return command.response(
            ResponseCode.INVALID_PARAMETER,
            f"queueId[{header.queue_id}] is illegal, topic:[{header.topic}] "
            f"topicConfig.readQueueNums:[{topic.read_queue_nums}]",
        )
    if header.sys_flag & PullSysFlag.SUBSCRIPTION:
        subscription = _own_subscription(command, header)
    else:
        subscription = _group_subscription(
            state, command, header, may_broadcast=group.consume_broadcast_enable
        )
    if isinstance(subscription, RemotingCommand):
        return subscription
    if subscription.expression_type not in (_TAG, ""):
        return command.response(
            ResponseCode.SYSTEM_ERROR,
            "The broker does not support consumer to filter message by "
            f"{subscription.expression_type}",
        )
    return subscription, topic


def _forbidden(command: RemotingCommand, kind: int, remark: str) -> RemotingCommand:
    return command.response(
        ResponseCode.NO_PERMISSION, remark, {"forbiddenType": str(kind)}
    )


def _own_subscription(
    command: RemotingCommand, header: PullMessageRequestHeader
) -> SubscriptionData | RemotingCommand:
    if header.expression_type not in (None, "", _TAG):
        return SubscriptionData(
            header.topic,
            header.subscription or "",
            expression_type=header.expression_type or _TAG,
        )
    try:
        return parse_tag_expression(
            header.topic, header.subscription or "*", header.sub_version
        )
    except RmqError:
        return command.response(
            ResponseCode.SUBSCRIPTION_PARSE_FAILED,
            "parse the consumer's subscription failed",
        )


def _group_subscription(
    state: BrokerState,
    command: RemotingCommand,
    header: PullMessageRequestHeader,
    *,
    may_broadcast: bool,
) -> SubscriptionData | RemotingCommand:
    group = state.consumers.group(header.consumer_group)
    if group is None:
        return command.response(
            ResponseCode.SUBSCRIPTION_NOT_EXIST, "the consumer's group info not exist"
        )
    if group.message_model is MessageModel.BROADCASTING and not may_broadcast:
        return _forbidden(
            command,
            _BROADCASTING_FORBIDDEN,
            f"the consumer group[{header.consumer_group}] "
            "can not consume by broadcast way",
        )
    subscription = group.subscriptions.get(header.topic)
    if subscription is None:
        return command.response(
            ResponseCode.SUBSCRIPTION_NOT_EXIST, "the consumer's subscription not exist"
        )
    if subscription.sub_version < header.sub_version:
        return command.response(
            ResponseCode.SUBSCRIPTION_NOT_LATEST,
            "the consumer's subscription not latest",
        )
    return subscription


def _note_offsets(
    state: BrokerState,
    header: PullMessageRequestHeader,
    found: ReadResult,
    *,
    may_commit: bool,
) -> None:
    group, topic, queue_id = header.consumer_group, header.topic, header.queue_id
    state.offsets.note_pull(group, topic, queue_id, found.next_offset)
    if may_commit and header.sys_flag & PullSysFlag.COMMIT_OFFSET:
        now_ms = state.clock.time_ms()
        state.offsets.commit(group, topic, queue_id, header.commit_offset, now_ms)


def _code(header: PullMessageRequestHeader, found: ReadResult) -> ResponseCode:
    if found.status is ReadStatus.NO_MESSAGE_IN_QUEUE:
        if header.queue_offset != 0:
            return ResponseCode.PULL_OFFSET_MOVED
        return ResponseCode.PULL_NOT_FOUND
    return _CODES[found.status]


def _hold(
    state: BrokerState,
    channel: Channel,
    command: RemotingCommand,
    header: PullMessageRequestHeader,
    codes: Container[int] | None,
) -> None:
    deadline_ms = state.clock.time_ms() + header.suspend_timeout_millis
    state.holds.hold(
        HeldPull(channel, command, header, codes, header.queue_offset, deadline_ms)
    )


def _count(
    state: BrokerState, header: PullMessageRequestHeader, found: ReadResult
) -> None:
    statistics, cluster = state.statistics, state.settings.cluster
    if found.status is not ReadStatus.FOUND:
        statistics.add(GET_MISS, cluster, 1)
        return
    key = f"{header.topic}@{header.consumer_group}"
    statistics.add(GET_FOUND, cluster, 1)
    statistics.add(GROUP_GET_NUMS, key, found.count)
    statistics.add(GROUP_GET_SIZE, key, len(found.body))
    statistics.add(BROKER_GET_NUMS, cluster, found.count)
