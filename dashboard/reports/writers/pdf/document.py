"""A whole run as a PDF: figures first, then tables with heads repeated on each page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from django.utils.translation import gettext as _

from dashboard.reports.data.alerts import alerts_of
from dashboard.reports.data.facts import facts_of, worst_groups
from dashboard.reports.data.headline import headline
from dashboard.reports.data.series import (
    heat_lines,
    load_queues,
    member_lines,
    skew_lines,
    strategies_of,
)
from dashboard.reports.data.stats import (
    Stat,
    highest_text,
    holes_text,
    stats_of,
)
from dashboard.reports.data.steps import epoch_bands, lag_steps
from dashboard.reports.data.strategies import strategy_rows
from dashboard.reports.data.twins import Twin, clock
from dashboard.reports.data.verdict import Verdict, verdict_of
from dashboard.reports.figures.captions import worst_part
from dashboard.reports.report import Report
from dashboard.reports.words import owner_facts, step_word, subject_of, title_of
from dashboard.reports.writers.html_file import charts_of
from dashboard.wording import numbers

from .plots import (
    LINES_HEIGHT,
    heat_height,
    heat_plot,
    lag_height,
    lag_plot,
    members_plot,
    skew_plot,
    strategies_height,
    strategies_plot,
)
from .sheet import (
    BODY,
    HEAD,
    MARGIN,
    SMALL,
    TITLE,
    new_sheet,
)

_ROW: Final = 5.0
_STAT: Final = 17.0
_MOST_COLUMNS: Final = 6
_KEPT_TOGETHER: Final = 10
"""A table begins on a page only where this many of its rows fit, or all of them."""
_HEADING: Final = 14.0
_VERDICT: Final = 18.0
_UNKNOWN: Final = "—"
MINUTE: Final = 60
"""Rows of shorter steps, in seconds, would fill pages that nobody reads on paper."""

TWIN_ROWS: Final = 400
"""Most rows of a table on paper; a note says that longer ones are in other formats."""


def write_pdf(report: Report, path: Path, paper: str) -> None:
    """Write the report to a file at `path`, in the language that is active."""
    sheet = new_sheet(paper, title_of(report))
    axis = report.axis
    facts = facts_of(report)
    _head(sheet, report)
    if text := headline(report):
        sheet.line_of(text, "ink", HEAD, bold=True)
        sheet.gap(2)
    _stats(sheet, stats_of(report))
    if holes := holes_text(facts):
        sheet.line_of(holes, "warn", BODY)
        sheet.gap(2)
    charts = {chart.name: chart for chart in charts_of(report, None)}
    draw = {
        "lag": lambda: lag_plot(sheet, axis, lag_steps(report), epoch_bands(report)),
        "queues": lambda: heat_plot(sheet, axis, heat_lines(report)),
        "skew": lambda: skew_plot(sheet, axis, skew_lines(report), load_queues(report)),
        "strategies": lambda: strategies_plot(sheet, strategies_of(report)),
        "members": lambda: members_plot(
            sheet, axis, member_lines(report), load_queues(report)
        ),
    }
    heights = _heights(report)
    for name, chart in charts.items():
        sheet.room(_HEADING + heights[name])
        _heading(sheet, chart.title, chart.note)
        if name == "strategies":
            _verdict(sheet, verdict_of(report))
        draw[name]()
        if name == "strategies":
            _table(sheet, chart.twin, _("Strategies: none was computed."))
    if not report.group:
        _worst(sheet, report)
    _alerts(sheet, report)
    for name in ("members", "queues", "lag"):
        if name not in charts or (name == "lag" and report.step_seconds < MINUTE):
            continue
        sheet.room(_HEADING + _ROW * (1 + _KEPT_TOGETHER))
        _heading(sheet, _("%(chart)s: the numbers") % {"chart": charts[name].title}, "")
        _table(sheet, charts[name].twin, _("Nothing was collected."))
    _notes(sheet, report)
    sheet.output(str(path))


def _heights(report: Report) -> Mapping[str, float]:
    """Return what each figure needs of a page below its heading, in millimetres.

    A map of many rows goes on, on the next page.
    """
    has_age = any(step.age_ms is not None for step in lag_steps(report))
    return {
        "lag": lag_height(has_age=has_age),
        "queues": heat_height(len(heat_lines(report))),
        "skew": LINES_HEIGHT,
        "strategies": strategies_height(len(strategies_of(report))) + _VERDICT,
        "members": LINES_HEIGHT,
    }


def _head(sheet: Any, report: Report) -> None:
    sheet.line_of(title_of(report), "ink", TITLE, bold=True)
    since, until = clock(report.since, report.zone), clock(report.until, report.zone)
    period = f"{since} – {until} ({report.zone_name})"
    about = " · ".join((report.cluster, subject_of(report), period))
    sheet.line_of(about, "ink-2", BODY)
    rows = numbers.count(report.run.summary["rows"].get("lag_by_queue", 0))
    step = step_word(report.step_seconds)
    when = (
        ""
        if report.run.finished_at is None
        else clock(report.run.finished_at, report.zone)
    )
    words = [
        _("%(rows)s rows of %(step)s") % {"rows": rows, "step": step},
        _("computed %(when)s for %(who)s")
        % {"when": when, "who": report.run.asked_by_name},
    ]
    sheet.line_of(" · ".join(words), "ink-3", SMALL)
    if owner := owner_facts(report):
        said = " · ".join(f"{name}: {value}" for name, value in owner)
        sheet.line_of(said, "ink-3", SMALL)
    sheet.gap(3)


def _stats(sheet: Any, stats: Sequence[Stat]) -> None:
    """Write the figures as tiles, three per line."""
    width = sheet.epw / 3
    for number, stat in enumerate(stats):
        if number % 3 == 0 and number:
            sheet.gap(_STAT)
        x, y = MARGIN + number % 3 * width, sheet.get_y()
        sheet.pen("line", 0.2)
        sheet.rect(x, y, width, _STAT)
        sheet.ink("ink-3", SMALL)
        sheet.label(x + 2.5, y + 3.5, stat.name, width=width - 5)
        sheet.ink("ink", HEAD, bold=True)
        sheet.label(x + 2.5, y + 8.7, stat.value or _UNKNOWN, width=width - 5)
        sheet.ink("ink-3", SMALL)
        sheet.label(x + 2.5, y + 13.8, stat.note, width=width - 5)
        sheet.set_y(y)
    sheet.gap(_STAT + 4)


def _heading(sheet: Any, title: str, note: str) -> None:
    sheet.gap(2)
    sheet.line_of(title, "ink", HEAD, bold=True)
    if note:
        sheet.line_of(note, "ink-3", SMALL)
    sheet.gap(1)


def _verdict(sheet: Any, verdict: Verdict | None) -> None:
    if verdict is None:
        return
    sheet.line_of(verdict.text, "ink", BODY, bold=True)
    if verdict.further:
        sheet.line_of(" ".join(verdict.further), "ink-2", BODY)
    sheet.gap(2)


def _table(sheet: Any, twin: Twin, nothing: str) -> None:
    """Write a table; one too wide for the sheet in pieces, each with its names."""
    if not twin.rows:
        sheet.line_of(nothing, "ink-3", BODY)
        return
    for piece in _pieces(twin):
        _piece(sheet, piece)


def _pieces(twin: Twin) -> Iterator[Twin]:
    """Yield a table's columns in as few equal pieces as fit, with row names in each."""
    columns = range(1, len(twin.heads))
    count = -(-len(columns) // _MOST_COLUMNS)
    size = -(-len(columns) // count)
    for start in range(1, len(twin.heads), size):
        kept = (0, *range(start, min(start + size, len(twin.heads))))
        yield Twin(
            tuple(twin.heads[place] for place in kept),
            [[row[place] for place in kept] for row in twin.rows],
        )


def _piece(sheet: Any, twin: Twin) -> None:
    """Write a table, with its head on every page that it reaches."""
    sheet.room(_ROW * (1 + min(len(twin.rows), _KEPT_TOGETHER)))
    widths = _widths(sheet, twin)

    def head() -> None:
        sheet.ground("sunken")
        sheet.rect(MARGIN, sheet.get_y(), sheet.epw, _ROW, style="F")
        sheet.ink("ink-2", SMALL, bold=True)
        _cells(sheet, twin.heads, widths)

    head()
    for row in twin.rows[:TWIN_ROWS]:
        if sheet.will_page_break(_ROW):
            sheet.add_page()
            head()
        sheet.ink("ink", SMALL)
        _cells(sheet, [_UNKNOWN if cell is None else cell for cell in row], widths)
        sheet.pen("line", 0.1)
        sheet.line(MARGIN, sheet.get_y(), MARGIN + sheet.epw, sheet.get_y())
    left_out = len(twin.rows) - TWIN_ROWS
    if left_out > 0:
        text = _("%(count)s more rows are in the CSV, XLSX and Parquet files.")
        sheet.line_of(text % {"count": numbers.count(left_out)}, "ink-3", SMALL)
    sheet.gap(3)


def _widths(sheet: Any, twin: Twin) -> list[float]:
    """Give the first column what its longest name needs, within half of the sheet."""
    others = len(twin.heads) - 1
    sheet.ink("ink", SMALL)
    longest = max(
        sheet.get_string_width(str(row[0]))
        for row in (twin.heads, *twin.rows[:TWIN_ROWS])
    )
    first = min(max(longest + 4, sheet.epw / (others + 2)), sheet.epw / 2)
    return [first, *([(sheet.epw - first) / others] * others)]


def _cells(sheet: Any, texts: Sequence[str], widths: Sequence[float]) -> None:
    y = sheet.get_y()
    left = MARGIN
    for number, (text, width) in enumerate(zip(texts, widths, strict=True)):
        edge = left + width - 1 if number else left + 1
        align = "R" if number else "L"
        sheet.label(edge, y + _ROW / 2, str(text), align=align, width=width - 2)
        left += width
    sheet.set_y(y + _ROW)


def _worst(sheet: Any, report: Report) -> None:
    rows = [
        (
            row.group,
            highest_text(row.peak, numbers.count),
            None if row.mean is None else numbers.count(row.mean),
            highest_text(row.oldest, numbers.duration),
        )
        for row in worst_groups(report)
    ]
    sheet.room(30)
    part = worst_part(report)
    note = " · ".join(filter(None, (_("by their highest lag"), part)))
    _heading(sheet, _("Worst groups"), note)
    heads = (_("Group"), _("Peak lag"), _("Mean"), _("Oldest"))
    _table(sheet, Twin(heads, rows), _("Nothing was collected."))


def _alerts(sheet: Any, report: Report) -> None:
    """Write each alert as two lines: names are too long for columns of paper."""
    alerts = alerts_of(report)
    sheet.room(30)
    _heading(sheet, _("Alerts"), _("as they were when the report was made"))
    for note in (*alerts.notes, alerts.listed):
        if note:
            sheet.line_of(note, "ink-3", BODY)
    for line in alerts.lines:
        sheet.room(2 * _ROW)
        title = " · ".join((line.severity, line.name, line.rule))
        sheet.line_of(title, line.level, BODY, bold=True)
        sheet.line_of(line.text, "ink-2", SMALL)
        sheet.gap(1)
    sheet.gap(2)


def _notes(sheet: Any, report: Report) -> None:
    notes = [
        _(
            "“—” stands for a value that is not known. Lag includes messages "
            "that a tag filter will drop."
        )
    ]
    if report.step_seconds < MINUTE:
        notes.append(
            _("The rows of %(step)s are in the CSV, XLSX and Parquet files.")
            % {"step": step_word(report.step_seconds)}
        )
    if any(row.is_assumed for row in strategy_rows(report)):
        notes.append(
            _("The strategy in use was not reported by the clients: AVG is assumed.")
        )
    sheet.room(12)
    for note in notes:
        sheet.line_of(note, "ink-3", SMALL)
