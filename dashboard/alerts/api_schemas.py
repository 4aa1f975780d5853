"""What the REST API takes and answers about alerts."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

from ninja import Schema
from pydantic import AwareDatetime, Field

from dashboard.alerting.kinds import ABOUT
from dashboard.frame.reasons import MAX_REASON
from dashboard.models import AlertRule, Channel, Silence
from dashboard.rest.paging import PageQuery, newest

from .channel_writes import MOST_ADDRESS, scheme_of
from .reads import ShownAlert
from .rule_writes import LONGEST_S, MOST_CHANNELS_OF_RULE, RuleFields

Seconds = Annotated[int, Field(ge=0, le=LONGEST_S)]


class AlertsQuery(PageQuery):
    """Which alerts; those that were open at some time of [since, until)."""

    limit: int = newest(100)
    open: bool | None = Field(None, description="only open ones, or only closed ones")
    group: str = Field("", max_length=255, description="a part of a name in it")
    rule: str = Field("", max_length=80, description="the name of a rule")
    severity: str = Field("", max_length=8, description="crit or warn")
    since: AwareDatetime | None = None
    until: AwareDatetime | None = None


class SubjectOut(Schema):
    """A group or broker of an alert; `facts` are those of the time of opening."""

    name: str
    said: str
    why: str
    advice: str
    began_at: datetime
    opened_at: datetime
    closed_at: datetime | None
    facts: dict[str, Any]


class AlertMessageOut(Schema):
    """A message to a channel: waiting, sent (accepted) or given_up."""

    channel: str
    what: str
    state: str
    made_at: datetime
    ended_at: datetime | None
    attempts: int
    error: str


class AlertOut(Schema):
    """An alert; `cause` is the key of the finding that explains it, if one does.

    `end` is empty while it is open, then cleared, gone, rule or cluster. Of the
    groups the first are described; `subject_count` is how many there are.
    """

    id: int
    cluster: str
    rule: str
    rule_id: int | None
    kind: str
    severity: str
    title: str
    cause: str
    opened_at: datetime
    closed_at: datetime | None
    end: str
    acknowledged_at: datetime | None
    acknowledged_by: str
    escalated_at: datetime | None
    silenced_until: datetime | None
    subject_count: int
    subjects: list[SubjectOut]
    messages: list[AlertMessageOut]

    @classmethod
    def of(cls, shown: ShownAlert) -> AlertOut:
        """Return an alert in the language of the request."""
        row = shown.alert
        subjects = [
            SubjectOut(
                name=subject.name,
                said=said.what,
                why=said.why,
                advice=said.advice,
                began_at=subject.began_at,
                opened_at=subject.opened_at,
                closed_at=subject.closed_at,
                facts=subject.facts,
            )
            for subject, said in zip(shown.named, shown.said.subjects, strict=True)
        ]
        messages = [
            AlertMessageOut(
                channel=each.channel_name,
                what=each.what,
                state=each.state,
                made_at=each.made_at,
                ended_at=each.ended_at,
                attempts=each.attempts,
                error=each.error,
            )
            for each in shown.messages
        ]
        return cls(
            id=row.pk,
            cluster=row.cluster,
            rule=row.rule_name,
            rule_id=row.rule_id,
            kind=row.kind,
            severity=row.severity,
            title=shown.said.title,
            cause=row.cause,
            opened_at=row.opened_at,
            closed_at=row.closed_at,
            end=row.end,
            acknowledged_at=row.acknowledged_at,
            acknowledged_by=row.acknowledged_by_name,
            escalated_at=row.escalated_at,
            silenced_until=shown.silence.ends_at if shown.silence else None,
            subject_count=len(shown.subjects),
            subjects=subjects,
            messages=messages,
        )


class SilenceIn(Schema):
    """What is not told, until when and why; it starts now without `starts_at`.

    Without `groups`, a pattern, it is about every group, without `rule`, an id, about
    every rule.
    """

    groups: str = Field("", max_length=255)
    rule: int | None = Field(None, ge=1)
    starts_at: AwareDatetime | None = None
    ends_at: AwareDatetime
    reason: str = Field(max_length=MAX_REASON)


class SilenceOut(Schema):
    """A silence; an empty cluster is every cluster, an empty pattern every group."""

    id: int
    cluster: str
    groups: str
    rule: str | None
    starts_at: datetime
    ends_at: datetime
    reason: str
    by: str = Field(alias="by_name")

    @staticmethod
    def resolve_rule(row: Silence) -> str | None:
        return row.rule.name if row.rule else None


class RuleIn(Schema):
    """A rule; its figures are in the unit of its kind.

    That is messages (lag, dead_letters), milliseconds (oldest, drain, in_stops,
    out_stops, broker), members, or a ratio (skew). `finding` is a finding, or a level
    (crit, warn). `channels` and `escalation` are names of channels.
    """

    name: str = Field(max_length=80)
    kind: str = Field(max_length=16, description=", ".join(ABOUT))
    limit: float | None = Field(None, ge=0)
    clear_limit: float | None = Field(None, ge=0, description="to close, or the limit")
    finding: str = Field("", max_length=40)
    within_s: Seconds = Field(600, description="of dead letters: how recent")
    hold_s: Seconds = 0
    clear_s: Seconds = 0
    severity: str = Field("warn", max_length=8, description="crit or warn")
    every_cluster: bool = False
    groups: str = Field("", max_length=255)
    team: str = Field("", max_length=60, description="the name of a team")
    channels: list[str] = Field([], max_length=MOST_CHANNELS_OF_RULE)
    escalate_after_s: Seconds | None = None
    escalation: list[str] = Field([], max_length=MOST_CHANNELS_OF_RULE)
    on: bool = True

    def wish(self, cluster: str) -> RuleFields:
        """Return the fields of the rule, for a cluster of the address."""
        given = self.dict(exclude={"every_cluster"})
        return RuleFields(**given, cluster="" if self.every_cluster else cluster)


class RuleOut(Schema):
    """A rule, and how it stands: firing, unknown, quiet, silenced or off.

    `fired` is how often it opened an alert here in the last seven days.
    """

    id: int
    name: str
    kind: str
    limit: float | None
    clear_limit: float | None
    finding: str
    within_s: int
    hold_s: int
    clear_s: int
    severity: str
    cluster: str
    groups: str
    team: str
    channels: list[str]
    escalate_after_s: int | None
    escalation: list[str]
    on: bool
    changed_at: datetime
    changed_by: str
    state: str | None = None
    fired: int | None = None
    last_fired_at: datetime | None = None

    @classmethod
    def of(cls, rule: AlertRule, **standing: Any) -> RuleOut:
        """Return a rule, with how it stands if that is given."""
        names = [name for name in cls.model_fields if hasattr(rule, name)]
        given = {name: getattr(rule, name) for name in names}
        for name in ("channels", "escalation"):
            given[name] = [each.name for each in getattr(rule, name).all()]
        return cls(**given, changed_by=rule.changed_by_name, **standing)


class ChannelIn(Schema):
    """A channel; without an address, one that is changed keeps its own."""

    name: str = Field(max_length=60)
    address: str = Field(
        "", max_length=MOST_ADDRESS, description="a URL as Apprise reads it; a secret"
    )
    language: str = Field("en", max_length=16)
    on: bool = True


class ChannelOut(Schema):
    """A channel; of its address, only the scheme is ever told."""

    id: int
    name: str
    scheme: str
    language: str
    on: bool

    @staticmethod
    def resolve_scheme(row: Channel) -> str:
        return scheme_of(row)


class TestOut(Schema):
    """A test message: waiting, sent (accepted) or given_up, with its error."""

    id: int
    channel: str = Field(alias="channel_name")
    state: str
    error: str
