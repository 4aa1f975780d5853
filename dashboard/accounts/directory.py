"""Asks an LDAP directory whether a password is somebody's, through django-auth-ldap.

The packages for it are optional and loaded with the first question. A directory that
does not answer all that it is asked is away: a search that was cut short must not look
like somebody without groups, who would lose their rights.
"""

from __future__ import annotations

import threading
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

from .outside import Directory, Person

CONNECT_SECONDS: Final = 3.0
ANSWER_SECONDS: Final = 5.0
"""For each question: there are up to five, and one for each level of nested groups."""
AT_ONCE: Final = 8
"""Conversations with the directory; anybody may start one."""
LONGEST_SUBJECT: Final = 255
_NAMES: Final = ("uid", "sAMAccountName")
_IDS: Final = ("entryUUID", "nsUniqueId")
_MICROSOFT_ID: Final = "objectGUID"
_CLASSES: Final[Mapping[str, tuple[str, str, str]]] = {
    "groupOfNames": ("groupOfNames", "GroupOfNamesType", "NestedGroupOfNamesType"),
    "groupOfUniqueNames": (
        *("groupOfUniqueNames", "GroupOfUniqueNamesType"),
        "NestedGroupOfUniqueNamesType",
    ),
    "posixGroup": ("posixGroup", "PosixGroupType", "PosixGroupType"),
    "activeDirectory": (
        *("group", "ActiveDirectoryGroupType"),
        "NestedActiveDirectoryGroupType",
    ),
}
"""The class of entries, and who finds somebody's: without and with nested groups."""

_places = threading.BoundedSemaphore(AT_ONCE)


class DirectoryAwayError(Exception):
    """The directory does not answer, or not as set up; the message is for the log."""


@dataclass(slots=True)
class _Found:
    """What django-auth-ldap takes for a user, and writes two attributes to."""

    person: Person
    ldap_user: Any = None
    ldap_username: str = ""


def identify(directory: Directory, name: str, password: str) -> Person | None:
    """Return whose name and password these are, None if they are nobody's.

    An empty password is never asked about: directories take it for a bind without a
    name, which succeeds. Raise DirectoryAwayError.
    """
    name = name.strip()
    if not name or not password or "\0" in name + password:
        return None
    with _conversation():
        found = _backend(directory).authenticate(None, username=name, password=password)
    return None if found is None else found.person


@contextmanager
def _conversation() -> Iterator[None]:
    """Hold one of the places, and tell errors of the directory as one kind."""
    from django_auth_ldap.backend import ldap_error
    from ldap import LDAPError

    if not _places.acquire(blocking=False):
        raise DirectoryAwayError(f"{AT_ONCE} people are waiting for it already")
    ldap_error.connect(_raise, dispatch_uid="rocketscope")
    try:
        yield
    except LDAPError as error:
        raise DirectoryAwayError(_words(error)) from error
    finally:
        _places.release()


def _raise(sender: object, *, exception: Exception, context: str, **_: Any) -> None:
    """Tell refusals from failures, which django-auth-ldap would take for the same."""
    import ldap

    refusals = (
        *(ldap.INAPPROPRIATE_AUTH, ldap.UNWILLING_TO_PERFORM),
        *(ldap.CONSTRAINT_VIOLATION, ldap.INSUFFICIENT_ACCESS),
    )
    if context == "authenticate" and isinstance(exception, refusals):
        return  # the person's own bind: an account that is locked or has no password
    raise DirectoryAwayError(_words(exception)) from exception


def _words(error: Exception) -> str:
    said = error.args[0] if error.args and isinstance(error.args[0], dict) else {}
    parts = (said.get("desc"), said.get("info"))
    words = ": ".join(str(part) for part in parts if part)
    return f"{type(error).__name__} {words}"[:300]


def _backend(directory: Directory) -> Any:
    import ldap
    from django_auth_ldap import config
    from django_auth_ldap.backend import LDAPBackend

    class Backend(LDAPBackend):  # type: ignore[misc]
        """Finds people and their groups; users are ours to make."""

        def get_or_build_user(
            self, username: str, ldap_user: Any
        ) -> tuple[_Found, bool]:
            try:
                groups = {*ldap_user.group_names, *ldap_user.group_dns}
            except ldap.LDAPError as error:
                raise DirectoryAwayError(_words(error)) from error
            return _Found(_person(directory, username, ldap_user, groups)), False

    object_class, plain, nested = _CLASSES[directory.group_type]
    wanted = getattr(config, nested if directory.nested_groups else plain)
    backend = Backend()
    backend.settings = config.LDAPSettings(
        "AUTH_LDAP_",
        {
            "SERVER_URI": " ".join(directory.urls),
            "START_TLS": directory.start_tls,
            "BIND_DN": directory.bind_dn,
            "BIND_PASSWORD": directory.bind_password,
            "CONNECTION_OPTIONS": _options(directory),
            "ALWAYS_UPDATE_USER": False,
            "USER_SEARCH": config.LDAPSearch(
                directory.user_base,
                ldap.SCOPE_SUBTREE,
                directory.user_filter.replace("%", "%%").replace("{user}", "%(user)s"),
                [*_NAMES, "gidNumber", *_IDS, _MICROSOFT_ID],
            ),
            "GROUP_SEARCH": config.LDAPSearch(
                directory.group_base,
                ldap.SCOPE_SUBTREE,
                f"(objectClass={object_class})",
                ["cn"],
            ),
            "GROUP_TYPE": wanted(),
        },
    )
    return backend


def _options(directory: Directory) -> dict[int, Any]:
    import ldap

    options: dict[int, Any] = {
        ldap.OPT_PROTOCOL_VERSION: ldap.VERSION3,
        ldap.OPT_NETWORK_TIMEOUT: CONNECT_SECONDS,
        ldap.OPT_TIMEOUT: ANSWER_SECONDS,
        ldap.OPT_REFERRALS: 0,
        ldap.OPT_X_TLS_REQUIRE_CERT: ldap.OPT_X_TLS_DEMAND,
    }
    if directory.authorities is not None:
        options[ldap.OPT_X_TLS_CACERTFILE] = str(directory.authorities)
    # The last one: what is said of TLS before counts from here on.
    options[ldap.OPT_X_TLS_NEWCTX] = 0
    return options


def _person(
    directory: Directory, typed: str, ldap_user: Any, groups: set[Any]
) -> Person:
    attributes = ldap_user.attrs
    subject = _id_of(attributes) or str(ldap_user.dn)
    if len(subject) > LONGEST_SUBJECT:
        raise DirectoryAwayError(
            f"a name has {len(subject)} characters, {LONGEST_SUBJECT} are kept: "
            f"{subject[:80]!r}"
        )
    name = next((found for each in _NAMES if (found := _first(attributes, each))), "")
    return Person(
        directory.issuer,
        subject,
        name if isinstance(name, str) and name else typed,
        frozenset(each for each in groups if isinstance(each, str) and each),
    )


def _id_of(attributes: Mapping[str, Any]) -> str:
    """Return what never means anybody else, unlike a name that is given again."""
    for each in _IDS:
        found = _first(attributes, each)
        if isinstance(found, str):
            return found.lower()
    found = _first(attributes, _MICROSOFT_ID)
    octets = found.encode() if isinstance(found, str) else found
    # Sixteen octets that may by chance be text as well.
    return str(uuid.UUID(bytes_le=octets)) if octets and len(octets) == 16 else ""


def _first(attributes: Mapping[str, Any], name: str) -> str | bytes | None:
    values = attributes.get(name) or [None]
    first: str | bytes | None = values[0]
    return first
