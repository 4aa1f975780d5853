"""Times of messages, to the millisecond, in the zone of the request."""

from __future__ import annotations

from datetime import UTC, datetime

from django.utils import timezone
from django.utils.translation import gettext as _


def exact(milliseconds: int) -> str:
    """Write ms since the epoch as date and time with milliseconds.

    A time that no calendar has, which a hostile client may send, is said to be none.
    """
    try:
        moment = datetime.fromtimestamp(milliseconds // 1000, UTC)
        local = timezone.localtime(moment)
    except (OverflowError, OSError, ValueError):
        return _("no time (%(number)s)") % {"number": milliseconds}
    return f"{local:%Y-%m-%d %H:%M:%S}.{milliseconds % 1000:03}"
