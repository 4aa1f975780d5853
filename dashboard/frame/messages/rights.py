"""Who may see the bodies of messages, and what nobody sees of them."""

from __future__ import annotations

from django.conf import settings
from django.core.exceptions import PermissionDenied
from django.utils.translation import gettext as _

from dashboard.models import User

from .masks import Masks


def allow_bodies(actor: User) -> None:
    """Raise PermissionDenied without the right to see the bodies of messages."""
    if not actor.may_see_bodies:
        raise PermissionDenied(
            _("You may not see the bodies of messages; an admin can allow it.")
        )


def masks() -> Masks:
    """Return the masks of the settings."""
    return Masks(settings.ROCKETSCOPE_MESSAGE_MASKS)
