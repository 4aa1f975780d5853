"""TLS of a server: its certificate, and which connections it takes.

The modes are RocketMQ's. A disabled server takes plain connections only, a permissive
one takes both on one port, an enforcing one takes encrypted ones only.
"""

from __future__ import annotations

import ssl
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from rmqcore.errors import ArgumentError


class TlsMode(StrEnum):
    """Which connections a server with a certificate takes."""

    DISABLED = "disabled"
    PERMISSIVE = "permissive"
    ENFORCING = "enforcing"


@dataclass(frozen=True, slots=True)
class ServerTls:
    """PEM files of a server, and its mode.

    `trust` holds the certificates that its own connections to other servers believe;
    without it they believe `certificate`, which suits servers that share one.
    """

    certificate: Path
    key: Path
    mode: TlsMode = TlsMode.PERMISSIVE
    trust: Path | None = None

    def server_context(self) -> ssl.SSLContext | None:
        """Return what the listening side needs, None when it is disabled.

        Raises `ArgumentError` naming the files and what is wrong with them.
        """
        if self.mode is TlsMode.DISABLED:
            return None
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        try:
            context.load_cert_chain(self.certificate, self.key)
        except (OSError, ssl.SSLError) as error:
            raise ArgumentError(
                f"certificate {self.certificate} with key {self.key}: {error}"
            ) from error
        return context

    def client_context(self) -> ssl.SSLContext | None:
        """Return what connections to other servers need, None where plain ones do.

        The certificate is checked, the host name is not: RocketMQ's addresses are
        numbers that certificates seldom name.
        """
        if self.mode is not TlsMode.ENFORCING:
            return None
        trust = self.trust or self.certificate
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname = False
        # A server's own certificate is no authority, but is to be believed here.
        context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
        try:
            context.load_verify_locations(trust)
        except (OSError, ssl.SSLError) as error:
            raise ArgumentError(f"certificates {trust}: {error}") from error
        return context
