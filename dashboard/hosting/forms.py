"""The form of a hosted group: its fields, read into a wish.

The form only reads. Whether a wish can be hosted is checked when it is saved, and the
form shows the message of that check.
"""

from __future__ import annotations

from typing import Any, Final

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from dashboard.fleet.listeners import BUILT_IN_OPTIONS, listener_names
from dashboard.models import ManagedGroup
from dashboard.whatif.model import STRATEGY_NAMES
from dashboard.whatif.model.options import PLAIN

from .option_fields import (
    NUMBERS,
    OptionFieldError,
    listener_options,
    strategy_fields,
    strategy_options,
)
from .writes import MAX_MEMBERS, MAX_NAME, GroupWish

MAX_TEXT: Final = 200_000
MAX_TOPICS: Final = 100


class TopicsWidget(forms.Widget):
    """Pairs of the fields `topic` and `tags`; the template draws the rows."""

    def value_from_datadict(self, data: Any, files: Any, name: str) -> Any:
        topics, tags = data.getlist("topic"), data.getlist("tags")
        tags += [""] * (len(topics) - len(tags))
        pairs = zip(topics, tags, strict=False)
        return [(topic.strip(), tag.strip()) for topic, tag in pairs]


class TopicsField(forms.Field):
    """Topics, each with an expression of tags; rows without a topic are left out."""

    widget = TopicsWidget

    def clean(self, value: Any) -> list[tuple[str, str]]:
        found = [(topic, tags or "*") for topic, tags in value if topic]
        if not found:
            raise forms.ValidationError(self.error_messages["required"])
        if len(found) > MAX_TOPICS:
            raise forms.ValidationError(
                _("%(count)s topics, at most %(limit)s are subscribed by one group.")
                % {"count": len(found), "limit": MAX_TOPICS}
            )
        names = [topic for topic, _tags in found]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise forms.ValidationError(
                _("“%(topic)s” is listed twice.") % {"topic": twice[0]}
            )
        return found


def _text(**attrs: Any) -> forms.CharField:
    widget = forms.TextInput(attrs={"autocomplete": "off", **attrs})
    return forms.CharField(max_length=MAX_TEXT, required=False, widget=widget)


class WishForm(forms.Form):
    """The definition of a hosted group."""

    name = forms.CharField(max_length=MAX_NAME)
    members = forms.IntegerField(min_value=0, max_value=MAX_MEMBERS, initial=1)
    topics = TopicsField()
    mode = forms.ChoiceField(choices=[(each, each) for each in ManagedGroup.Mode])
    orderly = forms.BooleanField(required=False)
    strategy = forms.CharField(max_length=64, initial="AVG", widget=forms.Select)
    virtual_nodes = forms.IntegerField(required=False)
    rooms = _text(placeholder="hz1, hz2")
    inner = forms.ChoiceField(
        required=False,
        choices=[
            ("", gettext_lazy("the clients' default: AVG")),
            *((n, n) for n in PLAIN),
        ],
    )
    broker_separator = _text(placeholder="@", maxlength=8)
    broker_rooms = _text(placeholder="broker-a=hz1, broker-b=hz2")
    client_separator = _text(placeholder="-", maxlength=8)
    client_rooms = _text(placeholder="1=hz1, 2=hz2")
    config = forms.CharField(
        max_length=MAX_TEXT, required=False, widget=forms.Textarea(attrs={"rows": 3})
    )
    start_position = forms.ChoiceField(
        choices=[
            (ManagedGroup.Start.LAST, gettext_lazy("the tail of each queue")),
            (ManagedGroup.Start.FIRST, gettext_lazy("the beginning of each queue")),
        ]
    )
    listener = forms.ChoiceField()
    listener_ms, listener_rate = (
        forms.FloatField(required=False, widget=forms.NumberInput({"step": "any"}))
        for _each in range(2)
    )
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
        # The name of a strategy may have the one inside it behind a dash.
        offered = dict.fromkeys((*STRATEGY_NAMES, known.strategy if known else "AVG"))
        self.fields["strategy"].widget.choices = [(name, name) for name in offered]
        if known is not None:
            del self.fields["name"], self.fields["members"]
        for field in self.fields.values():
            if not isinstance(field, forms.BooleanField):
                field.widget.attrs["class"] = "input"

    @property
    def topic_rows(self) -> list[tuple[str, str]]:
        """The rows of topics to show: those there are, and an empty one."""
        rows = [(topic, tags) for topic, tags in self["topics"].value() or () if topic]
        return [*rows, ("", "")]

    @property
    def has_own_listeners(self) -> bool:
        """True if there are listeners besides the built-in ones."""
        choices: Any = self.fields["listener"]
        return any(name not in BUILT_IN_OPTIONS for name, _label in choices.choices)

    def clean_listener_options(self) -> dict[str, float | str]:
        """Read options such as `depth=8 mode=fast`, for listeners of the user's own."""
        options: dict[str, float | str] = {}
        if self.cleaned_data.get("listener") in BUILT_IN_OPTIONS:
            return options
        for part in self.cleaned_data["listener_options"].replace(",", " ").split():
            name, equals, value = part.partition("=")
            if not (name and equals and value):
                raise forms.ValidationError(
                    _("“%(part)s” is not an option such as ms=8.") % {"part": part}
                )
            options[name] = _number_or_text(value)
        return options

    def clean(self) -> None:
        """Put the fields of the chosen strategy and listener together."""
        data = self.cleaned_data
        try:
            options = strategy_options(data.get("strategy", "").strip(), data)
        except OptionFieldError as error:
            self.add_error(error.field, str(error))
        else:
            data["strategy_options"] = options
        if data.get("listener") in BUILT_IN_OPTIONS:
            data["listener_options"] = listener_options(data["listener"], data)

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
        "topics": [(each["topic"], each["expression"]) for each in group.topics],
        "mode": group.mode,
        "orderly": group.orderly,
        "strategy": group.strategy,
        **strategy_fields(group.strategy_options),
        "start_position": group.start_position,
        "listener": group.listener,
        **{f"listener_{name}": group.listener_options.get(name) for name in NUMBERS},
        "listener_options": " ".join(
            f"{name}={value}" for name, value in group.listener_options.items()
        ),
    }


def _number_or_text(value: str) -> float | str:
    try:
        number = float(value)
    except ValueError:
        return value
    return int(number) if number.is_integer() and abs(number) < 2**53 else number
