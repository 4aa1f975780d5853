"""What the settings say about people whom somebody else signs in.

Loaded with the settings, before there are models: a role is its code here.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True, slots=True)
class GroupRight:
    """The role that members of a group have: everywhere, or on a cluster.

    `group` is the provider's. Without `cluster` the role counts on all clusters;
    `groups` is a pattern for the cluster's consumer groups, empty for all of it.
    """

    group: str
    role: str
    cluster: str = ""
    groups: str = ""


@dataclass(frozen=True, slots=True)
class Provider:
    """An OpenID Connect provider, and what it knows RocketScope by."""

    issuer: str
    client_id: str
    client_secret: str = field(repr=False)
    name: str
    scopes: tuple[str, ...] = ("openid", "profile", "email")
    groups_claim: str = "groups"
    authorities: Path | None = None
    """A file of the authorities that its certificate may be of; None for the usual."""


@dataclass(frozen=True, slots=True)
class Directory:
    """An LDAP directory, and how people and their groups are found in it."""

    urls: tuple[str, ...]
    name: str
    user_base: str
    group_base: str
    user_filter: str = "(uid={user})"
    """`{user}` stands for the name that was typed, escaped."""
    group_type: str = "groupOfNames"
    nested_groups: bool = False
    bind_dn: str = ""
    """Whoever searches; empty to search without signing in."""
    bind_password: str = field(default="", repr=False)
    start_tls: bool = False
    authorities: Path | None = None
    """A file of the authorities that its certificate may be of; None for the usual."""

    @property
    def issuer(self) -> str:
        """What users belong to: not an address, since that may become another."""
        return f"ldap:///{self.user_base.lower()}"


@dataclass(frozen=True, slots=True)
class ProxyHeaders:
    """In which headers a trusted proxy says who somebody is, and of which groups."""

    user: str
    groups: str
    secret: str = field(default="", repr=False)
    """What else only that proxy knows; empty where its address is enough."""


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody whom others have signed in: who says so, and what they said."""

    issuer: str
    subject: str
    """What the issuer knows this person by; it never means anybody else."""
    name: str
    """What they may be called here, if nobody is called that yet."""
    groups: frozenset[str]
