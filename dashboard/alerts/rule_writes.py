"""Rules of alerts: made, changed, switched and deleted; all of these are audited."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from dashboard.alerting.kinds import ABOUT, LEVELS, Kind
from dashboard.alerting.said import shown_value
from dashboard.findings.rules import RULES
from dashboard.models import AlertRule, Channel, Cluster, Role, Team, User
from dashboard.models.audit import record
from dashboard.models.counting import count_alone

from .refusals import AlertRefusedError
from .rights import may_rule, must

MOST_RULES: Final = 500
"""All are listed on one page, and each is judged for every group that it is about."""
MOST_CHANNELS_OF_RULE: Final = 20
LONGEST_S: Final = 7 * 24 * 3600
"""Of the time that a condition must hold, and of all other times of a rule."""
FINDING_KEYS: Final = tuple(rule.key for rule in RULES)


@dataclass(frozen=True, slots=True)
class RuleFields:
    """The fields of a rule; `channels` and `escalation` are names.

    `limit` and `clear_limit` are in the unit of the kind (`dashboard.alerting.kinds`).
    """

    name: str
    kind: str
    limit: float | None = None
    clear_limit: float | None = None
    finding: str = ""
    within_s: int = 600
    hold_s: int = 0
    clear_s: int = 0
    severity: str = AlertRule.Severity.WARNING
    cluster: str = ""
    groups: str = ""
    team: str = ""
    channels: Sequence[str] = ()
    escalate_after_s: int | None = None
    escalation: Sequence[str] = ()
    on: bool = True

    @classmethod
    def of(cls, rule: AlertRule) -> RuleFields:
        """Return the fields of a rule as it is kept."""
        names = [n for n in cls.__slots__ if n not in {"channels", "escalation"}]
        return cls(
            **{name: getattr(rule, name) for name in names},
            channels=tuple(rule.channels.values_list("name", flat=True)),
            escalation=tuple(rule.escalation.values_list("name", flat=True)),
        )

    def check(self) -> None:
        """Raise AlertRefusedError for the first value that is not valid."""
        if not self.name.strip():
            raise AlertRefusedError(_("The rule needs a name."), "name")
        _one_of("kind", self.kind, Kind.values)
        _one_of("severity", self.severity, AlertRule.Severity.values)
        if self.cluster and not _is_cluster(self.cluster):
            raise AlertRefusedError(
                _("There is no cluster “%(name)s”.") % {"name": self.cluster[:63]},
                "cluster",
            )
        self._check_limits()
        if self.kind == Kind.FINDING:
            _one_of("finding", self.finding, (*LEVELS, *FINDING_KEYS))
        if self.kind == Kind.BROKER and (self.groups or self.team):
            raise AlertRefusedError(
                _("A rule about brokers is about no groups: leave the groups empty."),
                "groups",
            )
        for field in ("within_s", "hold_s", "clear_s", "escalate_after_s"):
            self._check_time(field)
        if self.escalate_after_s is not None and not self.escalation:
            raise AlertRefusedError(
                _("Choose whom to tell when nobody acknowledges an alert."),
                "escalation",
            )
        for field in ("channels", "escalation"):
            if len(getattr(self, field)) > MOST_CHANNELS_OF_RULE:
                raise AlertRefusedError(
                    _("A rule tells at most %(limit)s channels.")
                    % {"limit": MOST_CHANNELS_OF_RULE},
                    field,
                )

    def values(self) -> dict[str, Any]:
        """Return the fields as the table takes them, without what the kind ignores."""
        given = asdict(self) | {
            "name": self.name.strip(),
            "groups": self.groups.strip(),
            "team": checked_team(self.team),
        }
        for name in ("channels", "escalation"):
            del given[name]
        if ABOUT[self.kind].most is None:
            given |= {"limit": None, "clear_limit": None}
        if self.kind != Kind.FINDING:
            given["finding"] = ""
        if not self.escalation:
            given["escalate_after_s"] = None
        return given

    def _check_limits(self) -> None:
        about = ABOUT[self.kind]
        if about.most is None:
            return
        for field, value in (("limit", self.limit), ("clear_limit", self.clear_limit)):
            if value is None and field == "limit":
                raise AlertRefusedError(_("The rule needs a limit."), "limit")
            if value is not None and not (
                math.isfinite(value) and 0 <= value <= about.most
            ):
                shown = shown_value(self.kind, value) if math.isfinite(value) else value
                raise AlertRefusedError(
                    _("%(value)s is not between %(least)s and %(most)s.")
                    % {
                        "value": shown,
                        "least": shown_value(self.kind, 0),
                        "most": shown_value(self.kind, about.most),
                    },
                    field,
                )
        limit, clear = self.limit, self.clear_limit
        if limit is None or clear is None:
            return
        words = {
            "value": shown_value(self.kind, clear),
            "limit": shown_value(self.kind, limit),
        }
        if about.below and clear < limit:
            text = _("It closes at %(value)s, which must be at least %(limit)s.")
            raise AlertRefusedError(text % words, "clear_limit")
        if not about.below and clear > limit:
            text = _("It closes at %(value)s, which must be at most %(limit)s.")
            raise AlertRefusedError(text % words, "clear_limit")

    def _check_time(self, field: str) -> None:
        value = getattr(self, field)
        if value is not None and not 0 <= value <= LONGEST_S:
            raise AlertRefusedError(
                _("%(value)s s is not between 0 and %(most)s s.")
                % {"value": value, "most": LONGEST_S},
                field,
            )


def checked_team(name: str) -> str:
    """Return the name of a team that owns groups, as it is kept; empty for any."""
    name = name.strip()
    if name and not Team.objects.filter(name=name).exists():
        raise AlertRefusedError(
            _("There is no team “%(name)s”.") % {"name": name[:60]}, "team"
        )
    return name


def save_rule(
    wish: RuleFields, *, by: User, rule: AlertRule | None = None
) -> AlertRule:
    """Make a rule, or change one; it is judged by it from the next sweep on.

    Raises AlertRefusedError for values that make no sense or a name that is taken, and
    PermissionDenied for who may make no such rule, or may not change the present one.
    """
    must(may_rule(by, wish.cluster, wish.kind, wish.groups.strip()), by, Role.ADMIN)
    was = None if rule is None else _changed(rule, by)
    wish.check()
    told = {n: _channels(n, getattr(wish, n)) for n in ("channels", "escalation")}
    values = wish.values()
    try:
        with transaction.atomic():
            if was is None:
                _check_room()
            saved = was or AlertRule()
            for name, value in values.items():
                setattr(saved, name, value)
            saved.changed_by_name = by.get_username()
            saved.save()
            for name, rows in told.items():
                getattr(saved, name).set(rows)
            record(
                by,
                "alert_rule.add" if was is None else "alert_rule.change",
                cluster=saved.cluster,
                target=saved.name,
                details={**values, **{n: _names(rows) for n, rows in told.items()}},
            )
    except IntegrityError:
        raise AlertRefusedError(
            _("There is already a rule named “%(name)s”.") % {"name": values["name"]},
            "name",
        ) from None
    return saved


@transaction.atomic
def switch_rule(rule: AlertRule, on: bool, *, by: User) -> None:
    """Switch a rule on or off; what is open by it closes when it is switched off."""
    row = _changed(rule, by)
    if row.on == on:
        return
    row.on, row.changed_by_name = on, by.get_username()
    row.save(update_fields=["on", "changed_by_name", "changed_at"])
    action = "alert_rule.on" if on else "alert_rule.off"
    record(by, action, cluster=row.cluster, target=row.name)


@transaction.atomic
def delete_rule(rule: AlertRule, *, by: User) -> None:
    """Delete a rule with its silences; its past alerts stay."""
    row = _changed(rule, by)
    details = {"kind": row.kind, "limit": row.limit, "groups": row.groups}
    row.delete()
    record(
        by,
        "alert_rule.delete",
        cluster=rule.cluster,
        target=rule.name,
        details=details,
    )


def _changed(rule: AlertRule, by: User) -> AlertRule:
    """Return the rule as it is kept, for who may change it."""
    row = AlertRule.objects.get(pk=rule.pk)
    must(may_rule(by, row.cluster, row.kind, row.groups), by, Role.ADMIN)
    return row


def _channels(field: str, names: Sequence[str]) -> list[Channel]:
    found = {each.name: each for each in Channel.objects.filter(name__in=names)}
    for name in names:
        if name not in found:
            raise AlertRefusedError(
                _("There is no channel “%(name)s”.") % {"name": name[:60]}, field
            )
    return [found[name] for name in dict.fromkeys(names)]


def _names(channels: Sequence[Channel]) -> list[str]:
    return [each.name for each in channels]


def _is_cluster(name: str) -> bool:
    return Cluster.objects.filter(name=name, configured=True).exists()


def _one_of(field: str, value: str, known: Sequence[str]) -> None:
    if value not in known:
        raise AlertRefusedError(
            _("“%(value)s” is none of %(known)s.")
            % {"value": value[:40], "known": ", ".join(known)},
            field,
        )


def _check_room() -> None:
    count_alone("alert rules")
    if AlertRule.objects.count() >= MOST_RULES:
        raise AlertRefusedError(
            _("There are already %(limit)s rules, which is the limit.")
            % {"limit": MOST_RULES},
            "name",
        )
