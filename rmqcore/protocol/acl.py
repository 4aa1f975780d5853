"""Signatures of RocketMQ's access control, as clients make and brokers check them.

The signature covers the values (not the names) of all ext fields except itself, in
Java's order of the names, followed by the body: HMAC-SHA1 under the secret key, in
Base64. So a request is signed last, when nothing more will be added to it.
"""

from __future__ import annotations

import hmac
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from rmqcore.errors import ArgumentError
from rmqcore.model.queue import utf16_key

ACCESS_KEY: Final = "AccessKey"
SECURITY_TOKEN: Final = "SecurityToken"  # noqa: S105 - a field name
SIGNATURE: Final = "Signature"


@dataclass(frozen=True, slots=True)
class AclCredentials:
    """The keys of a signer; the secret is kept out of `repr`."""

    access_key: str
    secret_key: str = field(repr=False)
    security_token: str | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if not self.access_key or not self.secret_key:
            raise ArgumentError("access key and secret key must not be empty")

    def sign(self, ext_fields: Mapping[str, str], body: bytes) -> dict[str, str]:
        """Return the ext fields with access key and signature added."""
        signed = {**ext_fields, ACCESS_KEY: self.access_key}
        if self.security_token:
            signed[SECURITY_TOKEN] = self.security_token
        signed[SIGNATURE] = signature(signed, body, self.secret_key)
        return signed

    def verify(self, ext_fields: Mapping[str, str], body: bytes) -> bool:
        """Tell whether a request was signed with these keys."""
        claimed = ext_fields.get(SIGNATURE, "")
        expected = signature(ext_fields, body, self.secret_key)
        is_same = hmac.compare_digest(claimed.encode(), expected.encode())
        return is_same and ext_fields.get(ACCESS_KEY) == self.access_key


def signature(ext_fields: Mapping[str, str], body: bytes, secret_key: str) -> str:
    """Return the signature of a request; a signature already there is not covered."""
    names = sorted(ext_fields.keys() - {SIGNATURE}, key=utf16_key)
    content = "".join(ext_fields[name] for name in names).encode() + body
    return b64encode(hmac.digest(secret_key.encode(), content, "sha1")).decode()
