"""Add users, change their roles, switch them off; all of it audited."""

from __future__ import annotations

from django.db import transaction

from dashboard.models import Role, Session, User
from dashboard.models.audit import record


class LastAdminError(Exception):
    """The change would leave nobody who can manage users."""


@transaction.atomic
def add_user(username: str, role: str, *, by: User | None) -> User:
    """Add a user without a password; a sign-in link lets them in to set one."""
    user = User(username=username, role=role)
    user.set_unusable_password()
    user.full_clean()
    user.save()
    record(by, "user.add", target=username, details={"role": role})
    return user


@transaction.atomic
def change_user(
    user: User,
    *,
    role: str,
    is_active: bool,
    by: User | None,
    sees_bodies: bool | None = None,
) -> None:
    """Change role, state and the right to see bodies; None leaves that to the role.

    A user who is disabled is signed out everywhere. Raises LastAdminError when no admin
    would be left.
    """
    lock_admins()
    user.refresh_from_db(fields=["role", "is_active", "sees_bodies"])
    before = {"role": user.role, "active": user.is_active, "bodies": user.sees_bodies}
    after = {"role": str(role), "active": is_active, "bodies": sees_bodies}
    if before == after:
        return
    user.role, user.is_active, user.sees_bodies = role, is_active, sees_bodies
    user.save(update_fields=["role", "is_active", "sees_bodies"])
    if not User.objects.filter(role=Role.ADMIN, is_active=True).exists():
        raise LastAdminError(user.get_username())
    if not is_active:
        Session.objects.filter(user=user).delete()
    record(
        by,
        "user.change",
        target=user.get_username(),
        details={"before": before, "after": after},
    )


def lock_admins() -> list[User]:
    """Let one transaction at a time decide who stays an admin; return the admins.

    PostgreSQL would let two admins demote each other at once: neither transaction sees
    what the other has not committed. SQLite's transactions are exclusive anyway. Rows
    are locked in one order, so that nobody waits in a circle.
    """
    admins = User.objects.filter(role=Role.ADMIN, is_active=True)
    return list(admins.select_for_update().order_by("pk"))


@transaction.atomic
def set_password(user: User, password: str) -> None:
    """Set the user's own new password, already checked by a form.

    It ends all of their sessions; `update_session_auth_hash` makes another for the
    browser that asks.
    """
    user.set_password(password)
    user.save(update_fields=["password"])
    Session.objects.filter(user=user).delete()
    record(user, "user.password", target=user.get_username())
