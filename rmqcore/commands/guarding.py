"""Options of the server commands: encryption, and users who sign."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from rmqcore.errors import ArgumentError
from rmqcore.transport import ServerTls, TlsMode


def add_tls_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options that a server needs to encrypt."""
    parser.add_argument(
        "--tls-certificate",
        type=Path,
        metavar="FILE",
        help="certificate chain (PEM); without it connections are plain",
    )
    parser.add_argument(
        "--tls-key",
        type=Path,
        metavar="FILE",
        help="private key (PEM); default: in the certificate's file",
    )
    parser.add_argument(
        "--tls-mode",
        choices=[str(mode) for mode in TlsMode],
        default=str(TlsMode.PERMISSIVE),
        help="which connections are taken: plain, both, encrypted (default "
        "%(default)s: both)",
    )


def add_users_argument(parser: argparse.ArgumentParser) -> None:
    """Declare the option for a broker's users."""
    parser.add_argument(
        "--users",
        type=Path,
        metavar="FILE",
        help="JSON object of access keys and their secret keys; with it every "
        "request must be signed by one of them",
    )


def server_tls(args: argparse.Namespace) -> ServerTls | None:
    """Return the TLS that the options ask for; `ArgumentError` names a bad file."""
    if args.tls_certificate is None:
        if args.tls_key is not None or args.tls_mode == TlsMode.ENFORCING:
            raise ArgumentError("encryption needs --tls-certificate FILE")
        return None
    tls = ServerTls(
        args.tls_certificate,
        args.tls_key or args.tls_certificate,
        TlsMode(args.tls_mode),
    )
    tls.server_context()
    return tls


def read_users(path: Path | None) -> dict[str, str]:
    """Return the users of a file, none without one.

    Raises `ArgumentError`, which names the file but never the secrets in it.
    """
    if path is None:
        return {}
    try:
        users = json.loads(path.read_bytes())
    except (OSError, ValueError) as error:
        what = error.strerror if isinstance(error, OSError) else "not JSON"
        raise ArgumentError(f"users of {path}: {what}") from None
    if not isinstance(users, dict) or not users:
        raise ArgumentError(f'users of {path}: not an object like {{"name": "secret"}}')
    for name, secret in users.items():
        if not name or not isinstance(secret, str) or not secret:
            raise ArgumentError(f"users of {path}: user {name!r} needs a secret text")
    return users
