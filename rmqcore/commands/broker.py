"""`python -m rmqcore broker`: a master broker until it is told to stop."""

from __future__ import annotations

import argparse
from pathlib import Path

from rmqcore.broker import Broker, BrokerSettings
from rmqcore.transport import parse_address

from .guarding import add_tls_arguments, add_users_argument, read_users, server_tls
from .serving import serve


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument("--name", default="broker-a", help="default %(default)s")
    parser.add_argument(
        "--cluster", default="DefaultCluster", help="default %(default)s"
    )
    parser.add_argument(
        "--nameserver",
        required=True,
        metavar="HOST:PORT[;…]",
        help="name servers to register with",
    )
    parser.add_argument(
        "--listen",
        default="127.0.0.1:10911",
        metavar="HOST:PORT",
        help="address to bind; port 0 takes a free one (default %(default)s)",
    )
    parser.add_argument(
        "--advertise",
        metavar="HOST",
        help="host that clients connect to, where it is not the one bound",
    )
    parser.add_argument(
        "--store",
        required=True,
        type=Path,
        metavar="DIR",
        help="directory of the store",
    )
    parser.add_argument(
        "--sync-flush",
        action="store_true",
        help="answer a send when it is on the disk",
    )
    add_tls_arguments(parser)
    add_users_argument(parser)


def run(args: argparse.Namespace) -> int:
    """Serve; the line on stdout gives the address."""
    host, port = parse_address(args.listen)
    settings = BrokerSettings(
        args.store,
        name=args.name,
        cluster=args.cluster,
        name_servers=tuple(filter(None, args.nameserver.split(";"))),
        host=host,
        port=port,
        advertised_host=args.advertise,
        sync_flush=args.sync_flush,
        tls=server_tls(args),
        users=read_users(args.users),
    )
    return serve(
        lambda: Broker(settings),
        lambda broker: {"broker": settings.name, "address": broker.address},
    )
