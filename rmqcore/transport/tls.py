"""TLS of a server: its certificate, and the connections it accepts.

The modes are RocketMQ's. A disabled server accepts only plain connections, a permissive
one accepts both on one port, and an enforcing one accepts only encrypted ones.
"""

from __future__ import annotations

import ssl
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from .client_tls import load_authorities, load_certificate


class TlsMode(StrEnum):
    """The connections that a server with a certificate accepts."""

    DISABLED = "disabled"
    PERMISSIVE = "permissive"
    ENFORCING = "enforcing"


@dataclass(frozen=True, slots=True)
class ServerTls:
    """PEM files of a server, and its mode.

    `trust` holds the certificates that its own connections to other servers trust;
    without it they trust `certificate`, which suits servers that share one.
    """

    certificate: Path
    key: Path
    mode: TlsMode = TlsMode.PERMISSIVE
    trust: Path | None = None

    def server_context(self) -> ssl.SSLContext | None:
        """Return the context of the listening side, None when it is disabled.

        Raises `ArgumentError`, naming the files and what is wrong with them.
        """
        if self.mode is TlsMode.DISABLED:
            return None
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        load_certificate(context, self.certificate, self.key)
        return context

    def client_context(self) -> ssl.SSLContext | None:
        """Return the context for connections to other servers, None for plain ones.

        The certificate is checked, but not the host name: RocketMQ's addresses are
        numbers that certificates seldom name.
        """
        if self.mode is not TlsMode.ENFORCING:
            return None
        trust = self.trust or self.certificate
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname = False
        # A server's own certificate is not an authority, but is to be trusted here.
        context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
        load_authorities(context, trust)
        return context
