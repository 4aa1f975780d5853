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
from typing import Any, Final

from django import forms
from django.utils.translation import gettext as _

from dashboard.frame.messages.moments import SpanForm, as_ms
from dashboard.frame.messages.places import Place
from dashboard.frame.reasons import MAX_REASON, NEEDED
from dashboard.gateway.queue_search import Span
from rmqcore.model import MessageQueue

LONGEST_NAME: Final = 255
LONGEST_KEY: Final = 1000
MOST_OFFSET: Final = 2**63 - 1
WAYS: Final = ("key", "unique", "id", "time", "offset", "newest", "oldest")
PARAMETERS: Final = (
    *("by", "topic", "key", "id", "tag", "begin", "end"),
    *("broker", "queue", "offset"),
)
NEEDS: Final[dict[str, tuple[str, ...]]] = {
    "key": ("topic", "key"),
    "unique": ("topic", "key"),
    "id": ("id",),
    "time": ("topic",),
    "offset": ("topic", "broker", "queue", "offset"),
    "newest": ("topic",),
    "oldest": ("topic",),
}


class SearchForm(SpanForm):
    """A search; which fields are needed depends on the way."""

    by = forms.ChoiceField(choices=[(way, way) for way in WAYS])
    topic = forms.CharField(required=False, max_length=LONGEST_NAME)
    key = forms.CharField(required=False, max_length=LONGEST_KEY)
    id = forms.CharField(required=False, max_length=56)
    tag = forms.CharField(required=False, max_length=LONGEST_NAME)
    broker = forms.CharField(required=False, max_length=LONGEST_NAME)
    queue = forms.IntegerField(required=False, min_value=0, max_value=99_999)
    offset = forms.IntegerField(required=False, min_value=0, max_value=MOST_OFFSET)

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean()
        for name in NEEDS.get(cleaned.get("by", ""), ()):
            if cleaned.get(name) in (None, "") and name not in self.errors:
                self.add_error(name, _("This is needed for this search."))
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
            span=Span(as_ms(cleaned["begin"]), as_ms(cleaned["end"])),
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


class SendForm(forms.Form):
    """A message to send, and why."""

    topic = forms.CharField(max_length=LONGEST_NAME)
    tag = forms.CharField(required=False, max_length=LONGEST_NAME)
    keys = forms.CharField(required=False, max_length=LONGEST_KEY)
    body = forms.CharField(
        required=False, max_length=262_144, strip=False, widget=forms.Textarea
    )
    reason = forms.CharField(max_length=MAX_REASON, error_messages={"required": NEEDED})
