"""Which rows of the table of rules are shown: by text, state and severity."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Final
from urllib.parse import urlencode

from dashboard.models import AlertRule

from .reads import RuleRow
from .words import RULE_STATES

LONGEST: Final = 255


@dataclass(frozen=True, slots=True)
class RuleFilters:
    """What to keep; empty keeps all.

    `q` is a part of a rule's name, of its pattern of groups, or of a channel's name.
    """

    q: str = ""
    state: str = ""
    severity: str = ""

    @classmethod
    def of(cls, params: Mapping[str, str]) -> RuleFilters:
        """Read the parameters of an address; what does not exist counts as empty."""
        state, severity = params.get("state", ""), params.get("severity", "")
        return cls(
            params.get("q", "").strip()[:LONGEST],
            state if state in RULE_STATES else "",
            severity if severity in AlertRule.Severity.values else "",
        )

    @property
    def query(self) -> str:
        """The part of an address that makes these filters."""
        return urlencode({name: value for name, value in asdict(self).items() if value})

    def chosen(self, rows: Iterable[RuleRow]) -> list[RuleRow]:
        """Return the rows that match all filters, in their order."""
        return [row for row in rows if self._keeps(row)]

    def _keeps(self, row: RuleRow) -> bool:
        rule = row.rule
        texts = (rule.name, rule.groups, row.channels)
        return (
            self.state in {"", row.state}
            and self.severity in {"", rule.severity}
            and any(self.q.casefold() in text.casefold() for text in texts)
        )
