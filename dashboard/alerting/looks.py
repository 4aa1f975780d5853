"""What one look at a group or a broker tells the rules of alerts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dashboard.live.documents import (
    BrokerCondition,
    FindingState,
    OverviewRow,
    RulesState,
)
from rmqcore.model.snapshot import QueueTable


@dataclass(frozen=True, slots=True)
class GroupLook:
    """A group at one moment: one set of facts, from the sight of the collector.

    `owners` and `rates_out` (messages a second) follow the rows of `table`; either may
    be shorter where nothing is known. `silent` are the members that were asked what
    they hold and did not answer. `dead_letters` is how many ever came, None if unknown.
    """

    at_ms: int
    row: OverviewRow
    table: QueueTable
    owners: Sequence[tuple[str, ...]]
    rates_out: Sequence[float | None]
    findings: Sequence[FindingState]
    rules: RulesState | None
    dead_letters: int | None
    silent: tuple[str, ...] = ()

    @property
    def group(self) -> str:
        """The name of the group."""
        return self.row["group"]


@dataclass(frozen=True, slots=True)
class BrokerLook:
    """A broker at one moment; `since_ms` is when its condition began."""

    at_ms: int
    name: str
    condition: BrokerCondition
    since_ms: int | None
    address: str | None = None
    error: str | None = None
