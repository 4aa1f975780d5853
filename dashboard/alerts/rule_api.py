"""REST routes of the rules of alerts, and of the channels that they tell."""

from __future__ import annotations

from typing import Any, Final

from django.http import HttpRequest
from django.utils import timezone
from ninja import Router, Status

from dashboard.accounts.permissions import user_of
from dashboard.models import AlertRule, Channel
from dashboard.rest.asking import cluster_named, the_first
from dashboard.rest.paging import paged
from dashboard.rest.schemas import Problem

from .api_schemas import ChannelIn, ChannelOut, RuleIn, RuleOut, TestOut
from .channel_writes import delete_channel, save_channel, send_test
from .reads import read_alerting, rule_rows, rules_of, silences_of
from .rule_writes import delete_rule, save_rule

REFUSED: Final[dict[int, Any]] = {422: Problem}

router = Router()


@router.get("/clusters/{cluster}/alert-rules", response={200: list[RuleOut]})
@paged
def rules(request: HttpRequest, cluster: str) -> Any:
    """List the rules about a cluster: firing, unknown, quiet, silenced, off."""
    name, now = cluster_named(cluster).name, timezone.now()
    silences = list(silences_of(name).filter(ends_at__gt=now))
    rows = rule_rows(user_of(request), name, read_alerting(name), silences, now)
    return [
        RuleOut.of(row.rule, state=row.state, fired=row.fired, last_fired_at=row.last)
        for row in rows
    ]


@router.post("/clusters/{cluster}/alert-rules", response={201: RuleOut, **REFUSED})
def rule_add(request: HttpRequest, cluster: str, body: RuleIn) -> Any:
    """Make a rule; it is judged from the next sweep on."""
    wish = body.wish(cluster_named(cluster).name)
    return Status(201, RuleOut.of(save_rule(wish, by=user_of(request))))


@router.get("/clusters/{cluster}/alert-rules/{pk}", response={200: RuleOut})
def rule(request: HttpRequest, cluster: str, pk: int) -> Any:
    """Return one rule."""
    return RuleOut.of(_rule(cluster, pk))


@router.put("/clusters/{cluster}/alert-rules/{pk}", response={200: RuleOut, **REFUSED})
def rule_change(request: HttpRequest, cluster: str, pk: int, body: RuleIn) -> Any:
    """Change a rule; values that are left out are those of a new one."""
    present, wish = _rule(cluster, pk), body.wish(cluster)
    return RuleOut.of(save_rule(wish, by=user_of(request), rule=present))


@router.delete("/clusters/{cluster}/alert-rules/{pk}", response={204: None})
def rule_delete(request: HttpRequest, cluster: str, pk: int) -> Any:
    """Delete a rule with its silences; what is open by it closes."""
    delete_rule(_rule(cluster, pk), by=user_of(request))
    return Status(204, None)


@router.get("/alert-channels", response={200: list[ChannelOut]})
@paged
def channels(request: HttpRequest) -> Any:
    """List the channels, without their addresses."""
    return Channel.objects.all()


@router.post("/alert-channels", response={201: ChannelOut, **REFUSED})
def channel_add(request: HttpRequest, body: ChannelIn) -> Any:
    """Make a channel; its address is checked, encrypted and never told again."""
    return Status(201, save_channel(**body.dict(), by=user_of(request)))


@router.put("/alert-channels/{pk}", response={200: ChannelOut, **REFUSED})
def channel_change(request: HttpRequest, pk: int, body: ChannelIn) -> Any:
    """Change a channel, which keeps its address unless one is given."""
    return save_channel(**body.dict(), by=user_of(request), channel=_channel(pk))


@router.post("/alert-channels/{pk}/test", response={202: TestOut})
def channel_test(request: HttpRequest, pk: int) -> Any:
    """Have a test sent to a channel; one that waits already is returned."""
    return Status(202, send_test(_channel(pk), by=user_of(request)))


@router.delete("/alert-channels/{pk}", response={204: None})
def channel_delete(request: HttpRequest, pk: int) -> Any:
    """Delete a channel; rules that tell it do so no longer."""
    delete_channel(_channel(pk), by=user_of(request))
    return Status(204, None)


def _rule(cluster: str, pk: int) -> AlertRule:
    found = rules_of(cluster_named(cluster).name).filter(pk=pk)
    return the_first(found, f"no rule {pk} about cluster {cluster!r}")


def _channel(pk: int) -> Channel:
    return the_first(Channel.objects.filter(pk=pk), f"no channel {pk}")
