"""What is searched for, as the address has it.

| parameter | meaning |
| --- | --- |
| `by` | `key`, `unique`, `id`, `time`, `offset`, `newest` or `oldest` |
| `topic`, `key`, `id`, `tag` | what is looked for |
| `begin`, `end` | a span of store times, in the reader's zone unless they name one |
| `broker`, `queue`, `offset` | a queue, and a place in it |
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from django import forms
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from dashboard.gateway.messages import Span
from rmqcore.model import MessageQueue

LONGEST_NAME: Final = 255
LONGEST_KEY: Final = 1000
MOST_OFFSET: Final = 2**63 - 1
WAYS: Final = ("key", "unique", "id", "time", "offset", "newest", "oldest")
PARAMETERS: Final = (
    *("by", "topic", "key", "id", "tag", "begin", "end"),
    *("broker", "queue", "offset"),
)
_NEEDS: Final[dict[str, tuple[str, ...]]] = {
    "key": ("topic", "key"),
    "unique": ("topic", "key"),
    "id": ("id",),
    "time": ("topic",),
    "offset": ("topic", "broker", "queue", "offset"),
    "newest": ("topic",),
    "oldest": ("topic",),
}


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


class SearchForm(forms.Form):
    """A search; which fields are needed depends on the way."""

    by = forms.ChoiceField(choices=[(way, way) for way in WAYS])
    topic = forms.CharField(required=False, max_length=LONGEST_NAME)
    key = forms.CharField(required=False, max_length=LONGEST_KEY)
    id = forms.CharField(required=False, max_length=56)
    tag = forms.CharField(required=False, max_length=LONGEST_NAME)
    begin = MomentField(required=False)
    end = MomentField(required=False)
    broker = forms.CharField(required=False, max_length=LONGEST_NAME)
    queue = forms.IntegerField(required=False, min_value=0, max_value=99_999)
    offset = forms.IntegerField(required=False, min_value=0, max_value=MOST_OFFSET)

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        for name in _NEEDS.get(cleaned.get("by", ""), ()):
            if cleaned.get(name) in (None, "") and name not in self.errors:
                self.add_error(name, _("This is needed for this search."))
        begin, end = cleaned.get("begin"), cleaned.get("end")
        if begin and end and end < begin:
            self.add_error("end", _("The end is before the beginning."))
        return cleaned


@dataclass(frozen=True, slots=True)
class Search:
    """A search that can be made."""

    by: str
    topic: str = ""
    key: str = ""
    id: str = ""
    tag: str = ""
    span: Span = field(default_factory=Span)
    queue: MessageQueue | None = None
    offset: int = 0

    @classmethod
    def of(cls, cleaned: dict[str, Any]) -> Search:
        """Return the search that a valid form describes."""
        queue = None
        if cleaned["broker"] and cleaned["queue"] is not None:
            queue = MessageQueue(cleaned["topic"], cleaned["broker"], cleaned["queue"])
        return cls(
            by=cleaned["by"],
            topic=cleaned["topic"],
            key=cleaned["key"],
            id=cleaned["id"],
            tag=cleaned["tag"],
            span=Span(_ms(cleaned["begin"]), _ms(cleaned["end"])),
            queue=queue,
            offset=cleaned["offset"] or 0,
        )


class PlaceForm(forms.Form):
    """Where one message is: everything that the address of its page has."""

    topic = forms.CharField(max_length=LONGEST_NAME)
    broker = forms.CharField(max_length=LONGEST_NAME)
    queue = forms.IntegerField(min_value=0, max_value=99_999)
    offset = forms.IntegerField(min_value=0, max_value=MOST_OFFSET)

    @property
    def place(self) -> Place:
        """The place; only for a valid form."""
        return Place(**self.cleaned_data)


@dataclass(frozen=True, slots=True)
class Place:
    """A queue and an offset in it."""

    topic: str
    broker: str
    queue: int
    offset: int

    @property
    def message_queue(self) -> MessageQueue:
        return MessageQueue(self.topic, self.broker, self.queue)

    def __str__(self) -> str:
        return f"{self.topic} {self.broker}/{self.queue}@{self.offset}"


def _ms(moment: datetime | None) -> int | None:
    return None if moment is None else round(moment.timestamp() * 1000)


class SendForm(forms.Form):
    """A message to send, and why."""

    topic = forms.CharField(max_length=LONGEST_NAME)
    tag = forms.CharField(required=False, max_length=LONGEST_NAME)
    keys = forms.CharField(required=False, max_length=LONGEST_KEY)
    body = forms.CharField(
        required=False, max_length=262_144, strip=False, widget=forms.Textarea
    )
    reason = forms.CharField(
        max_length=1000,
        error_messages={
            "required": gettext_lazy("A reason is needed; it is kept in the audit log.")
        },
    )


__all__ = ["MomentField", "Place", "PlaceForm", "Search", "SearchForm", "SendForm"]
