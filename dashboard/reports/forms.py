"""The forms of reports: text read into values, and shown again as it was typed.

A field says what cannot be read. Which values are allowed is decided by the services,
for these forms as for the REST API; `refuse` shows their message beside the field.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any, ClassVar, Final

from django import forms
from django.core.exceptions import ValidationError
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import get_language
from django.utils.translation import gettext_lazy as _

from dashboard.models import JobRun, ReportDefinition
from dashboard.reports.request import comparisons
from dashboard.reports.request.periods import CUSTOM, LAST
from dashboard.reports.request.refusals import ReportRefusedError
from dashboard.reports.writers.formats import FORMATS

from .definitions import MOST_KEEP_DAYS
from .words import GROUPINGS, PAPERS, SCHEDULES
from .writes import CONTENT_FIELDS

_PLAIN_SIGNS: Final = str.maketrans("，、；;－−＋", ",,,,--+")
_PERIODS: Final = [(name, label) for name, (_span, label) in LAST.items()]
_OPTIONS: Final = {
    comparisons.MACHINE_ROOM: "rooms",
    comparisons.CONSISTENT_HASH: "virtual_nodes",
}
_COMPLETED: Final = ("options", "language", "zone")


class RoomsField(forms.Field):
    """Names between commas, which may be Chinese ones."""

    written = "{}"

    def prepare_value(self, value: Any) -> str:
        is_typed = isinstance(value, str)
        return value if is_typed else ", ".join(map(self.written.format, value or ()))

    def to_python(self, value: str | None) -> list[Any]:
        parts = (value or "").translate(_PLAIN_SIGNS).split(",")
        return [part.strip() for part in parts if part.strip()]


class AddedMembersField(RoomsField):
    """Numbers such as `+1, -2`; signs and commas may be Chinese ones."""

    written = "{:+d}"

    def to_python(self, value: str | None) -> list[Any]:
        parts = " ".join(super().to_python(value)).split()
        for part in parts:
            if not re.fullmatch("[+-]?[0-9]{1,9}", part):
                text = _(
                    "Members more or fewer: “%(text)s” is not a number such as "
                    "+1 or -2."
                )
                raise ValidationError(text % {"text": part[:20]})
        return list(dict.fromkeys(map(int, parts)))


class MinuteOfDayField(forms.Field):
    """A time of day such as `06:30`, kept as minutes since midnight."""

    def prepare_value(self, value: Any) -> Any:
        return f"{value // 60:02}:{value % 60:02}" if isinstance(value, int) else value

    def to_python(self, value: str | None) -> int | None:
        if not value:
            return None
        time = re.fullmatch("([01]?[0-9]|2[0-3]):([0-5][0-9])(:[0-5][0-9])?", value)
        if time is None:
            text = _("“%(text)s” is not a time of day such as 08:05.")
            raise ValidationError(text % {"text": value[:20]})
        return int(time[1]) * 60 + int(time[2])


class WholeNumberField(forms.Field):
    """A whole number; the limits of its widget are for the browser alone."""

    def to_python(self, value: str | None) -> int | None:
        if value and not re.fullmatch("[0-9]{1,9}", value.strip()):
            text = _("%(what)s: “%(text)s” is not a whole number.")
            raise ValidationError(text % {"what": self.label, "text": value[:20]})
        return int(value) if value else None


def _text(placeholder: Any = "", **attrs: Any) -> forms.TextInput:
    attrs |= {"placeholder": placeholder} if placeholder else {}
    return forms.TextInput({"class": "input", "autocomplete": "off", **attrs})


def _choice(label: Any, choices: Iterable[Any] = (), **attrs: Any) -> forms.CharField:
    widget = forms.Select({"class": "input", **attrs}, choices=list(choices))
    return forms.CharField(label=label, widget=widget, required=False)


def _number(label: Any, least: int, most: int, **more: Any) -> WholeNumberField:
    widget = _text(more.pop("placeholder", ""), type="number", min=least, max=most)
    return WholeNumberField(label=label, widget=widget, **more)


class ContentForm(forms.ModelForm):  # type: ignore[type-arg]
    """What reports and definitions are both about; language and zone are the sender's.

    Fields that are left out keep their defaults.
    """

    use_required_attribute = False
    most_compared, most_added = comparisons.MOST_COMPARED, comparisons.MOST_ADDED
    cluster = _choice(_("Cluster"), required=True)
    grouping = _choice(_("One row for each"), GROUPINGS.items())
    added_members = AddedMembersField(
        label=_("Members more or fewer"),
        widget=_text("+1, -1", maxlength=40),
        required=False,
    )
    rooms = RoomsField(
        label=_("Machine rooms"),
        widget=_text("hz1, hz2", maxlength=400),
        required=False,
    )
    virtual_nodes = _number(
        _("Virtual nodes"),
        *(1, comparisons.MOST_VIRTUAL_NODES),
        placeholder="10",
        required=False,
    )
    formats = forms.Field(
        widget=forms.CheckboxSelectMultiple(
            choices=[(form.key, form.title) for form in FORMATS.values()]
        ),
        required=False,
    )
    paper = _choice(_("Paper of the PDF"), PAPERS.items())

    class Meta:
        fields: tuple[str, ...] = (
            *("cluster", "group"),
            *(each for each in CONTENT_FIELDS if each not in _COMPLETED),
        )
        labels: ClassVar = {
            "name": _("Name"),
            "group": _("Group"),
            "paused": _("paused"),
            "topic": _("Topic"),
            "consumer": _("Consumer"),
        }
        widgets: ClassVar = {
            "name": _text(),
            "group": _text(_("all groups"), list="known-groups"),
            "topic": _text(_("all topics"), list="known-topics"),
            "consumer": _text(_("all consumers")),
        }

    def __init__(self, *args: Any, clusters: Sequence[str], **kw: Any) -> None:
        super().__init__(*args, **kw)
        self.auto_id = False  # each label is around its field
        for strategy, name in _OPTIONS.items():
            self.initial[name] = self.instance.options.get(strategy, {}).get(name)
        self.fields["cluster"].widget.choices = [(name, name) for name in clusters]
        self.fields["cluster"].widget.attrs["data-suggest"] = reverse("reports")
        for name, field in self.fields.items():
            field.required &= self.add_prefix(name) in self.data

    def add_prefix(self, field_name: str) -> str:
        return "at" if field_name == "at_minute" else field_name

    def clean(self) -> None:
        """Complete the report with the values that are not fields of its table."""
        options = dict(self.instance.options)
        for strategy, name in _OPTIONS.items():
            options.pop(strategy, None)
            if self.cleaned_data.get(name) not in (None, []):
                options[strategy] = {name: self.cleaned_data[name]}
        self.instance.options = options
        self.instance.language = get_language() or "en"
        self.instance.zone = timezone.get_current_timezone_name()

    def _get_validation_exclusions(self) -> set[str]:
        """Leave the table's rules to the services: each is stated in one place."""
        return {each.name for each in self._meta.model._meta.fields}

    def refuse(self, refusal: ReportRefusedError) -> None:
        """Show a refusal of the services beside the field that it is about."""
        field = "rooms" if refusal.field == "options" else refusal.field
        self.add_error(field if field in self.fields else None, str(refusal))


class RunForm(ContentForm):
    """One report over a period; `read_period` reads that."""

    period = _choice(
        _("Period"), [(CUSTOM, _("from … until …")), *_PERIODS], **{"data-period": True}
    )
    since, until = (
        forms.CharField(label=each, widget=_text(type="datetime-local"), required=False)
        for each in (_("From"), _("Until"))
    )

    class Meta(ContentForm.Meta):
        model = JobRun


class DefinitionForm(ContentForm):
    """A report by name, and its schedule."""

    period = _choice(_("Period"), _PERIODS)
    every = _choice(_("Schedule"), SCHEDULES.items(), **{"data-every": True})
    at_minute = MinuteOfDayField(label=_("At"), widget=_text(type="time"))
    on_day = _number(_("On day"), 1, 31)
    keep_days = _number(_("Days kept"), 1, MOST_KEEP_DAYS)

    class Meta(ContentForm.Meta):
        model = ReportDefinition
        plan = ("period", "every", "at_minute", "on_day", "keep_days", "paused")
        fields = (*ContentForm.Meta.fields, *plan)
        widgets: ClassVar = ContentForm.Meta.widgets | {"name": _text(required=True)}
