"""The filters of the audit trail, which its page and its files share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import timedelta
from typing import Final
from urllib.parse import urlencode

from dashboard.clock.moments import is_day, midnight
from dashboard.models import AuditEntry
from dashboard.models.audit import AuditEntries

from .words import SENTENCES, actions_saying

KINDS: Final = ("sign-ins", "changes")
LONGEST: Final = 150


@dataclass(frozen=True, slots=True)
class Filters:
    """What to keep; empty keeps all. `since` and `until` are days, both included."""

    q: str = ""
    kind: str = ""
    who: str = ""
    action: str = ""
    outcome: str = ""
    cluster: str = ""
    since: str = ""
    until: str = ""

    @property
    def query(self) -> str:
        """The part of an address that makes these filters."""
        return urlencode({name: value for name, value in asdict(self).items() if value})

    @property
    def count(self) -> int:
        """How many are set besides the text and the kind."""
        return sum(bool(v) for n, v in asdict(self).items() if n not in {"q", "kind"})

    def chosen(self) -> AuditEntries:
        """Return the entries that match all filters, newest first."""
        found = AuditEntry.objects.search(self.q, actions_saying(self.q))
        found = found.of_kind(self.kind)
        if self.who:
            found = found.filter(actor_name=self.who)
        for name in ("action", "outcome", "cluster"):
            if value := getattr(self, name):
                found = found.filter(**{name: value})
        if self.since:
            found = found.filter(at__gte=midnight(self.since))
        if self.until:
            found = found.filter(at__lt=midnight(self.until) + timedelta(days=1))
        return found


def read_filters(fields: Mapping[str, str]) -> Filters:
    """Read the filters of an address; a value that cannot be one keeps all."""
    given = {
        name: fields.get(name, "").replace("\0", "").strip()[:LONGEST]
        for name in Filters.__slots__
    }
    allowed = {
        "kind": given["kind"] in KINDS,
        "action": given["action"] in SENTENCES,
        "outcome": given["outcome"] in AuditEntry.Outcome.values,
        "since": is_day(given["since"]),
        "until": is_day(given["until"]),
    }
    return Filters(
        **{n: value if allowed.get(n, True) else "" for n, value in given.items()}
    )
