"""`python -m rmqcore admin`: look at a cluster, and create what it lacks."""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
from collections.abc import Awaitable, Callable
from typing import Final

import orjson

from rmqcore.admin import AclCredentials, Admin
from rmqcore.admin.names import is_system_topic
from rmqcore.errors import ArgumentError
from rmqcore.model.snapshot import ClusterSnapshot
from rmqcore.model.snapshot_document import document
from rmqcore.model.topic import SubscriptionGroupConfig

from .joining import ACCESS_KEY_VARIABLE, SECRET_KEY_VARIABLE
from .snapshot_text import group_text, snapshot_text, table
from .verifying import add_client_tls_arguments, tls_context


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options and its own sub-commands."""
    parser.add_argument(
        "--nameserver",
        default="127.0.0.1:9876",
        metavar="HOST:PORT[;…]",
        help="name servers of the cluster (default %(default)s)",
    )
    parser.add_argument(
        "--timeout",
        type=float,
        default=3.0,
        metavar="S",
        help="seconds to wait for a connection or an answer (default %(default)s)",
    )
    add_client_tls_arguments(parser)
    parser.epilog = (
        f"Requests are signed when {ACCESS_KEY_VARIABLE} and {SECRET_KEY_VARIABLE} "
        "are set in the environment."
    )
    commands = parser.add_subparsers(dest="task", required=True, metavar="TASK")
    _add_snapshot(commands.add_parser("snapshot", help="the whole cluster at once"))
    commands.add_parser("brokers", help="brokers and their addresses")
    topics = commands.add_parser("topics", help="names of the topics")
    topics.add_argument(
        "--system", action="store_true", help="list RocketMQ's own topics, too"
    )
    commands.add_parser("groups", help="names of the consumer groups")
    _add_create_topic(commands.add_parser("create-topic", help="create a topic"))
    create_group = commands.add_parser("create-group", help="create a consumer group")
    create_group.add_argument("group")
    create_group.add_argument("--cluster", help="only on the brokers of this cluster")


def _add_snapshot(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    parser.add_argument(
        "--group", metavar="G", help="only this group, with members and lag in time"
    )
    parser.add_argument(
        "--running-info",
        action="store_true",
        help="ask each member what it holds: its queues, strategy, subscriptions",
    )
    parser.add_argument(
        "--time-lag",
        action="store_true",
        help="ask how old the first unconsumed message of each queue is",
    )
    parser.add_argument(
        "--pulled", action="store_true", help="ask what was handed out to consumers"
    )


def _add_create_topic(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("topic")
    parser.add_argument(
        "--queues",
        type=int,
        default=8,
        metavar="N",
        help="queues on each broker (default %(default)s)",
    )
    parser.add_argument("--cluster", help="only on the brokers of this cluster")
    parser.add_argument("--broker", help="only on this broker")


def run(args: argparse.Namespace) -> int:
    """Do the task; errors are raised with the address where they occurred."""
    text = asyncio.run(_run(args))
    try:
        print(text, flush=True)  # noqa: T201 - the output
    except BrokenPipeError:
        # The reader of the pipe has seen enough; the exit must not try to write again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


async def _run(args: argparse.Namespace) -> str:
    async with Admin(
        args.nameserver,
        tls=tls_context(args),
        credentials=_credentials(),
        timeout=args.timeout,
    ) as admin:
        return await _TASKS[args.task](admin, args)


def _credentials() -> AclCredentials | None:
    access_key = os.environ.get(ACCESS_KEY_VARIABLE, "")
    secret_key = os.environ.get(SECRET_KEY_VARIABLE, "")
    return AclCredentials(access_key, secret_key) if access_key or secret_key else None


async def _snapshot(admin: Admin, args: argparse.Namespace) -> str:
    groups = None if args.group is None else [args.group]
    snapshot = await admin.snapshot(
        groups=groups,
        running_info=args.running_info,
        time_lag=args.time_lag or groups is not None,
        pulled=args.pulled,
    )
    _check_answered(snapshot)
    if args.group is not None and args.group not in snapshot.groups:
        raise ArgumentError(
            f"no broker at {snapshot.nameserver} knows a consumer group {args.group!r}"
        )
    if args.json:
        return orjson.dumps(document(snapshot), option=orjson.OPT_INDENT_2).decode()
    if args.group is not None:
        return group_text(snapshot, snapshot.groups[args.group])
    return snapshot_text(snapshot)


def _check_answered(snapshot: ClusterSnapshot) -> None:
    """Refuse to print a cluster about which nothing at all is known."""
    if snapshot.brokers and not any(b.answered for b in snapshot.brokers):
        problems = "; ".join(f"{b.name}: {b.error}" for b in snapshot.brokers)
        raise ArgumentError(f"no broker answered: {problems}")


async def _brokers(admin: Admin, _args: argparse.Namespace) -> str:
    return table(
        ("broker", "cluster", "id", "address"),
        [
            (broker.broker_name, broker.cluster, str(number), address)
            for broker in await admin.brokers()
            for number, address in sorted(broker.addresses.items())
        ],
    )


async def _topics(admin: Admin, args: argparse.Namespace) -> str:
    names, info = await admin.topic_names(), await admin.cluster_info()
    return "\n".join(
        name
        for name in names
        if args.system or not is_system_topic(name, info.clusters, info.brokers)
    )


async def _groups(admin: Admin, _args: argparse.Namespace) -> str:
    return "\n".join((await admin.snapshot()).groups)


async def _create_topic(admin: Admin, args: argparse.Namespace) -> str:
    await admin.create_topic(
        args.topic, args.queues, cluster=args.cluster, broker_name=args.broker
    )
    return f"created {args.topic} with {args.queues} queues on each broker"


async def _create_group(admin: Admin, args: argparse.Namespace) -> str:
    await admin.create_group(SubscriptionGroupConfig(args.group), cluster=args.cluster)
    return f"created {args.group}"


_TASKS: Final[dict[str, Callable[[Admin, argparse.Namespace], Awaitable[str]]]] = {
    "snapshot": _snapshot,
    "brokers": _brokers,
    "topics": _topics,
    "groups": _groups,
    "create-topic": _create_topic,
    "create-group": _create_group,
}
