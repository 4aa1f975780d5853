"""How far the last sweep reached: which brokers and name servers answered."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from dashboard.live.documents import (
    BrokerCondition,
    NameServerState,
    Overview,
    OverviewBroker,
    OverviewRow,
)
from dashboard.live.kept_overviews import made_of
from dashboard.live.overview_rows import count

from .said import BROKERS_NAMED


@dataclass(frozen=True, slots=True)
class BrokerReach:
    """A broker as the last sweep met it; `unlisted_by` counts name servers."""

    document: OverviewBroker
    state: BrokerCondition
    since: int | None
    unlisted_by: int

    @property
    def name(self) -> str:
        return self.document["name"]

    @property
    def told(self) -> str:
        """Its address and error; most errors name the address themselves."""
        address, error = self.document["address"] or "", self.document["error"] or ""
        return error if address in error else " · ".join(filter(None, (address, error)))


@dataclass(frozen=True, slots=True)
class Reach:
    """The parts of a cluster that answered, and those left out of its sums.

    `servers` counts name servers, `unheard` are those that did not answer;
    `partial_lags` counts groups whose lag is known only in part, `partial_groups` those
    of which anything is known only in part. `error` is why the sweep failed as a whole.
    """

    brokers: Sequence[BrokerReach]
    answering: int
    servers: int
    unheard: Sequence[NameServerState]
    partial_lags: int
    partial_groups: int
    error: str

    @property
    def whole(self) -> bool:
        """Whether every broker has answered: what is not listed is not there then."""
        return not (self.error or self.troubles)

    @property
    def unsure(self) -> str:
        """Say why it is not known what else there is; "" where it is known."""
        if self.whole:
            return ""
        named = ", ".join(each.name for each in self.troubles[:BROKERS_NAMED])
        if not named:
            return _("Not known: the last sweep failed.")
        return ngettext(
            "Not known: %(names)s does not answer in full.",
            "Not known: %(names)s do not answer in full.",
            len(self.troubles),
        ) % {"names": named}

    @property
    def troubles(self) -> list[BrokerReach]:
        return [broker for broker in self.brokers if broker.state != "answered"]

    @property
    def no_server(self) -> bool:
        """True when name servers are known and none of them answered."""
        return 0 < self.servers == len(self.unheard)


def reach_of(overview: Overview) -> Reach:
    """Return how far the last sweep reached."""
    return made_of(overview, "reach", lambda: _reach_of(overview))


def _reach_of(overview: Overview) -> Reach:
    servers, rows = overview.get("nameservers", []), overview["groups"]
    brokers = [
        _broker_reach(broker, servers, overview["taken_at"])
        for broker in overview["brokers"]
    ]
    return Reach(
        brokers=brokers,
        answering=sum(_answers(broker) for broker in brokers),
        servers=len(servers),
        unheard=[server for server in servers if not server["answered"]],
        partial_lags=count(rows, _has_partial_lag, ("complete", "lag_partial")),
        partial_groups=count(rows, is_partial, ("complete", "lag_partial")),
        error=overview.get("error") or "",
    )


def _has_partial_lag(row: OverviewRow) -> bool:
    return row["lag_partial"]


def is_partial(row: OverviewRow) -> bool:
    """Tell whether something of a group is not known; older rows cover only lag."""
    return not row.get("complete", not row["lag_partial"])


def _broker_reach(
    broker: OverviewBroker, servers: Sequence[NameServerState], taken_at: int
) -> BrokerReach:
    state, since = broker.get("state"), broker.get("since")
    if state is None:
        state = "answered" if broker["answered"] else "silent"
        age = broker["age_ms"]
        since = None if broker["answered"] or age is None else taken_at - age
    return BrokerReach(
        document=broker,
        state=state,
        since=since,
        unlisted_by=sum(broker["name"] in server["unlisted"] for server in servers),
    )


def _answers(broker: BrokerReach) -> bool:
    """Tell whether a broker answered everything itself, listed or not."""
    return broker.document["answered"] and broker.state in {"answered", "missing"}
