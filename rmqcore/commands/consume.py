"""`python -m rmqcore consume`: join a group and print what happens, as JSON lines.

    {"event": "allocation", "topic", "queues": [[broker, queue_id]…]}   at each change
    {"event": "message", "topic", "broker", "queue_id", "offset", "keys", "tags",
     "body", "times"}                                                   at each delivery
    {"event": "commit", "topic", "broker", "queue_id", "offset"}        when persisted

Each line also carries "at", milliseconds since the epoch. A body that is not UTF-8 is
printed as "body_base64". The listener can be made slow, or made to fail, to watch the
consequences.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from base64 import b64encode
from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any, Final

from rmqcore.allocation import DEFAULT_STRATEGY
from rmqcore.client import (
    AllocationChanged,
    ConsumeContext,
    ConsumeResult,
    Event,
    LockGained,
    LockLost,
    OffsetCommitted,
    PullDelayed,
    PushConsumer,
    PushSettings,
)
from rmqcore.errors import ArgumentError
from rmqcore.model import ConsumeFromWhere, MessageExt, MessageModel, MessageQueue
from rmqcore.transport import SystemClock

from .joining import (
    HEADERS,
    add_client_arguments,
    check_at_least,
    log_to_stderr,
    request_hooks,
    stop_on_signals,
)
from .verifying import tls_context

_FROM: Final = {
    "first": ConsumeFromWhere.FIRST_OFFSET,
    "last": ConsumeFromWhere.LAST_OFFSET,
    "timestamp": ConsumeFromWhere.TIMESTAMP,
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    add_client_arguments(parser)
    parser.add_argument("--group", required=True, metavar="G")
    parser.add_argument(
        "--topic", required=True, action="append", metavar="T", help="may be repeated"
    )
    parser.add_argument(
        "--tag", default="*", metavar="EXPR", help="tags, such as 'a || b'"
    )
    parser.add_argument("--strategy", default=DEFAULT_STRATEGY, metavar="S")
    parser.add_argument(
        "--strategy-options",
        default="{}",
        metavar="JSON",
        help='options of the strategy, such as {"virtual_nodes": 20}; '
        "config is a list of [topic, broker, queue id]",
    )
    parser.add_argument(
        "--mode",
        type=str.upper,
        choices=[model.value for model in MessageModel],
        default=MessageModel.CLUSTERING.value,
        help="default %(default)s",
    )
    parser.add_argument("--orderly", action="store_true", help="keep order per queue")
    parser.add_argument(
        "--from",
        dest="start",
        choices=list(_FROM),
        default="last",
        help="where to start on a queue never committed (default %(default)s)",
    )
    parser.add_argument(
        "--timestamp-ms", type=int, metavar="MS", help="with --from timestamp"
    )
    parser.add_argument(
        "--offsets-dir", type=Path, metavar="DIR", help="files of broadcasting members"
    )
    parser.add_argument(
        "--threads", type=int, default=20, metavar="N", help="default %(default)s"
    )
    parser.add_argument(
        "--work-ms", type=float, default=0, metavar="MS", help="time each message takes"
    )
    parser.add_argument(
        "--fail-rate",
        type=float,
        default=0,
        metavar="F",
        help="share of messages that fail, 0 to 1",
    )
    parser.add_argument(
        "--count", type=int, default=0, metavar="N", help="stop after N messages"
    )
    parser.add_argument(
        "--quiet", action="store_true", help="print no message or commit lines"
    )


def run(args: argparse.Namespace) -> int:
    """Consume until stopped, then leave the group in good order."""
    check_at_least("--work-ms", args.work_ms, 0)
    check_at_least("--count", args.count, 0)
    if not 0 <= args.fail_rate <= 1:
        raise ArgumentError(f"--fail-rate is {args.fail_rate}, allowed 0 to 1")
    log_to_stderr()
    return asyncio.run(_consume(args))


def strategy_options(text: str) -> dict[str, Any]:
    """Return the options in a JSON object; raise `ArgumentError` for other texts."""
    try:
        options = json.loads(text)
    except json.JSONDecodeError as error:
        raise ArgumentError(f"strategy options {text!r}: {error}") from None
    if not isinstance(options, dict):
        raise ArgumentError(f"strategy options {text!r} are not a JSON object")
    if "config" in options:
        options["config"] = _queues(options["config"])
    return options


def message_line(message: MessageExt, at_ms: int) -> dict[str, object]:
    """Return what is printed about a message."""
    line: dict[str, object] = {
        "event": "message",
        "at": at_ms,
        "topic": message.topic,
        "broker": message.broker_name,
        "queue_id": message.queue_id,
        "offset": message.queue_offset,
        "keys": list(message.keys),
        "tags": message.tags,
        "times": message.reconsume_times,
        "msg_id": message.msg_id,
    }
    try:
        line["body"] = message.body.decode()
    except UnicodeDecodeError:
        line["body_base64"] = b64encode(message.body).decode()
    return line


def event_line(event: Event) -> dict[str, object]:
    """Return what is printed about an event."""
    line: dict[str, object] = {"at": event.at_ms, "client_id": event.client_id}
    match event:
        case AllocationChanged():
            queues = [[queue.broker_name, queue.queue_id] for queue in event.queues]
            return {
                "event": "allocation",
                "topic": event.topic,
                "queues": queues,
                **line,
            }
        case OffsetCommitted():
            return {
                "event": "commit",
                **_queue(event.queue),
                "offset": event.offset,
                **line,
            }
        case LockGained():
            return {"event": "lock_gained", **_queue(event.queue), **line}
        case LockLost():
            return {"event": "lock_lost", **_queue(event.queue), **line}
        case PullDelayed():
            return {
                "event": "pull_delayed",
                **_queue(event.queue),
                "reason": event.reason,
                **line,
            }


class Listening:
    """The listener of the command: it prints, takes its time and fails now and then."""

    def __init__(self, args: argparse.Namespace, told: asyncio.Event) -> None:
        self._work_s = args.work_ms / 1000
        self._fail_rate = args.fail_rate
        self._left = args.count
        self._bounded = bool(args.count)
        self._quiet = args.quiet
        self._told = told
        self._clock = SystemClock()
        self._rng = Random()  # noqa: S311 - which message fails is no secret

    async def __call__(
        self, messages: Sequence[MessageExt], context: ConsumeContext
    ) -> ConsumeResult:
        """Consume the messages."""
        if not self._quiet:
            for message in messages:
                print_line(message_line(message, self._clock.time_ms()))
        if self._work_s:
            await self._clock.sleep(self._work_s * len(messages))
        if self._fail_rate and self._rng.random() < self._fail_rate:
            return ConsumeResult.RECONSUME_LATER
        self._left -= len(messages)
        if self._bounded and self._left <= 0:
            self._told.set()
        return ConsumeResult.SUCCESS


def print_line(line: Mapping[str, object]) -> None:
    """Print one JSON line at once."""
    sys.stdout.write(json.dumps(line, ensure_ascii=False) + "\n")
    sys.stdout.flush()


async def _consume(args: argparse.Namespace) -> int:
    told = stop_on_signals()

    def tell(event: Event) -> None:
        if not (args.quiet and isinstance(event, OffsetCommitted)):
            print_line(event_line(event))

    consumer = PushConsumer(
        args.nameserver,
        group=args.group,
        listener=Listening(args, told),
        strategy=args.strategy,
        strategy_options=strategy_options(args.strategy_options),
        message_model=args.mode,
        consume_from_where=_FROM[args.start],
        consume_timestamp_ms=args.timestamp_ms,
        orderly=args.orderly,
        settings=PushSettings(threads=args.threads),
        instance_name=args.instance_name,
        client_ip=args.client_ip,
        offsets_dir=args.offsets_dir,
        on_event=tell,
        tls=tls_context(args),
        hooks=request_hooks(),
        serialize_type=HEADERS[args.headers],
    )
    for topic in args.topic:
        consumer.subscribe(topic, args.tag)
    async with consumer:
        await told.wait()
    return 0


def _queue(queue: MessageQueue) -> dict[str, object]:
    return {
        "topic": queue.topic,
        "broker": queue.broker_name,
        "queue_id": queue.queue_id,
    }


def _queues(given: object) -> list[MessageQueue]:
    if isinstance(given, list) and all(
        isinstance(item, list) and [type(part) for part in item] == [str, str, int]
        for item in given
    ):
        return [MessageQueue(*item) for item in given]
    raise ArgumentError(f"config is {given!r:.80}, not a list of [topic, broker, id]")
