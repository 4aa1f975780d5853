"""The common part of commands that join a cluster: options, credentials, shutdown."""

from __future__ import annotations

import argparse
import asyncio
import logging
import os
import signal
import sys
from collections.abc import Sequence
from typing import Final

from rmqcore.errors import ArgumentError
from rmqcore.protocol.acl import AclCredentials
from rmqcore.protocol.command import SerializeType
from rmqcore.transport import RequestHook, signing

from .verifying import add_client_tls_arguments

ACCESS_KEY_VARIABLE: Final = "RMQCORE_ACCESS_KEY"
SECRET_KEY_VARIABLE: Final = "RMQCORE_SECRET_KEY"  # noqa: S105 - the variable's name

HEADERS: Final = {
    "json": SerializeType.JSON,
    "binary": SerializeType.ROCKETMQ,
}
"""The command-line names of the two encodings of request headers."""

_STOPPING: Final = (signal.SIGINT, signal.SIGTERM)


def add_client_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options that every client has."""
    parser.add_argument(
        "--nameserver",
        required=True,
        metavar="HOST:PORT[;…]",
        help="name servers of the cluster",
    )
    parser.add_argument(
        "--instance-name",
        default="DEFAULT",
        metavar="X",
        help="last part of the client id; DEFAULT makes a unique one, except for "
        "broadcasting (default %(default)s)",
    )
    parser.add_argument("--client-ip", metavar="IP", help="first part of the client id")
    add_client_tls_arguments(parser)
    parser.add_argument(
        "--headers",
        choices=list(HEADERS),
        default="json",
        help="encoding of request headers (default %(default)s)",
    )
    parser.epilog = (
        f"Requests are signed when {ACCESS_KEY_VARIABLE} and {SECRET_KEY_VARIABLE} "
        "are set in the environment."
    )


def request_hooks() -> Sequence[RequestHook]:
    """Return the hook that signs requests, if the environment has keys."""
    access_key = os.environ.get(ACCESS_KEY_VARIABLE, "")
    secret_key = os.environ.get(SECRET_KEY_VARIABLE, "")
    if not access_key and not secret_key:
        return ()
    return (signing(AclCredentials(access_key, secret_key)),)


def log_to_stderr() -> None:
    """Log to stderr: stdout is for the command's own lines."""
    logging.basicConfig(
        level=logging.WARNING,
        stream=sys.stderr,
        format="%(asctime)s %(levelname)s %(name)s %(message)s",
    )


def stop_on_signals() -> asyncio.Event:
    """Return an event that SIGINT and SIGTERM set. Call it inside the event loop."""
    told = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in _STOPPING:
        loop.add_signal_handler(number, told.set)
    return told


def check_at_least(name: str, value: float, least: float) -> None:
    """Raise `ArgumentError` when an option's value is too small."""
    if value < least:
        raise ArgumentError(f"{name} is {value}, must be at least {least}")
