"""Reads from the environment which LDAP directory signs people in."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from django.core.exceptions import ImproperlyConfigured

from dashboard.accounts.outside import Directory

from .environment import choice, flag, text
from .sign_in_settings import is_loopback

_URL: Final = "ROCKETSCOPE_LDAP_URL"
_NAME: Final = "ROCKETSCOPE_LDAP_NAME"
_START_TLS: Final = "ROCKETSCOPE_LDAP_START_TLS"
_CA: Final = "ROCKETSCOPE_LDAP_CA"
_BIND_DN: Final = "ROCKETSCOPE_LDAP_BIND_DN"
_BIND_PASSWORD: Final = "ROCKETSCOPE_LDAP_BIND_PASSWORD"  # noqa: S105 - a name
_USER_BASE: Final = "ROCKETSCOPE_LDAP_USER_BASE"
_USER_FILTER: Final = "ROCKETSCOPE_LDAP_USER_FILTER"
_GROUP_BASE: Final = "ROCKETSCOPE_LDAP_GROUP_BASE"
_GROUP_TYPE: Final = "ROCKETSCOPE_LDAP_GROUP_TYPE"
_NESTED: Final = "ROCKETSCOPE_LDAP_NESTED_GROUPS"
_REST: Final = (
    *(_NAME, _START_TLS, _CA, _BIND_DN, _BIND_PASSWORD),
    *(_USER_BASE, _USER_FILTER, _GROUP_BASE, _GROUP_TYPE, _NESTED),
)
_PACKAGES: Final = ("ldap", "django_auth_ldap")
GROUP_TYPES: Final = (
    *("groupOfNames", "groupOfUniqueNames"),
    *("posixGroup", "activeDirectory"),
)
_LONGEST_BASE: Final = 240
"""With what is before it, it is in a column of 255 characters."""


def directory() -> Directory | None:
    """Read the directory; None where no address is set.

    A setting that would not be used is an error: whoever set it believes that it does
    something.
    """
    urls = tuple(text(_URL).replace(",", " ").split())
    if not urls:
        unused = [key for key in _REST if text(key)]
        if unused:
            raise ImproperlyConfigured(f"{unused[0]} is not used without {_URL}")
        return None
    start_tls = flag(_START_TLS)
    hosts = [_checked(url, start_tls=start_tls) for url in urls]
    _check_search()
    authorities = text(_CA)
    if authorities and not Path(authorities).is_file():
        raise ImproperlyConfigured(f"{_CA}={authorities!r} is not a file")
    bind_dn, bind_password = text(_BIND_DN), text(_BIND_PASSWORD)
    if bool(bind_dn) != bool(bind_password):
        there, missing = _BIND_DN, _BIND_PASSWORD
        if bind_password:
            there, missing = missing, there
        raise ImproperlyConfigured(
            f"{missing} is missing: {there} is not used without it"
        )
    group_type = choice(_GROUP_TYPE, GROUP_TYPES[0], list(GROUP_TYPES))
    nested = flag(_NESTED)
    if nested and group_type == "posixGroup":
        raise ImproperlyConfigured(
            f"{_NESTED}=on is not used with {_GROUP_TYPE}=posixGroup: such groups have "
            "no groups in them"
        )
    return Directory(
        urls=urls,
        name=text(_NAME) or hosts[0],
        user_base=text(_USER_BASE),
        group_base=text(_GROUP_BASE),
        user_filter=text(_USER_FILTER, "(uid={user})"),
        group_type=group_type,
        nested_groups=nested,
        bind_dn=bind_dn,
        bind_password=bind_password,
        start_tls=start_tls,
        authorities=Path(authorities) if authorities else None,
    )


def check_packages(found: Directory | None) -> None:
    """Raise ImproperlyConfigured where a directory is set and cannot be spoken to."""
    missing = [name for name in _PACKAGES if find_spec(name) is None]
    if found is not None and missing:
        raise ImproperlyConfigured(
            f"{_URL}={' '.join(found.urls)!r} needs the Python package {missing[0]}, "
            "which is not installed: docs/sign-in.md says how"
        )


def _check_search() -> None:
    for key in (_USER_BASE, _GROUP_BASE):
        base = text(key)
        if "=" not in base:
            raise ImproperlyConfigured(
                f"{key}={base!r} is not a name such as ou=people,dc=example,dc=com, "
                f"which {_URL} needs"
            )
        if len(base) > _LONGEST_BASE:
            raise ImproperlyConfigured(
                f"{key} has {len(base)} characters, {_LONGEST_BASE} are allowed"
            )
    wanted = text(_USER_FILTER)
    if wanted and not ("{user}" in wanted and _is_balanced(wanted)):
        raise ImproperlyConfigured(
            f"{_USER_FILTER}={wanted!r} is not a filter such as (uid={{user}}), in "
            "which {user} stands for the name that is typed"
        )


def _is_balanced(wanted: str) -> bool:
    depth = 0
    for at, char in enumerate(wanted):
        depth += (char == "(") - (char == ")")
        if depth < 0 or (depth == 0 and at < len(wanted) - 1):
            return False
    return depth == 0


def _checked(url: str, *, start_tls: bool) -> str:
    """Return the host; only on loopback may passwords be sent without TLS."""
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
        whole = parts.port is None or parts.port > 0
    except ValueError:
        parts, host, whole = urlsplit(""), "", False
    beyond = parts.path.strip("/") or parts.query or parts.fragment or parts.username
    if not whole or not host or beyond or parts.scheme not in {"ldap", "ldaps"}:
        raise ImproperlyConfigured(
            f"{_URL}={url!r} is not an address such as ldaps://ldap.example.com"
        )
    if parts.scheme == "ldaps" and start_tls:
        raise ImproperlyConfigured(
            f"{_START_TLS}=on is not used with {_URL}={url!r}, which begins with TLS"
        )
    if parts.scheme == "ldap" and not start_tls and not is_loopback(host):
        raise ImproperlyConfigured(
            f"{_URL}={url!r} would send passwords without TLS: write ldaps://, or set "
            f"{_START_TLS}=on"
        )
    return host
