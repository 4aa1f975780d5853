"""The form of a hosted group: its fields, read into a wish.

The form only reads. Whether a wish can be hosted is checked when it is saved, and the
form shows the message of that check.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import orjson
from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from dashboard.fleet.listeners import listener_names
from dashboard.models import ManagedGroup
from dashboard.whatif.model import STRATEGY_NAMES

from .writes import MAX_MEMBERS, MAX_NAME, GroupWish

MAX_TEXT: Final = 200_000
MAX_TOPICS: Final = 100


class WishForm(forms.Form):
    """The definition of a hosted group."""

    name = forms.CharField(max_length=MAX_NAME)
    members = forms.IntegerField(min_value=0, max_value=MAX_MEMBERS, initial=1)
    topics = forms.CharField(
        max_length=MAX_TEXT, widget=forms.Textarea(attrs={"rows": 3})
    )
    mode = forms.ChoiceField(choices=[(each, each) for each in ManagedGroup.Mode])
    orderly = forms.BooleanField(required=False)
    strategy = forms.CharField(max_length=64, initial="AVG")
    strategy_options = forms.CharField(
        max_length=MAX_TEXT, required=False, widget=forms.Textarea(attrs={"rows": 3})
    )
    start_position = forms.ChoiceField(
        choices=[
            (ManagedGroup.Start.LAST, gettext_lazy("the tail of each queue")),
            (ManagedGroup.Start.FIRST, gettext_lazy("the beginning of each queue")),
        ]
    )
    listener = forms.ChoiceField()
    listener_options = forms.CharField(max_length=2000, required=False)
    reason = forms.CharField(max_length=1000, required=False)
    confirm = forms.CharField(
        max_length=MAX_NAME,
        required=False,
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )

    def __init__(self, *args: Any, known: ManagedGroup | None = None, **kw: Any):
        if known is not None:
            kw.setdefault("initial", initial_of(known))
        super().__init__(*args, **kw)
        self.fields["listener"] = forms.ChoiceField(
            choices=[(name, name) for name in listener_names()]
        )
        if known is not None:
            del self.fields["name"], self.fields["members"]
        for field in self.fields.values():
            if not isinstance(field, forms.BooleanField):
                field.widget.attrs["class"] = "input"
        self.fields["strategy"].widget.attrs["list"] = "strategies"

    def clean_topics(self) -> list[tuple[str, str]]:
        """Read one topic per line, followed by tags such as `TagA || TagB`."""
        lines = self.cleaned_data["topics"].splitlines()
        found = [line.split(None, 1) for line in lines if line.strip()]
        if len(found) > MAX_TOPICS:
            raise forms.ValidationError(
                _("%(count)s topics, at most %(limit)s are subscribed by one group.")
                % {"count": len(found), "limit": MAX_TOPICS}
            )
        names = [line[0] for line in found]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise forms.ValidationError(
                _("“%(topic)s” is listed twice.") % {"topic": twice[0]}
            )
        return [(line[0], line[1].strip() if len(line) > 1 else "*") for line in found]

    def clean_strategy_options(self) -> dict[str, Any]:
        """Read the options, a JSON object."""
        text = self.cleaned_data["strategy_options"].strip()
        if not text:
            return {}
        try:
            value = orjson.loads(text)
        except orjson.JSONDecodeError as error:
            raise forms.ValidationError(
                _("This is not JSON: %(error)s") % {"error": error}
            ) from error
        if not isinstance(value, dict):
            raise forms.ValidationError(
                _("Options are an object such as %(example)s, this is %(value)s.")
                % {"example": '{"virtual_nodes": 20}', "value": text[:60]}
            )
        return value

    def clean_listener_options(self) -> dict[str, float | str]:
        """Read options such as `ms=8 rate=0.1`."""
        options: dict[str, float | str] = {}
        for part in self.cleaned_data["listener_options"].replace(",", " ").split():
            name, equals, value = part.partition("=")
            if not (name and equals and value):
                raise forms.ValidationError(
                    _("“%(part)s” is not an option such as ms=8.") % {"part": part}
                )
            options[name] = _number_or_text(value)
        return options

    def wish(self, cluster: str, name: str = "") -> GroupWish:
        """Return the wish that a valid form describes."""
        data = self.cleaned_data
        return GroupWish(
            cluster=cluster,
            name=name or data["name"].strip(),
            topics=data["topics"],
            mode=data["mode"],
            orderly=data["orderly"],
            strategy=data["strategy"].strip(),
            strategy_options=data["strategy_options"],
            start_position=data["start_position"],
            listener=data["listener"],
            listener_options=data["listener_options"],
        )


def initial_of(group: ManagedGroup) -> dict[str, Any]:
    """Return a group's wish as the form writes it."""
    return {
        "topics": "\n".join(
            f"{each['topic']} {each['expression']}" for each in group.topics
        ),
        "mode": group.mode,
        "orderly": group.orderly,
        "strategy": group.strategy,
        "strategy_options": _as_json(group.strategy_options),
        "start_position": group.start_position,
        "listener": group.listener,
        "listener_options": " ".join(
            f"{name}={value}" for name, value in group.listener_options.items()
        ),
    }


def strategies() -> list[str]:
    """Return the names that the form offers; others may be typed."""
    return [*STRATEGY_NAMES]


def _as_json(options: Mapping[str, Any]) -> str:
    return orjson.dumps(options).decode() if options else ""


def _number_or_text(value: str) -> float | str:
    try:
        number = float(value)
    except ValueError:
        return value
    return int(number) if number.is_integer() and abs(number) < 2**53 else number
