"""A whole run as one HTML file that needs nothing else: no server, no network.

plotly.js (the same bundle that the pages use), the figures' documents, the style sheets
and a small script are in the file. Its content-security policy allows these scripts by
their digest and nothing else, so that a name from outside cannot run as code, and no
reader's browser makes requests.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, tzinfo
from pathlib import Path
from typing import Any, Final

from django.conf import settings
from django.template.loader import render_to_string
from django.utils.safestring import mark_safe
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from dashboard.reports.data.alerts import alerts_of
from dashboard.reports.data.facts import facts_of, worst_groups
from dashboard.reports.data.headline import headline
from dashboard.reports.data.series import member_strategy, shown_grouping
from dashboard.reports.data.stats import holes_text, stats_of
from dashboard.reports.data.twins import Twin, clock, twin_of
from dashboard.reports.data.values import strategy_title
from dashboard.reports.data.verdict import verdict_of
from dashboard.reports.figures.captions import heat_part, members_part, worst_part
from dashboard.reports.figures.gallery import figure_names, figure_of
from dashboard.reports.figures.heatmap import MOST_ROWS
from dashboard.reports.report import Report
from dashboard.reports.words import (
    over_time_word,
    step_word,
    subject_of,
    title_of,
)

from .palette import static_text

STYLES: Final = (
    "css/tokens.css",
    "css/base.css",
    "css/reports.css",
    "css/report-file.css",
)
_UNSAFE: Final = {ord(sign): f"\\u{ord(sign):04x}" for sign in "<>&\u2028\u2029"}


@dataclass(frozen=True, slots=True)
class Chart:
    """One figure on paper: its name, its title, its numbers."""

    name: str
    title: str
    note: str
    twin: Twin


def write_html(report: Report, path: Path) -> None:
    """Write the report to a file at `path`, in the language that is active."""
    path.write_text(html_text(report), "utf-8")


def html_text(report: Report) -> str:
    """Return the file's text."""
    facts = facts_of(report)
    names = figure_names(report)
    plotly = static_text("vendor/plotly/plotly-cartesian.min.js")
    script = _as_one_script()
    return render_to_string(
        "reports/file.html",
        {
            "run": report.run,
            "language": get_language() or "en",
            "version": settings.VERSION,
            "title": title_of(report),
            "subject": subject_of(report),
            "owner": report.owner,
            "since": _local(report.since, report.zone),
            "until": _local(report.until, report.zone),
            "made": _local(report.run.finished_at, report.zone),
            "zone_name": report.zone_name,
            "step": step_word(report.step_seconds),
            "row_count": report.run.summary["rows"].get("lag_by_queue"),
            "headline": headline(report),
            "stats": stats_of(report),
            "holes": holes_text(facts),
            "charts": list(charts_of(report)),
            "verdict": verdict_of(report),
            "worst": worst_groups(report),
            "worst_part": worst_part(report),
            "alerts": alerts_of(report),
            "policy": _policy(plotly, script),
            # What follows are our own files, and JSON without a character that could
            # close its element.
            "styles": mark_safe("\n".join(map(static_text, STYLES))),  # noqa: S308
            "plotly_styles": mark_safe(static_text("vendor/plotly/plotly.css")),  # noqa: S308
            "plotly": mark_safe(plotly),  # noqa: S308
            "script": mark_safe(script),  # noqa: S308
            "figures": mark_safe(  # noqa: S308
                _json({name: figure_of(report, name) for name in names})
            ),
        },
    )


def charts_of(report: Report, most_rows: int | None = MOST_ROWS) -> Iterator[Chart]:
    """Yield the figures that a run has, with their words, in order.

    `most_rows` are drawn of the heatmap; None is all.
    """
    step = step_word(report.step_seconds)
    names = figure_names(report)
    words = {
        "lag": (
            _("Lag and age"),
            _("bands are epochs: spans with the same members and queues")
            if report.group
            else "",
        ),
        "queues": (
            over_time_word(shown_grouping(report)),
            _joined(
                _("mean lag per %(step)s") % {"step": step},
                heat_part(report, most_rows),
            ),
        ),
        "skew": (
            _("Skew over time"),
            _("load of the busiest member divided by the mean; 1 is even"),
        ),
        "strategies": (
            _("Strategies over the period"),
            _("load of the busiest member divided by the mean; 1 is even"),
        ),
        "members": (
            _("Members over time"),
            _joined(
                _("load of the busiest members under %(strategy)s, messages per second")
                % {"strategy": strategy_title(member_strategy(report))},
                members_part(report) if "members" in names else "",
            ),
        ),
    }
    for name in names:
        title, note = words[name]
        yield Chart(name, title, note, twin_of(report, name))


def _joined(*notes: str) -> str:
    return " · ".join(filter(None, notes))


def _as_one_script() -> str:
    """Join the colours module and the file's own script into one plain script."""
    colors = static_text("js/reports/colors.js").replace("export function", "function")
    drawing = static_text("js/reports/standalone.js")
    own = re.sub(r"^import .*$", "", drawing, flags=re.MULTILINE)
    return f"(() => {{\n{colors}\n{own}\n}})();"


def _policy(*scripts: str) -> str:
    digests = " ".join(f"'sha256-{_digest(script)}'" for script in scripts)
    return (
        f"default-src 'none'; script-src {digests}; style-src 'unsafe-inline'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def _digest(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


def _json(document: Mapping[str, Any]) -> str:
    return json.dumps(document, ensure_ascii=False).translate(_UNSAFE)


def _local(moment: datetime | None, zone: tzinfo) -> str:
    return "" if moment is None else clock(moment, zone)
