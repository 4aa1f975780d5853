"""`python -m rmqcore cluster`: a name server and brokers until told to stop."""

from __future__ import annotations

import argparse
from pathlib import Path

from rmqcore.cluster import LocalCluster
from rmqcore.errors import ArgumentError

from .guarding import add_tls_arguments, add_users_argument, read_users, server_tls
from .serving import serve

_MOST_QUEUES = 10_000
_LEAST_STORE_MB = 64
_MB = 1024 * 1024


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument(
        "--host",
        default="127.0.0.1",
        help="address that name server and brokers bind (default %(default)s)",
    )
    parser.add_argument(
        "--nameserver-port",
        type=int,
        default=9876,
        metavar="P",
        help="port of the name server; 0 takes a free one (default %(default)s)",
    )
    parser.add_argument(
        "--brokers",
        type=int,
        default=1,
        metavar="N",
        help="number of brokers, 1 to 26 (default %(default)s)",
    )
    parser.add_argument(
        "--store",
        type=Path,
        metavar="DIR",
        help="directory of the stores; without it messages are gone at the end",
    )
    parser.add_argument(
        "--store-mb",
        type=int,
        metavar="MB",
        help="size of each broker's store, above which the oldest messages are "
        f"deleted, consumed or not; at least {_LEAST_STORE_MB} "
        "(default: no limit but their age)",
    )
    parser.add_argument(
        "--topic",
        action="append",
        default=[],
        metavar="NAME:QUEUES",
        help="topic to create on every broker; may be given several times",
    )
    add_tls_arguments(parser)
    add_users_argument(parser)


def run(args: argparse.Namespace) -> int:
    """Serve; the line on stdout gives all addresses."""
    topics = [_parse_topic(text) for text in args.topic]
    tls, users = server_tls(args), read_users(args.users)
    max_log_bytes = _store_bytes(args.store_mb)

    async def create_topics(cluster: LocalCluster) -> None:
        for name, queues in topics:
            await cluster.create_topic(name, queues)

    return serve(
        lambda: LocalCluster(
            brokers=args.brokers,
            store=args.store,
            nameserver_port=args.nameserver_port,
            host=args.host,
            tls=tls,
            users=users,
            max_log_bytes=max_log_bytes,
        ),
        lambda cluster: {
            "nameserver": cluster.nameserver_address,
            "brokers": cluster.broker_addresses,
            "topics": [name for name, _ in topics],
        },
        create_topics,
    )


def _parse_topic(text: str) -> tuple[str, int]:
    name, separator, count = text.rpartition(":")
    if not separator or not name or not count.isdecimal():
        raise ArgumentError(f"topic {text!r} is not of the form NAME:QUEUES")
    queues = int(count)
    if not 1 <= queues <= _MOST_QUEUES:
        raise ArgumentError(
            f"topic {name} with {queues} queues, allowed 1 to {_MOST_QUEUES}"
        )
    return name, queues


def _store_bytes(mb: int | None) -> int | None:
    if mb is None:
        return None
    if mb < _LEAST_STORE_MB:
        raise ArgumentError(f"a store of {mb} MB, at least {_LEAST_STORE_MB}")
    return mb * _MB
