"""The reason that a person gives for a write; the audit log keeps it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

MAX_REASON: Final = 1000

NEEDED: Final = gettext_lazy("A reason is needed; it is kept in the audit log.")


def checked_reason(
    reason: str, refusal: Callable[[str], Exception], *, needed: bool = True
) -> str:
    """Return a reason without white space around it.

    Raise `refusal`, the error of the feature that asks, with a sentence for the person
    who wrote it if the reason is missing or has more than MAX_REASON characters.
    """
    reason = reason.strip()
    if needed and not reason:
        raise refusal(str(NEEDED))
    if len(reason) > MAX_REASON:
        raise refusal(
            _("The reason has %(length)s characters, at most %(limit)s are kept.")
            % {"length": len(reason), "limit": MAX_REASON}
        )
    return reason
