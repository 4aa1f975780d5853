"""What is wrong with a cluster, or with the address of a name server, in words."""

from __future__ import annotations

from typing import Final

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from dashboard.brokers.said import say_broker
from dashboard.gateway.probing import STEP_SECONDS, Probe, Verdict
from dashboard.wording.numbers import clock, duration
from dashboard.wording.words import word

from .reads import ClusterRow
from .summary import Summary

_NAMED: Final = 2
"""How many groups and brokers a row names; the page of the cluster has the others."""


def say_state(row: ClusterRow) -> str:
    """Return the state of a cluster in two words."""
    match row.state:
        case "look":
            return _("Needs a look")
        case "partial":
            return _("Partly known")
        case "unreachable":
            return _("Not reachable")
        case "waiting":
            return _("Not collected yet")
        case "warning":
            return _("Falling behind") if row.is_behind else _("Warnings")
        case "healthy":
            return _("Healthy")


def say_what(row: ClusterRow, now_ms: int) -> str:
    """Return the reason for a cluster's state, the worst first."""
    if row.summary is None:
        return _("The collector has not reported on it so far.")
    if row.fresh is None:
        return _unreachable(row.summary, stale=row.stale)
    brokers = _brokers(row.fresh, now_ms)
    groups = _groups(row.fresh)
    parts = [*groups, *brokers] if row.state == "look" else [*brokers, *groups]
    if parts:
        return "; ".join(parts)
    return _("no group needs a look, judged %(span)s ago") % {
        "span": duration(max(0, now_ms - row.fresh.taken_at))
    }


def _groups(summary: Summary) -> list[str]:
    return [
        f"{row['group']}: {word('status', row['status']['word'])}"
        for row in summary.worst[:_NAMED]
    ]


def _brokers(summary: Summary, now_ms: int) -> list[str]:
    said = [
        "".join(say_broker(each.name, each.state, each.since, now_ms)).rstrip(".。")
        for each in summary.troubles[:_NAMED]
    ]
    return said + [
        word("ui", "name_server_silent", address=server["address"])
        for server in summary.unheard[:_NAMED]
    ]


def _unreachable(summary: Summary, *, stale: bool) -> str:
    time = clock(summary.as_of)
    if summary.error:
        if not summary.ever:
            return summary.error
        return _("no answer since %(time)s; %(error)s") % {
            "time": time,
            "error": summary.error,
        }
    if stale:
        return _("nothing was collected since %(time)s; does a collector run?") % {
            "time": time
        }
    errors = [each.told for each in summary.troubles if each.told]
    return _("no broker answers since %(time)s; %(error)s") % {
        "time": time,
        "error": "; ".join(errors[:_NAMED]),
    }


def say_probe(probe: Probe, tls_key: str) -> str:
    """Return what became of the test of an address, and what may help."""
    seconds = f"{STEP_SECONDS:g}"
    said = {
        Verdict.FORBIDDEN: _(
            "No name server can stand at this address, so it is not connected to."
        ),
        Verdict.UNRESOLVED: _("The host name cannot be resolved."),
        Verdict.REFUSED: _("Refused: nothing listens at this port."),
        Verdict.UNREACHABLE: _("There is no way to this host from here."),
        Verdict.SILENT: _("No answer within %(seconds)s s. Is a firewall in between?"),
        Verdict.NO_NAME_SERVER: _("Something listens there, but it is no name server."),
        Verdict.OTHER_SERVER: _(
            "It speaks RocketMQ's protocol, but it is no name server. Is it the "
            "address of a broker or a proxy?"
        ),
        Verdict.DENIED: _("It answers, but does not accept the access key."),
        Verdict.TLS_EXPECTED: _("It expects TLS: set %(key)s=on."),
        Verdict.NO_TLS: _("It does not speak TLS, but %(key)s is on."),
        Verdict.UNTRUSTED: _(
            "It speaks TLS, but its certificate is not accepted; see the settings "
            "%(key)s_…"
        ),
    }
    if probe.verdict is Verdict.ANSWERS:
        count = probe.brokers or 0
        return ngettext(
            "It answers and knows %(n)s broker.",
            "It answers and knows %(n)s brokers.",
            count,
        ) % {"n": count}
    return said[probe.verdict] % {"seconds": seconds, "key": tls_key}
