"""Reads which clusters there are, and each one's own keys, from the environment.

The cluster called `embedded` is the one that RocketScope itself provides, and the only
one on which labs may run. It has a key of its own: no attached cluster can take its
place by having its name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from django.core.exceptions import ImproperlyConfigured

from dashboard.gateway.settings import (
    EMBEDDED,
    ClientTls,
    ClusterSettings,
    setting_prefix,
)
from rmqcore.errors import ArgumentError

from .environment import flag, split_host_port, text, words

_CLUSTER_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}")
TLS_KEYS: Final = ("CA", "SERVER_NAME", "FINGERPRINT", "CERTIFICATE", "KEY")


def clusters(key: str, embedded_key: str) -> Mapping[str, ClusterSettings]:
    """Read `name=host:port;host:port,name2=…` and each cluster's own keys.

    The keys of cluster `eu-1` are `ROCKETSCOPE_CLUSTER_EU_1_ACCESS_KEY`,
    `…_SECRET_KEY`, `…_TLS`, `…_TLS_…` and `…_WRITES`. `embedded_key` holds the name
    servers of the embedded cluster. The word `embedded` alone names no address: it asks
    for that cluster (`wants_embedded`).
    """
    found: dict[str, ClusterSettings] = {}
    if servers := text(embedded_key):
        found[EMBEDDED] = _cluster(embedded_key, EMBEDDED, servers)
    for part in words(key):
        if part == EMBEDDED:
            continue
        name, equals, servers = part.partition("=")
        name = name.strip()
        if not equals or not _CLUSTER_NAME.fullmatch(name):
            raise ImproperlyConfigured(
                f"{key}: {part!r} is not name=host:port;host:port, with a name of 1 "
                "to 63 letters, digits, dots, dashes or underscores"
            )
        if name == EMBEDDED:
            raise ImproperlyConfigured(
                f"{key}: the name {name!r} is kept for the cluster that RocketScope "
                f"provides, where labs kill members: give {servers!r} another name, "
                f"or set {embedded_key} if it is there for that"
            )
        if name in found:
            raise ImproperlyConfigured(f"{key}: cluster {name!r} is given twice")
        for other in found:
            if setting_prefix(other) == setting_prefix(name):
                raise ImproperlyConfigured(
                    f"{key}: clusters {other!r} and {name!r} would share their "
                    f"settings, {setting_prefix(name)}_…; name one differently"
                )
        found[name] = _cluster(key, name, servers)
    return found


def wants_embedded(key: str) -> bool:
    """Tell whether the embedded cluster is wanted: by its name, or as the only one.

    `./rocketscope up` starts it then.
    """
    named = words(key)
    return not named or EMBEDDED in named


def attached_cluster(
    name: str, name_servers: Sequence[str], *, writes: bool
) -> ClusterSettings:
    """Return the settings of a cluster that was attached on a page.

    Its keys and its TLS settings come from the environment, as for any other cluster;
    so does whether it is open to writing, if the environment says so. Raise
    ImproperlyConfigured, which names the value, for an invalid name or address.
    """
    if not _CLUSTER_NAME.fullmatch(name):
        raise ImproperlyConfigured(
            f"{name!r} is not a name of 1 to 63 letters, digits, dots, dashes or "
            "underscores"
        )
    return _cluster(name, name, ";".join(name_servers), writes=writes)


def _cluster(
    key: str, name: str, servers: str, *, writes: bool = False
) -> ClusterSettings:
    addresses = tuple(part.strip() for part in servers.split(";") if part.strip())
    if not addresses:
        raise ImproperlyConfigured(f"{key}: cluster {name!r} has no name server")
    for address in addresses:
        split_host_port(address, key=f"{key}, cluster {name!r}")
    prefix = setting_prefix(name)
    access_key, secret_key = text(f"{prefix}_ACCESS_KEY"), text(f"{prefix}_SECRET_KEY")
    if bool(access_key) != bool(secret_key):
        raise ImproperlyConfigured(
            f"{prefix}_ACCESS_KEY and {prefix}_SECRET_KEY: set both or none"
        )
    writes = flag(f"{prefix}_WRITES", writes or name == EMBEDDED)
    if name == EMBEDDED and not writes:
        raise ImproperlyConfigured(
            f"{prefix}_WRITES: RocketScope's own cluster cannot be read-only"
        )
    return ClusterSettings(
        name=name,
        name_servers=addresses,
        access_key=access_key,
        secret_key=secret_key,
        tls=_tls(f"{prefix}_TLS"),
        embedded=name == EMBEDDED,
        writes=writes,
    )


def _tls(key: str) -> ClientTls | None:
    """Read a cluster's TLS settings, and its files once, to see that they are readable.

    A setting that would not be used is an error: whoever set it believes that it
    protects.
    """
    given = {name: text(f"{key}_{name}") for name in TLS_KEYS}
    used = [f"{key}_{name}={value!r}" for name, value in given.items() if value]
    verify = flag(f"{key}_VERIFY", default=True)
    if not flag(key):
        used += [] if verify else [f"{key}_VERIFY=off"]
        if used:
            raise ImproperlyConfigured(f"{used[0]} is not used unless {key}=on")
        return None
    checks = [f"{key}_{name}" for name in TLS_KEYS[:3] if given[name]]
    if checks and not verify:
        raise ImproperlyConfigured(f"{key}_VERIFY=off: {checks[0]} would not be used")
    if given["KEY"] and not given["CERTIFICATE"]:
        raise ImproperlyConfigured(f"{used[0]} is not used without {key}_CERTIFICATE")
    parts: dict[str, Any] = {
        "CA": lambda value: {"ca": Path(value)},
        "SERVER_NAME": lambda value: {"server_name": value},
        "FINGERPRINT": lambda value: {"fingerprints": tuple(value.split(","))},
        "CERTIFICATE": lambda value: {
            "certificate": Path(value),
            "key": Path(given["KEY"]) if given["KEY"] else None,
        },
    }
    found: dict[str, Any] = {}
    for name, part in parts.items():
        if given[name]:
            found |= _tried(f"{key}_{name}={given[name]!r}", part, given[name])
    return ClientTls(**found, verify=verify)


def _tried(
    setting: str, part: Callable[[str], Mapping[str, Any]], value: str
) -> Mapping[str, Any]:
    """Return a part of the settings if it is valid by itself; else name its key."""
    found = part(value)
    try:
        ClientTls(**found).context()
    except ArgumentError as error:
        raise ImproperlyConfigured(f"{setting}: {error}") from None
    return found
