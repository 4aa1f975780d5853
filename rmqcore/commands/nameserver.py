"""`python -m rmqcore nameserver`: a name server until it is told to stop."""

from __future__ import annotations

import argparse
from pathlib import Path

from rmqcore.nameserver import NameServer
from rmqcore.transport import parse_address

from .guarding import add_tls_arguments, server_tls
from .serving import serve


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument(
        "--listen",
        default="127.0.0.1:9876",
        metavar="HOST:PORT",
        help="address to bind; port 0 takes a free one (default %(default)s)",
    )
    parser.add_argument(
        "--store",
        type=Path,
        metavar="DIR",
        help="directory for settings that must outlive it (default: memory only)",
    )
    add_tls_arguments(parser)


def run(args: argparse.Namespace) -> int:
    """Serve; the line on stdout gives the address."""
    host, port = parse_address(args.listen)
    tls = server_tls(args)
    return serve(
        lambda: NameServer(host=host, port=port, store=args.store, tls=tls),
        lambda server: {"nameserver": server.address},
    )
