"""TLS of a client: whose certificate it accepts, and why it refuses another.

Python's own context judges the chain, the dates and the name. Two things are added: the
name can be another than the host of the address, because brokers register by number;
and the certificate can be one of those whose SHA-256 is known. Both take effect within
the handshake, so that nothing is sent to a peer that is not the one expected.
"""

from __future__ import annotations

import hashlib
import re
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path
from typing import Any, Final, cast

from rmqcore.errors import ArgumentError

_HOST_NAME: Final = re.compile(r"(?!-)[A-Za-z0-9_-]{1,63}(\.[A-Za-z0-9_-]{1,63})*\.?")
_SHA256: Final = re.compile(r"[0-9a-f]{64}")

# OpenSSL's codes of verification (x509_vfy.h).
_NOT_YET_VALID: Final = 9
_EXPIRED: Final = 10
_UNKNOWN_AUTHORITY: Final = frozenset({2, 18, 19, 20, 21, 27})
_WRONG_NAME: Final = frozenset({62, 64})

_ALERTS: Final = {
    "TLSV13_ALERT_CERTIFICATE_REQUIRED": "the server requires a client certificate, "
    "and none was given",
    "SSLV3_ALERT_HANDSHAKE_FAILURE": "the server refused the handshake; it may require "
    "a client certificate",
    "WRONG_VERSION_NUMBER": "TLS was expected, but the server does not speak it",
}
_REFUSED_OURS: Final = {
    "TLSV1_ALERT_UNKNOWN_CA": "its authority is unknown there",
    "SSLV3_ALERT_BAD_CERTIFICATE": "it is a bad one",
    "SSLV3_ALERT_CERTIFICATE_EXPIRED": "it has expired",
    "SSLV3_ALERT_CERTIFICATE_REVOKED": "it was revoked",
    "SSLV3_ALERT_CERTIFICATE_UNKNOWN": "it is not accepted",
}


@dataclass(frozen=True, slots=True)
class ClientTls:
    """Whom a client believes, and how it presents itself.

    `ca` is a PEM file of authorities, or of the servers' own certificates; without it
    the system's authorities are believed. `server_name` is expected in place of the
    address's host. `fingerprints` are SHA-256 digests of certificates: the server's
    must be one of them, and nothing else about it matters unless `ca` is given, too:
    then authority and dates are judged, and the name if `server_name` is given.
    `certificate` and `key` are PEM files of the client; the key may be in the
    certificate's file. `verify=False` believes anybody.

    Raises `ArgumentError` for values that cannot be used, or contradict each other.
    """

    ca: Path | None = None
    server_name: str = ""
    fingerprints: tuple[str, ...] = ()
    certificate: Path | None = None
    key: Path | None = None
    verify: bool = True

    def __post_init__(self) -> None:
        if self.server_name:
            check_server_name(self.server_name)
        plain = tuple(plain_fingerprint(given) for given in self.fingerprints)
        object.__setattr__(self, "fingerprints", plain)
        if not self.verify and (self.ca or self.server_name or plain):
            raise ArgumentError(
                "verification is off, so neither a CA file nor a server name nor a "
                "fingerprint can be given"
            )
        if self.key is not None and self.certificate is None:
            raise ArgumentError(f"key {self.key} is given without a certificate")

    def context(self) -> ssl.SSLContext:
        """Return the context for connections; it reads the files now, and only now.

        Raises `ArgumentError`, naming the file and what is wrong with it.
        """
        context = _Context(ssl.PROTOCOL_TLS_CLIENT)
        context.wanted = self
        context.sslobject_class = _Handshake
        judged = self.verify and not (self.fingerprints and self.ca is None)
        # The context insists on this order; it compares names only if it judges chains.
        context.check_hostname = judged and bool(
            self.server_name or not self.fingerprints
        )
        context.verify_mode = ssl.CERT_REQUIRED if judged else ssl.CERT_NONE
        if self.ca is not None:
            # The file may hold a server's own certificate, which is no authority.
            context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
            load_authorities(context, self.ca)
        elif judged:
            context.load_default_certs()
        if self.certificate is not None:
            load_certificate(context, self.certificate, self.key or self.certificate)
        return context


def check_server_name(name: str) -> None:
    """Raise `ArgumentError` unless `name` is a host name or an IP address."""
    try:
        ip_address(name)
    except ValueError:
        if len(name) > 253 or not _HOST_NAME.fullmatch(name):
            raise ArgumentError(
                f"server name {name!r} is neither a host name nor an IP address"
            ) from None


def plain_fingerprint(given: str) -> str:
    """Return a SHA-256 fingerprint as 64 lower-case digits; colons are dropped."""
    plain = given.strip().replace(":", "").lower()
    if not _SHA256.fullmatch(plain):
        raise ArgumentError(
            f"fingerprint {given!r} is not a SHA-256 of 64 hexadecimal digits, as "
            "`openssl x509 -noout -fingerprint -sha256` prints it"
        )
    return plain


def load_authorities(context: ssl.SSLContext, path: Path) -> None:
    """Make a context believe the certificates of a PEM file."""
    try:
        context.load_verify_locations(path)
    except ssl.SSLError:
        raise ArgumentError(f"CA file {path} holds no certificate in PEM") from None
    except OSError as error:
        raise ArgumentError(f"CA file {path}: {error.strerror}") from error


def load_certificate(context: ssl.SSLContext, certificate: Path, key: Path) -> None:
    """Give a context its own certificate and key, both PEM."""
    files = f"certificate {certificate} with key {key}"

    def no_password() -> str:
        raise ArgumentError(f"{files}: the key is encrypted, which it must not be")

    for path in (certificate, key):
        try:
            path.open("rb").close()
        except OSError as error:
            raise ArgumentError(f"{files}: {path}: {error.strerror}") from error
    try:
        context.load_cert_chain(certificate, key, no_password)
    except ssl.SSLError as error:
        reason = (error.reason or str(error)).lower().replace("_", " ")
        raise ArgumentError(f"{files}: {reason}") from error


def tls_problem(error: BaseException) -> str:
    """Return what an error of a connection means, in words where TLS's are obscure."""
    reason = getattr(error, "reason", None) if isinstance(error, ssl.SSLError) else None
    if reason in _REFUSED_OURS:
        return f"the server refused our client certificate: {_REFUSED_OURS[reason]}"
    if reason in _ALERTS:
        return _ALERTS[reason]
    strerror = error.strerror if isinstance(error, OSError) else None
    return str(strerror or error)


class _Context(ssl.SSLContext):
    wanted: ClientTls

    def wrap_bio(
        self,
        incoming: ssl.MemoryBIO,
        outgoing: ssl.MemoryBIO,
        server_side: bool = False,
        server_hostname: str | bytes | None = None,
        session: ssl.SSLSession | None = None,
    ) -> ssl.SSLObject:
        """Ask for, and expect, the name that was given in place of the host."""
        name = self.wanted.server_name or server_hostname
        return super().wrap_bio(incoming, outgoing, server_side, name, session)


class _Handshake(ssl.SSLObject):
    """One connection's handshake, which ends with a judgement of the certificate."""

    def do_handshake(self) -> None:
        """Go on with the handshake; raises `SSLCertVerificationError` in words."""
        wanted = cast("_Context", self.context).wanted
        try:
            super().do_handshake()
        except ssl.SSLCertVerificationError as error:
            name = str(self.server_hostname)
            why = _refusal(wanted, name, error, self._found())
            raise _refused(why) from error
        if wanted.fingerprints:
            found = hashlib.sha256(self.getpeercert(True) or b"").hexdigest()
            if found not in wanted.fingerprints:
                expected = " or ".join(wanted.fingerprints)
                raise _refused(
                    f"wrong fingerprint: expected a certificate with SHA-256 "
                    f"{expected}, found {found}"
                )

    def _found(self) -> Mapping[str, Any]:
        """Return the refused certificate; `getpeercert` tells of accepted ones only."""
        session: Any = self._sslobj  # type: ignore[attr-defined]
        chain = session.get_unverified_chain()
        return cast("Mapping[str, Any]", chain[0].get_info()) if chain else {}


def _refused(why: str) -> ssl.SSLCertVerificationError:
    return ssl.SSLCertVerificationError(ssl.SSL_ERROR_SSL, why)


def _refusal(
    wanted: ClientTls,
    name: str,
    error: ssl.SSLCertVerificationError,
    found: Mapping[str, Any],
) -> str:
    code = error.verify_code
    who = f"the certificate of {_common_name(found.get('subject', ()))}"
    if code == _EXPIRED:
        return f"certificate expired: {who} was valid until {found.get('notAfter')}"
    if code == _NOT_YET_VALID:
        return f"certificate not yet valid: {who} starts at {found.get('notBefore')}"
    if code in _WRONG_NAME:
        names = ", ".join(value for _kind, value in found.get("subjectAltName", ()))
        return (
            f"wrong name: expected a certificate for {name}, found one for "
            f"{names or 'no name at all'}"
        )
    if code in _UNKNOWN_AUTHORITY:
        believed = f"one of {wanted.ca}" if wanted.ca else "one that the system knows"
        return (
            f"unknown CA: expected {believed}, found {who} "
            f"issued by {_common_name(found.get('issuer', ()))}"
        )
    return f"{error.verify_message}: {who}"


def _common_name(name: tuple[tuple[tuple[str, str], ...], ...]) -> str:
    """Return the common name of a distinguished name, else all of it."""
    parts = [part for level in name for part in level]
    common = [value for kind, value in parts if kind == "commonName"]
    return repr(", ".join(common or [value for _kind, value in parts]))
