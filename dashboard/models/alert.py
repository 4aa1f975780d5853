"""Alerts: rules, whom they tell, silences, what has fired, and what is to be sent.

The leader of a cluster alone opens and closes its alerts; that an alert is open once is
a constraint here, whoever writes. What is to be told is written in the same transaction
(`AlertMessage`, the outbox), so that no restart loses it.
"""

from __future__ import annotations

from typing import ClassVar

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from .fields import NameField, SealedField, StorableJSONField, StorableTextField
from .user import User


class Channel(models.Model):
    """A place to which messages are sent: the address of a chat, mailbox or webhook.

    `address` is a URL as `apprise` reads it, which may hold passwords: it is encrypted
    with the secret key. `language` is that of the messages.
    """

    name = NameField(max_length=60, unique=True)
    address = SealedField()
    language = models.CharField(max_length=16, default="en")
    on = models.BooleanField(default=True)

    class Meta:
        ordering: ClassVar = ["name"]

    def __str__(self) -> str:
        return self.name


class AlertRule(models.Model):
    """What must hold of which groups or brokers, for how long, and who is told.

    `cluster` is a name, empty for every cluster; `groups` is a pattern as in `Grant`,
    empty for every group; `team` the name of the team that owns them, empty for any.
    The unit of `limit` and `clear_limit` depends on the kind: messages, milliseconds,
    members, or a ratio. `finding` is a rule of findings, or a level.
    """

    class Kind(models.TextChoices):
        LAG = "lag", _("Lag")
        OLDEST = "oldest", _("Age of the oldest message")
        DRAIN = "drain", _("Time to drain the lag")
        IN_STOPS = "in_stops", _("No message arrives")
        OUT_STOPS = "out_stops", _("A queue stands still")
        FINDING = "finding", _("Finding")
        MEMBERS = "members", _("Fewer members than")
        SKEW = "skew", _("Skew over members")
        DEAD_LETTERS = "dead_letters", _("Dead letters that come")
        BROKER = "broker", _("A broker does not answer")

    class Severity(models.TextChoices):
        CRITICAL = "crit", _("critical")
        WARNING = "warn", _("warning")

    name = NameField(max_length=80, unique=True)
    kind = models.CharField(max_length=16, choices=Kind.choices)
    limit = models.FloatField(null=True, blank=True)
    clear_limit = models.FloatField(null=True, blank=True)
    finding = models.CharField(max_length=40, blank=True)
    within_s = models.PositiveIntegerField(default=600)
    hold_s = models.PositiveIntegerField(default=0)
    clear_s = models.PositiveIntegerField(default=0)
    severity = models.CharField(
        max_length=8, choices=Severity.choices, default=Severity.WARNING
    )
    cluster = NameField(max_length=63, blank=True)
    groups = NameField(max_length=255, blank=True)
    team = NameField(max_length=80, blank=True)
    channels = models.ManyToManyField(Channel, blank=True, related_name="rules")
    escalate_after_s = models.PositiveIntegerField(null=True, blank=True)
    escalation = models.ManyToManyField(Channel, blank=True, related_name="+")
    on = models.BooleanField(default=True)
    changed_at = models.DateTimeField(auto_now=True)
    changed_by_name = NameField(max_length=150, blank=True)

    class Meta:
        ordering: ClassVar = ["name"]

    def __str__(self) -> str:
        return self.name


class Silence(models.Model):
    """A time in which alerts are not told: a silence, or a maintenance window.

    Alerts still open and close. One that is open when the silence ends is told then.
    """

    cluster = NameField(max_length=63, blank=True)
    groups = NameField(max_length=255, blank=True)
    rule = models.ForeignKey(AlertRule, null=True, blank=True, on_delete=models.CASCADE)
    starts_at = models.DateTimeField()
    ends_at = models.DateTimeField(db_index=True)
    reason = StorableTextField()
    by_name = NameField(max_length=150)

    class Meta:
        ordering: ClassVar = ["-ends_at", "-pk"]

    def __str__(self) -> str:
        return f"{self.cluster or '*'} {self.groups or '*'} until {self.ends_at}"


class Alerts(models.QuerySet["Alert"]):
    def seen_by(self, user: User) -> Alerts:
        """Keep those of clusters that a user may look at."""
        names = user.clusters_seen
        return self if names is None else self.filter(cluster__in=names)

    def open(self) -> Alerts:
        """Keep those that are open."""
        return self.filter(closed_at=None)


class Alert(models.Model):
    """One thing that is wrong: a rule, in a cluster, for one reason.

    `cause` is the finding that explains it, empty if none does; `key` tells apart what
    may be open at the same time. `told_at` is when the first message was written, and
    `told_subjects` how many groups the messages have named so far. Rules may change or
    go: their name, kind and severity are those of the time of opening.
    """

    class End(models.TextChoices):
        CLEARED = "cleared", _("it is over")
        GONE = "gone", _("the group is gone")
        RULE = "rule", _("the rule was changed or switched off")
        CLUSTER = "cluster", _("the cluster was removed")

    rule = models.ForeignKey(
        AlertRule, null=True, on_delete=models.SET_NULL, related_name="alerts"
    )
    rule_name = NameField(max_length=80)
    kind = models.CharField(max_length=16, choices=AlertRule.Kind.choices)
    severity = models.CharField(max_length=8, choices=AlertRule.Severity.choices)
    cluster = NameField(max_length=63)
    cause = models.CharField(max_length=40, blank=True)
    key = NameField(max_length=255)
    opened_at = models.DateTimeField(db_index=True)
    closed_at = models.DateTimeField(null=True, db_index=True)
    end = models.CharField(max_length=8, choices=End.choices, blank=True)
    told_at = models.DateTimeField(null=True)
    told_subjects = models.PositiveIntegerField(default=0)
    acknowledged_at = models.DateTimeField(null=True)
    acknowledged_by_name = NameField(max_length=150, blank=True)
    escalated_at = models.DateTimeField(null=True)

    objects = Alerts.as_manager()

    class Meta:
        ordering: ClassVar = ["-opened_at", "-pk"]
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["rule", "cluster", "key"],
                condition=Q(closed_at=None),
                name="open_once",
            )
        ]
        indexes: ClassVar = [models.Index(fields=["cluster", "-opened_at"])]

    def __str__(self) -> str:
        return f"{self.rule_name} in {self.cluster} ({self.cause or 'no cause'})"


class AlertSubject(models.Model):
    """A group, or a broker, that an alert is about; `name` is its name.

    `began_at` is when the condition was first seen to hold. `facts` are those of the
    time of opening, as `dashboard.alerting.facts` describes them.
    """

    alert = models.ForeignKey(Alert, on_delete=models.CASCADE, related_name="subjects")
    name = NameField(max_length=255)
    began_at = models.DateTimeField()
    opened_at = models.DateTimeField()
    closed_at = models.DateTimeField(null=True)
    facts = StorableJSONField(default=dict)

    class Meta:
        ordering: ClassVar = ["pk"]
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["alert", "name"],
                condition=Q(closed_at=None),
                name="subject_once",
            )
        ]
        indexes: ClassVar = [models.Index(fields=["name"])]

    def __str__(self) -> str:
        return self.name


class AlertMessage(models.Model):
    """A message to one channel: written with the event, sent until it is accepted.

    What it says is worked out when it is sent; `content` has from which group on
    (`after`) those are that it tells of. A row is claimed until `claimed_until` by the
    process that sends it. If that process ends without an answer, the message is sent
    again, and says so.
    """

    class What(models.TextChoices):
        OPENED = "opened", _("opened")
        MORE = "more", _("more groups")
        ESCALATED = "escalated", _("escalated")
        CLOSED = "closed", _("closed")
        TEST = "test", _("test")

    class State(models.TextChoices):
        WAITING = "waiting", _("waiting")
        SENT = "sent", _("accepted")
        GIVEN_UP = "given_up", _("given up")

    alert = models.ForeignKey(
        Alert, null=True, on_delete=models.CASCADE, related_name="messages"
    )
    channel = models.ForeignKey(Channel, null=True, on_delete=models.SET_NULL)
    channel_name = NameField(max_length=60)
    what = models.CharField(max_length=10, choices=What.choices)
    number = models.PositiveIntegerField(default=0)
    content = StorableJSONField(default=dict)
    made_at = models.DateTimeField()
    state = models.CharField(max_length=8, choices=State.choices, default=State.WAITING)
    due_at = models.DateTimeField()
    attempts = models.PositiveSmallIntegerField(default=0)
    claim = models.CharField(max_length=32, blank=True)
    claimed_until = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)
    error = StorableTextField(blank=True)

    class Meta:
        ordering: ClassVar = ["pk"]
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["alert", "channel", "what", "number"], name="told_once"
            )
        ]
        indexes: ClassVar = [models.Index(fields=["state", "due_at"])]

    def __str__(self) -> str:
        return f"{self.what} to {self.channel_name} ({self.state})"
