"""A certificate for loopback, in files, and who believes it."""

from __future__ import annotations

import ssl
from pathlib import Path

import trustme


def loopback_certificate(directory: Path) -> tuple[Path, Path, ssl.SSLContext]:
    """Return the files of certificate and key, and a client that trusts them."""
    directory.mkdir(parents=True, exist_ok=True)
    authority = trustme.CA()
    issued = authority.issue_cert("127.0.0.1")
    certificate, key = directory / "certificate.pem", directory / "key.pem"
    issued.cert_chain_pems[0].write_to_path(certificate)
    issued.private_key_pem.write_to_path(key)
    context = ssl.create_default_context()
    authority.configure_trust(context)
    return certificate, key, context
