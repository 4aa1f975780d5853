"""Lets in people whom others have signed in, with the rights of their groups.

A user belongs to one subject of one issuer. Names only decide what a new user is
called: whoever has the name of a user that is there already gets another one.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from itertools import chain, count
from typing import Final

from django.conf import settings
from django.db import IntegrityError, transaction

from dashboard.models import NO_ROLE, Identity, Role, Session, User
from dashboard.models.audit import SYSTEM, record

from .grants import MOST_GRANTS, replace_all
from .links import FIRST_USER
from .outside import GroupRight, Person

_NOT_IN_NAMES: Final = re.compile(r"[^\w.@+-]+")
_MOST_NAME_CHARS: Final = 130
_KEPT_NAMES: Final = frozenset({SYSTEM, FIRST_USER})
"""Whoever makes a link on the command line gets the user of that name."""


class NotLetInError(Exception):
    """Somebody was signed in elsewhere, but has no right here, or is disabled."""


def let_in(person: Person) -> User:
    """Return the user of a person, with the rights that their groups have now.

    A new user is made at the first time. Raise NotLetInError for somebody whose groups
    have no right, after taking away what they had, and for a disabled user.
    """
    role, places = rights_of(person.groups, settings.ROCKETSCOPE_SIGN_IN_GROUPS)
    has_any = bool(role or places)
    with transaction.atomic():
        user = _user_of(person, make=has_any)
        if user is not None:
            _set_rights(user, role, places)
            if not has_any:
                Session.objects.filter(user=user).delete()
    if user is None or not has_any:
        raise NotLetInError(f"no group of {person.name[:150]} has a right here")
    if not user.is_active:
        raise NotLetInError(f"{user.get_username()} is disabled")
    return user


def rights_of(
    groups: Iterable[str], mapped: Iterable[GroupRight]
) -> tuple[str, dict[tuple[str, str], Role]]:
    """Return the highest role everywhere, and those by cluster and pattern."""
    member_of = frozenset(groups)
    everywhere: list[Role] = []
    places: dict[tuple[str, str], Role] = {}
    for right in mapped:
        if right.group not in member_of:
            continue
        role, place = Role(right.role), (right.cluster, right.groups)
        if not right.cluster:
            everywhere.append(role)
        elif place not in places or role.rank > places[place].rank:
            places[place] = role
    best = max(everywhere, key=lambda role: role.rank, default=None)
    return best or NO_ROLE, dict(list(places.items())[:MOST_GRANTS])


def _user_of(person: Person, *, make: bool) -> User | None:
    known = Identity.objects.filter(issuer=person.issuer, subject=person.subject)
    found = known.select_related("user").first()
    if found is not None:
        return found.user
    if not make:
        return None
    try:
        with transaction.atomic():
            return _make(person)
    except IntegrityError:
        # Two browsers of the same person came at once, or two persons of one name.
        found = known.select_related("user").first()
        return found.user if found is not None else _make(person)


def _make(person: Person) -> User:
    user = User(username=_free_name(person.name), role=NO_ROLE)
    user.set_unusable_password()
    user.full_clean()
    user.save()
    Identity.objects.create(user=user, issuer=person.issuer, subject=person.subject)
    record(
        None,
        "user.add",
        target=user.get_username(),
        details={"issuer": person.issuer, "subject": person.subject},
    )
    return user


def _free_name(wanted: str) -> str:
    """Return a name that no user has, in whichever case, and none that is kept."""
    plain = _NOT_IN_NAMES.sub("-", unicodedata.normalize("NFKC", wanted))
    plain = plain[:_MOST_NAME_CHARS].strip("-") or "user"
    names = chain([plain], (f"{plain}-{number}" for number in count(2)))
    return next(
        name
        for name in names
        if name.casefold() not in _KEPT_NAMES
        and not User.objects.filter(username__iexact=name).exists()
    )


def _set_rights(user: User, role: str, places: dict[tuple[str, str], Role]) -> None:
    locked = User.objects.select_for_update().get(pk=user.pk)
    if locked.role != role:
        before, user.role = locked.role, role
        user.save(update_fields=["role"])
        record(
            None,
            "user.change",
            target=user.get_username(),
            details={"before": {"role": before}, "after": {"role": str(role)}},
        )
    replace_all(user, places)
