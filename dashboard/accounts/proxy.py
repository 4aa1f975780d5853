"""Whom a trusted proxy says a request is from, by the headers that the settings name.

Only the peer of the connection counts: the address that `X-Forwarded-For` claims may be
anybody's. The server notes the peer with each connection (`dashboard.config.limits`);
where nobody has noted one, no header is believed. Headers are compared as they were
sent, so that `Remote_User` is not `Remote-User`.
"""

from __future__ import annotations

import hmac
import logging
from collections.abc import Mapping
from ipaddress import ip_address, ip_network
from typing import Any, Final

from django.conf import settings

from .outside import Person

logger = logging.getLogger(__name__)

PEER: Final = "rocketscope_peer"
"""The key of a scope's state under which the server notes the peer's address."""
SECRET_HEADER: Final = "X-Proxy-Secret"  # noqa: S105 - a name
ISSUER: Final = "proxy"
LONGEST_NAME: Final = 150


class ProxyHeaderError(Exception):
    """A trusted proxy says something that cannot be taken for one person."""


def person_of(scope: Mapping[str, Any] | None) -> Person | None:
    """Return whom a trusted proxy names; None where none does.

    Raise ProxyHeaderError if it names two, or nobody's name.
    """
    wanted = settings.ROCKETSCOPE_SIGN_IN_HEADER
    if wanted is None or scope is None:
        return None
    names = _values(scope, wanted.user)
    if not any(names):
        return None
    if not _is_trusted(scope, wanted.secret):
        logger.warning(
            "%s is not believed: %s is no trusted proxy, or lacks the secret",
            wanted.user,
            _peer(scope) or "an unknown peer",
        )
        return None
    groups = _values(scope, wanted.groups)
    if len(names) > 1 or len(groups) > 1:
        raise ProxyHeaderError(f"{wanted.user} or {wanted.groups} comes twice")
    name = names[0]
    if not name.isprintable() or len(name) > LONGEST_NAME:
        raise ProxyHeaderError(f"{wanted.user} is no name: {name[:80]!r}")
    members = (part.strip() for part in (groups[0] if groups else "").split(","))
    return Person(ISSUER, name, name, frozenset(filter(None, members)))


def _is_trusted(scope: Mapping[str, Any], secret: str) -> bool:
    try:
        peer = ip_address(_peer(scope))
    except ValueError:
        return False
    if not any(
        peer in ip_network(each) for each in settings.ROCKETSCOPE_TRUSTED_PROXIES
    ):
        return False
    given = _values(scope, SECRET_HEADER)
    return not secret or (
        len(given) == 1 and hmac.compare_digest(given[0].encode(), secret.encode())
    )


def _peer(scope: Mapping[str, Any]) -> str:
    return str((scope.get("state") or {}).get(PEER, ""))


def _values(scope: Mapping[str, Any], name: str) -> list[str]:
    """Return what a header says, once for each time it comes."""
    wanted = name.lower().encode()
    return [
        value.decode("utf-8", "replace").strip()
        for key, value in scope["headers"]
        if key.lower() == wanted
    ]
