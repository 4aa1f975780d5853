"""Schemas of the API's requests and responses about reports."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, ClassVar, Final, Literal

from ninja import Schema
from pydantic import AwareDatetime, Field

from dashboard.models import JobRun
from dashboard.models.report import KEEP_DAYS
from dashboard.rest.old_names import OldNames, old
from dashboard.rest.paging import PageQuery, newest

from .definitions import DefinitionFields
from .words import title_of
from .writes import Content

MOST_RUNS: Final = 500


class ContentIn(Schema):
    """The subject of a report and the form of its files; empty means all of them."""

    name: str = Field("", max_length=120)
    cluster: str = Field(max_length=63)
    group: str = Field("", max_length=255)
    topic: str = Field("", max_length=255)
    consumer: str = Field("", max_length=255)
    grouping: str = Field("queue", description="group, topic, queue or consumer")
    added_members: list[int] = Field(
        [], description="members more or (negative) fewer to compare with: [1, -1]"
    )
    options: dict[str, dict[str, Any]] = Field(
        {}, description='of strategies: {"MACHINE_ROOM": {"rooms": ["hz1"]}}'
    )
    formats: list[str] = Field([], description="csv, xlsx, parquet, html, pdf")
    paper: str = Field("a4", description="a4 or letter")
    language: str = Field("en", description="of files made at once: en or zh-hans")
    zone: str = Field("UTC", description="of files made at once: Asia/Shanghai")

    def content(self) -> Content:
        return Content.of(self)


class DefinitionIn(ContentIn):
    """A report by name, and its schedule."""

    period: str = Field("24h", description="15m, 1h, 6h, 24h, 48h, 7d or 30d")
    every: str = Field("", description="hour, day, week, month; empty: when asked")
    at_minute: int = Field(5, description="of the day, or of the hour, in `zone`")
    on_day: int = Field(1, description="of the week (Monday is 1) or of the month")
    keep_days: int = KEEP_DAYS
    paused: bool = False

    def wish(self) -> DefinitionFields:
        return DefinitionFields.of(self)


class DefinitionOut(DefinitionIn):
    id: int
    next_at: datetime | None
    made_by: str = Field(alias="made_by_name")


class RunIn(ContentIn):
    """A single report over a period. Times need a zone."""

    since: AwareDatetime
    until: AwareDatetime


class FileOut(Schema):
    format: str
    size_bytes: int | None
    made_at: datetime
    error: str


class RunOut(Schema):
    """One report; `percent` and `phase` give the progress of an active one."""

    id: int
    title: str
    definition: int | None = Field(alias="definition_id")
    cluster: str
    group: str
    topic: str
    consumer: str
    grouping: str
    since: datetime
    until: datetime
    state: str
    percent: int
    phase: str
    error: str
    asked_at: datetime
    asked_by: str = Field(alias="asked_by_name")
    due_at: datetime | None
    missed: int
    finished_at: datetime | None
    keep_until: datetime | None
    size_bytes: int | None
    step_seconds: int | None
    files: list[FileOut]

    @staticmethod
    def resolve_title(run: JobRun) -> str:
        return title_of(run)

    @staticmethod
    def resolve_step_seconds(run: JobRun) -> int | None:
        step: int | None = run.summary.get("step_seconds")
        return step

    @staticmethod
    def resolve_files(run: JobRun) -> list[Any]:
        return list(run.files.all())


class RunsQuery(PageQuery):
    """Selects the reports to list, newest first."""

    cluster: str = ""
    group: str = ""
    definition: int | None = None
    limit: int = newest(100, MOST_RUNS)


class ViewQuery(Schema):
    """The view of a finished report."""

    by: str = ""
    topic: str = ""
    consumer: str = ""
    strategy: str = Field("", description="whose members are shown over time")


class DownloadQuery(ViewQuery):
    """The table for a file that holds only one, and the paper of a PDF."""

    table: str = Field("", description="lag_by_queue, …; empty: of the grouping")
    paper: str = Field("a4", description="a4 or letter")


class FigureQuery(OldNames, ViewQuery):
    """The part of the period that is shown: local times, or times with a zone."""

    OLD_NAMES: ClassVar[Mapping[str, str]] = {"since": "from_", "until": "to"}

    since: str = ""
    until: str = ""
    from_: str = old("", "since", alias="from")
    to: str = old("", "until")

    @property
    def window(self) -> dict[str, str]:
        """The part as the address of the page has it."""
        return {"from": self.since, "to": self.until}


class EvennessOut(Schema):
    """How evenly load or lag was spread over the members; null where not known."""

    max_to_mean: float | None
    variation: float | None
    gini: float | None


class StrategyOut(Schema):
    """One strategy over the period; spans are in seconds."""

    name: str
    in_use: bool
    is_assumed: bool
    is_best: bool
    rank: int | None
    max_to_mean: float | None
    load: EvennessOut
    lag: EvennessOut
    idle_share: float | None
    moves: int | None
    moves_per_change: float | None
    drain: float | None
    never: float | None
    overload: float | None
    unowned: int | None
    epochs: int | None
    known: float | None


class VerdictOut(Schema):
    """Whether another strategy would have been better, in words."""

    answer: Literal["unknown", "keep", "alike", "change"]
    text: str
    further: list[str]


class FactsOut(Schema):
    """The figures at the head of a report, its strategies, and the verdict."""

    peak: float | None
    peak_at: datetime | None
    peak_is_least: bool | None
    oldest_ms: float | None
    oldest_at: datetime | None
    oldest_is_least: bool | None
    behind_seconds: float | None
    aged_seconds: float
    collected_seconds: float
    whole_seconds: float
    partial_seconds: float
    missing_seconds: float
    idle_seconds: float
    unknown_within_seconds: float
    step_seconds: float
    partial_spans: int
    missing_spans: int
    epochs: int
    rebalances: int
    in_rate: float | None
    out_rate: float | None
    skew: float | None
    strategies: list[StrategyOut]
    verdict: VerdictOut | None


class FigureOut(Schema):
    """A figure as Plotly draws it; `meta` gives the step and what it is made of."""

    data: list[dict[str, Any]]
    layout: dict[str, Any]
    meta: dict[str, Any]


class ReportAlertOut(Schema):
    """One group (or broker) of an alert, as it was when the report was made."""

    alert: int
    group: str | None
    broker: str | None
    opened_at: datetime
    closed_at: datetime | None = Field(
        description="null: open when the report was made"
    )
    severity: Literal["crit", "warn"]
    rule: str
    kind: str
    finding: str | None
    team: str | None
    how_it_ended: str | None
    acknowledged_at: datetime | None
    acknowledged_by: str | None


class ReportAlertsOut(Schema):
    """The alerts of a report's period, oldest first.

    `kept` is false for a report made before reports held alerts: it knows of none.
    Of `total`, the newest 5,000 are held. Those that closed before `deleted_before`
    were already deleted when the report was made; it is null if the period is newer.
    """

    kept: bool
    total: int
    deleted_before: datetime | None
    alerts: list[ReportAlertOut]
