"""`python -m rmqcore produce`: send messages to a topic, by count or until stopped.

The last line on stdout is one JSON object: how many were sent and failed, and how fast.
"""

from __future__ import annotations

import argparse
import asyncio
import json
from dataclasses import dataclass
from typing import Final

from rmqcore.client import Producer, SendResult, by_hash
from rmqcore.errors import ArgumentError, RmqError
from rmqcore.model import Message

from .joining import (
    HEADERS,
    add_client_arguments,
    check_at_least,
    log_to_stderr,
    request_hooks,
    stop_on_signals,
)
from .verifying import tls_context

FAILED: Final = 1
_TICK_S: Final = 0.02


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    add_client_arguments(parser)
    parser.add_argument("--topic", required=True, metavar="T")
    parser.add_argument("--group", default="rmqcore-produce", help="producer group")
    parser.add_argument(
        "--count",
        type=int,
        default=1,
        metavar="N",
        help="how many messages; 0 sends until stopped (default %(default)s)",
    )
    parser.add_argument(
        "--rate",
        type=float,
        default=0.0,
        metavar="R",
        help="messages a second; 0 is as fast as it goes (default %(default)g)",
    )
    parser.add_argument("--tag", default="", metavar="X")
    parser.add_argument(
        "--key-pattern",
        default="",
        metavar="P",
        help="key of each message; {n} is its number, {n%%10} its number modulo 10",
    )
    parser.add_argument(
        "--size",
        type=int,
        default=0,
        metavar="B",
        help="bytes of each body; 0 is just the number",
    )
    parser.add_argument(
        "--orderly",
        action="store_true",
        help="choose the queue by key, one message after another",
    )
    parser.add_argument(
        "--hot",
        type=float,
        default=0.0,
        metavar="S",
        help="share of the messages, 0 to 1, that get the key of the first one; with "
        "--orderly, one queue is hot (default %(default)g)",
    )
    parser.add_argument(
        "--delay-level", type=int, default=0, metavar="L", help="1 to 18, 0 for none"
    )


def run(args: argparse.Namespace) -> int:
    """Send; the exit code is 1 when a message could not be sent."""
    check_at_least("--count", args.count, 0)
    check_at_least("--rate", args.rate, 0)
    check_at_least("--size", args.size, 0)
    if args.orderly and not args.key_pattern:
        raise ArgumentError("--orderly needs --key-pattern: order is kept per key")
    if not 0 <= args.hot <= 1:
        raise ArgumentError(f"--hot is {args.hot:g}, allowed 0 to 1")
    make_key(args.key_pattern, 0)
    log_to_stderr()
    return asyncio.run(_produce(args))


def make_key(pattern: str, number: int) -> str:
    """Return the key of message `number`: the pattern with `{n}` or `{n%M}` filled in.

    Raises `ArgumentError` for anything else in braces.
    """
    parts: list[str] = []
    rest = pattern
    while "{" in rest:
        before, _, after = rest.partition("{")
        name, closing, rest = after.partition("}")
        variable, _, modulus = name.partition("%")
        is_known = closing and variable == "n"
        if not is_known or (modulus or "1").strip("0123456789") or modulus == "0":
            raise ArgumentError(
                f"key pattern {pattern!r}: {{{name}}} is neither {{n}} nor {{n%M}}"
            )
        parts += [before, str(number % int(modulus) if modulus else number)]
    return "".join([*parts, rest])


def is_hot(number: int, share: float) -> bool:
    """Tell whether message `number` is one of the `share` that have one key."""
    return int((number + 1) * share) > int(number * share)


def make_message(args: argparse.Namespace, number: int) -> Message:
    """Return message `number` as the options describe it."""
    body = str(number).encode()
    if args.size:
        body = body.ljust(args.size, b".")[: args.size]
    key = make_key(args.key_pattern, 0 if is_hot(number, args.hot) else number)
    return Message.of(
        args.topic,
        body,
        tags=args.tag,
        keys=[key] if key else [],
        delay_level=args.delay_level,
    )


@dataclass(slots=True)
class _Tally:
    sent: int = 0
    failed: int = 0
    last_error: str | None = None

    def take(self, outcome: asyncio.Future[SendResult]) -> None:
        if outcome.cancelled():
            return
        error = outcome.exception()
        if error is None:
            self.sent += 1
        else:
            self.failed += 1
            self.last_error = str(error)


async def _produce(args: argparse.Namespace) -> int:
    told = stop_on_signals()
    loop = asyncio.get_running_loop()
    tally = _Tally()
    producer = Producer(
        args.nameserver,
        group=args.group,
        instance_name=args.instance_name,
        client_ip=args.client_ip,
        tls=tls_context(args),
        hooks=request_hooks(),
        serialize_type=HEADERS[args.headers],
    )
    async with producer:
        await producer.publish_queues(args.topic)
        began = loop.time()
        pending = await _send_all(args, producer, tally, told)
        await asyncio.gather(*pending, return_exceptions=True)
        took = max(loop.time() - began, 1e-9)
    report = {
        "event": "sent",
        "topic": args.topic,
        "sent": tally.sent,
        "failed": tally.failed,
        "seconds": round(took, 3),
        "per_second": round(tally.sent / took, 1),
        "last_error": tally.last_error,
    }
    print(json.dumps(report), flush=True)  # noqa: T201 - the output
    return FAILED if tally.failed else 0


async def _send_all(
    args: argparse.Namespace, producer: Producer, tally: _Tally, told: asyncio.Event
) -> set[asyncio.Future[SendResult]]:
    loop = asyncio.get_running_loop()
    began = loop.time()
    pending: set[asyncio.Future[SendResult]] = set()
    number = 0
    while not told.is_set() and (args.count == 0 or number < args.count):
        if args.rate and number >= (loop.time() - began) * args.rate + 1:
            await asyncio.sleep(_TICK_S)
            continue
        try:
            outcome = await _send_one(args, producer, number)
        except RmqError as error:
            tally.failed += 1
            tally.last_error = str(error)
            await asyncio.sleep(_TICK_S)
        else:
            pending.add(outcome)
            outcome.add_done_callback(pending.discard)
            outcome.add_done_callback(tally.take)
            if args.orderly:
                await asyncio.wait([outcome])
        number += 1
        if number % 64 == 0:
            await asyncio.sleep(0)
    return pending


async def _send_one(
    args: argparse.Namespace, producer: Producer, number: int
) -> asyncio.Future[SendResult]:
    message = make_message(args, number)
    if args.orderly:
        select = by_hash(message.keys[0])
        return await producer.send_async(message, select=select)
    return await producer.send_async(message)
