"""Options of the client commands: encryption, and whose certificate is believed."""

from __future__ import annotations

import argparse
import ssl
from pathlib import Path

from rmqcore.errors import ArgumentError
from rmqcore.transport import ClientTls


def add_client_tls_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options by which a client encrypts and verifies."""
    parser.add_argument(
        "--tls", action="store_true", help="encrypt, and verify the servers"
    )
    parser.add_argument(
        "--tls-ca",
        type=Path,
        metavar="FILE",
        help="certificates (PEM) that are believed; default: the system's authorities",
    )
    parser.add_argument(
        "--tls-server-name",
        default="",
        metavar="NAME",
        help="name that the certificates must have, in place of the address",
    )
    parser.add_argument(
        "--tls-fingerprint",
        action="append",
        default=[],
        metavar="SHA256",
        help="only this certificate is accepted; may be given several times",
    )
    parser.add_argument(
        "--tls-certificate",
        type=Path,
        metavar="FILE",
        help="certificate chain of this client (PEM)",
    )
    parser.add_argument(
        "--tls-key",
        type=Path,
        metavar="FILE",
        help="its private key (PEM); default: in the certificate's file",
    )
    parser.add_argument(
        "--tls-verify",
        choices=["on", "off"],
        default="on",
        help="off accepts any certificate (default %(default)s)",
    )


def tls_context(args: argparse.Namespace) -> ssl.SSLContext | None:
    """Return the context that the options ask for, None for plain connections.

    Raises `ArgumentError`, which names a bad file or value.
    """
    tls = ClientTls(
        ca=args.tls_ca,
        server_name=args.tls_server_name,
        fingerprints=tuple(args.tls_fingerprint),
        certificate=args.tls_certificate,
        key=args.tls_key,
        verify=args.tls_verify == "on",
    )
    if args.tls:
        return tls.context()
    if tls != ClientTls():
        raise ArgumentError("the options --tls-… need --tls, which is not given")
    return None
