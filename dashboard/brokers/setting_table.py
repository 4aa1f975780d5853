"""The table of settings: one row for each, one column for each broker process."""

from __future__ import annotations

from collections.abc import Callable

from django.utils.html import format_html
from django.utils.translation import gettext as _

from dashboard.frame.tables import Chip, Column, Table
from dashboard.frame.tables.table import natural
from dashboard.frame.tags import icon
from dashboard.gateway.broker_settings import SettingRow, SettingsTable


def setting_table(settings: SettingsTable) -> Table[SettingRow]:
    """Return the table; settings that differ come first, those alike are hidden."""
    return Table(
        title=_("Settings of the brokers"),
        filter_title=_("Filter settings"),
        columns=[
            Column(
                "setting",
                _("Setting"),
                lambda row: row.name,
                _name,
                css="strong",
                fixed=True,
            ),
            *(
                Column(
                    f"{each.name}/{each.broker_id}",
                    _title(each.name, each.broker_id),
                    _value(place),
                    _drawn(place),
                    css="name",
                    narrow=True,
                )
                for place, each in enumerate(settings.answered)
            ),
        ],
        key=lambda row: row.name,
        rank=lambda row: (not row.differs, natural(row.name)),
        texts=lambda row: (row.name, *(value or "" for value in row.values)),
        segments=[
            Chip("differ", _("Different"), lambda row: row.differs),
            Chip("alike", _("Alike"), lambda row: not row.differs),
        ],
        page_rows=100,
    )


def _title(name: str, broker_id: int) -> str:
    if broker_id == 0:
        return name
    return _("%(name)s, slave %(id)s") % {"name": name, "id": broker_id}


def _name(row: SettingRow) -> str:
    if not row.differs:
        return format_html("<code>{}</code>", row.name)
    return format_html(
        '<span class="state warn">{}<code>{}</code><span class="unseen"> {}</span>'
        "</span>",
        *(icon("warn"), row.name, _("different")),
    )


def _value(place: int) -> Callable[[SettingRow], str | None]:
    return lambda row: row.values[place]


def _drawn(place: int) -> Callable[[SettingRow], str]:
    def draw(row: SettingRow) -> str:
        value = row.values[place]
        if value is None:
            return format_html('<span class="dim">{}</span>', _("none"))
        return value or "“”"

    return draw
