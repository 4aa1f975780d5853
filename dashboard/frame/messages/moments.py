"""Times of messages, to the millisecond, in the zone of the request."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from django import forms
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


class MomentField(forms.DateTimeField):
    """A moment as browsers write it, or in ISO 8601 with a zone."""

    widget = forms.DateTimeInput(attrs={"type": "datetime-local", "step": "1"})

    def to_python(self, value: Any) -> datetime | None:
        if not value:
            return None
        try:
            found = datetime.fromisoformat(value)
        except (TypeError, ValueError):
            raise forms.ValidationError(
                _("“%(value)s” is no time such as 2026-11-22T11:05.") % {"value": value}
            ) from None
        return found if found.tzinfo else timezone.make_aware(found)


class SpanForm(forms.Form):
    """A span of times, which may be open at either end."""

    begin = MomentField(required=False)
    end = MomentField(required=False)

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        begin, end = cleaned.get("begin"), cleaned.get("end")
        if begin and end and end < begin:
            self.add_error("end", _("The end is before the beginning."))
        return cleaned


def as_ms(moment: datetime | None) -> int | None:
    """Return ms since the epoch; None for none."""
    return None if moment is None else round(moment.timestamp() * 1000)
