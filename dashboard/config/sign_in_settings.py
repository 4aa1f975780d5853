"""Reads from the environment who may sign in, and what groups of others may do here."""

from __future__ import annotations

import re
from collections.abc import Sequence
from ipaddress import ip_address, ip_network
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from django.core.exceptions import ImproperlyConfigured

from dashboard.accounts.outside import GroupRight, Provider, ProxyHeaders

from .environment import text

_ISSUER: Final = "ROCKETSCOPE_OIDC_ISSUER"
_KEYS: Final = (
    "ROCKETSCOPE_OIDC_CLIENT_ID",
    "ROCKETSCOPE_OIDC_CLIENT_SECRET",
    "ROCKETSCOPE_OIDC_NAME",
    "ROCKETSCOPE_OIDC_SCOPES",
    "ROCKETSCOPE_OIDC_GROUPS_CLAIM",
    "ROCKETSCOPE_OIDC_CA",
)
_HEADER_KEYS: Final = (
    "ROCKETSCOPE_SIGN_IN_HEADER",
    "ROCKETSCOPE_SIGN_IN_HEADER_GROUPS",
    "ROCKETSCOPE_SIGN_IN_HEADER_SECRET",
)
_SHORTEST_SECRET: Final = 16
_LOOPBACK: Final = (ip_network("127.0.0.0/8"), ip_network("::1/128"))
_ROLES: Final = ("viewer", "operator", "admin")
_CLUSTER: Final = r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}"
_RIGHT: Final = re.compile(
    rf"(?P<role>\S+)(?:\s+on\s+(?P<cluster>{_CLUSTER})(?:/(?P<groups>\S{{1,255}}))?)?"
)
_MOST_RIGHTS: Final = 200
_LONGEST_ISSUER: Final = 255
_FORM: Final = (
    "group: role, group: role on cluster, or group: role on cluster/pattern, "
    "separated by semicolons"
)


def provider() -> Provider | None:
    """Read the OpenID Connect provider; None where no issuer is set.

    A setting that would not be used is an error: whoever set it believes that it does
    something.
    """
    given = {key: text(key) for key in _KEYS}
    issuer = text(_ISSUER)
    if not issuer:
        unused = [key for key in _KEYS if given[key]]
        if unused:
            raise ImproperlyConfigured(f"{unused[0]} is not used without {_ISSUER}")
        return None
    host = _checked(_ISSUER, issuer)
    for key in _KEYS[:2]:
        if not given[key]:
            raise ImproperlyConfigured(
                f"{key} is missing: the provider {issuer!r} gives it to each program "
                "that is registered there"
            )
    client_id, client_secret, name, asked, groups_claim, authorities = given.values()
    scopes = tuple(asked.replace(",", " ").split())
    if scopes and "openid" not in scopes:
        raise ImproperlyConfigured(
            f"{_KEYS[3]}={asked!r} lacks openid, without which the provider does not "
            "tell who somebody is"
        )
    if authorities and not Path(authorities).is_file():
        raise ImproperlyConfigured(f"{_KEYS[5]}={authorities!r} is not a file")
    return Provider(
        issuer=issuer,
        client_id=client_id,
        client_secret=client_secret,
        name=name or host,
        scopes=scopes or ("openid", "profile", "email"),
        groups_claim=groups_claim or "groups",
        authorities=Path(authorities) if authorities else None,
    )


def group_rights(key: str) -> tuple[GroupRight, ...]:
    """Read `group: role; group: role on cluster; group: role on cluster/pattern`.

    A group may be named several times. Its name may contain colons: the last one is
    before the role.
    """
    found: list[GroupRight] = []
    for entry in re.split(r"[;\n]", text(key)):
        if not (entry := entry.strip()):
            continue
        group, colon, right = entry.rpartition(":")
        group, read = group.strip(), _RIGHT.fullmatch(right.strip())
        if not colon or not group or read is None:
            raise ImproperlyConfigured(f"{key}: {entry!r} is not {_FORM}")
        if read["role"] not in _ROLES:
            raise ImproperlyConfigured(
                f"{key}: {read['role']!r} in {entry!r} is not one of "
                f"{', '.join(_ROLES)}"
            )
        if read["groups"] and read["role"] == "admin":
            raise ImproperlyConfigured(
                f"{key}: {entry!r}: admins administer a whole cluster; leave out "
                f"{'/' + read['groups']!r}"
            )
        found.append(
            GroupRight(group, read["role"], read["cluster"] or "", read["groups"] or "")
        )
    if len(found) > _MOST_RIGHTS:
        raise ImproperlyConfigured(
            f"{key} has {len(found)} entries, {_MOST_RIGHTS} are allowed"
        )
    return tuple(found)


def proxy_headers(proxies: Sequence[str]) -> ProxyHeaders | None:
    """Read which headers of trusted proxies say who somebody is; None for none.

    A proxy on loopback needs a secret: whoever has an account on the machine can
    connect from there, too.
    """
    user, groups, secret = (text(key) for key in _HEADER_KEYS)
    if not user:
        unused = [key for key in _HEADER_KEYS[1:] if text(key)]
        if unused:
            raise ImproperlyConfigured(
                f"{unused[0]} is not used without {_HEADER_KEYS[0]}"
            )
        return None
    groups = groups or "Remote-Groups"
    for key, name in zip(_HEADER_KEYS, (user, groups), strict=False):
        if not re.fullmatch(r"[A-Za-z0-9-]{1,64}", name):
            raise ImproperlyConfigured(
                f"{key}={name!r} is not a header of 1 to 64 letters, digits and dashes"
            )
    if not proxies:
        raise ImproperlyConfigured(
            f"{_HEADER_KEYS[0]} is not used without ROCKETSCOPE_TRUSTED_PROXIES, from "
            "which it is believed"
        )
    near = [each for each in proxies if _is_near(each)]
    if near and not secret:
        raise ImproperlyConfigured(
            f"{_HEADER_KEYS[2]} is needed, since all programs of the machine can "
            f"connect from the trusted proxy {near[0]}"
        )
    if secret and len(secret) < _SHORTEST_SECRET:
        raise ImproperlyConfigured(
            f"{_HEADER_KEYS[2]} has {len(secret)} characters, at least "
            f"{_SHORTEST_SECRET} are needed"
        )
    return ProxyHeaders(user, groups, secret)


def check_ways_in(
    *, passwords: tuple[str, bool], rights: tuple[str, bool], others: dict[str, bool]
) -> None:
    """Raise ImproperlyConfigured where nobody could sign in, or rights are unused.

    Each is a key with what was found; `others` are the ways in besides passwords.
    """
    used = [key for key, is_set in others.items() if is_set]
    ways = " or ".join(others)
    if not passwords[1] and not used:
        raise ImproperlyConfigured(
            f"{passwords[0]}=off: nobody could sign in; set up {ways} first"
        )
    if used and not rights[1]:
        raise ImproperlyConfigured(
            f"{rights[0]} is empty: {used[0]} would let nobody in. Write {_FORM}"
        )
    if rights[1] and not used:
        raise ImproperlyConfigured(f"{rights[0]} is not used without {ways}")


def check_second_factor(
    second_factor: tuple[str, str], *, passwords: tuple[str, bool]
) -> None:
    """Raise ImproperlyConfigured where a second factor is required of nobody."""
    if second_factor[1] == "required" and not passwords[1]:
        raise ImproperlyConfigured(
            f"{second_factor[0]}=required is not used with {passwords[0]}=off: whoever "
            "signs people in has to ask them for it"
        )


def _checked(key: str, issuer: str) -> str:
    """Return the issuer's host; only on loopback may it be without TLS."""
    try:
        parts = urlsplit(issuer)
        host = parts.hostname or ""
        whole = parts.port is None or parts.port > 0
    except ValueError:
        host, whole = "", False
    if not whole or not host or parts.query or parts.fragment or parts.username:
        raise ImproperlyConfigured(
            f"{key}={issuer!r} is not an address such as https://login.example.com/main"
        )
    if len(issuer) > _LONGEST_ISSUER:
        raise ImproperlyConfigured(
            f"{key} has {len(issuer)} characters, {_LONGEST_ISSUER} are allowed"
        )
    if parts.scheme == "http" and is_loopback(host):
        return host
    if parts.scheme != "https":
        raise ImproperlyConfigured(
            f"{key}={issuer!r} does not start with https://, which all but loopback "
            "needs"
        )
    return host


def _is_near(proxy: str) -> bool:
    network = ip_network(proxy)
    return any(
        each.version == network.version and each.overlaps(network) for each in _LOOPBACK
    )


def is_loopback(host: str) -> bool:
    """Return whether a host is this machine itself, by its name or number."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
