"""How large everything that grows may become, in the words of docs/operations.md.

A test compares the names with the rows there. If a bound is a time and not a size,
`most` is what a machine for this many groups must have room for at that time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Final

MB: Final = 1024 * 1024
_DAY_H: Final = 24.0
_YEARS_H: Final = 400 * _DAY_H
_EPOCHS_H: Final = 90 * _DAY_H
_SAMPLES_H: Final = 49.0
"""Two days, and the hour for which files are kept after their time."""


@dataclass(frozen=True, slots=True)
class Bound:
    """What one row may reach; `grows_h` hours pass before something is removed.

    Where what is over goes at once, or nothing more is accepted, that is 0.
    """

    most: int
    unit: str
    grows_h: float = 0.0
    for_each_group: bool = False
    may_be_endless: bool = False
    """Whether keys of Redis may have no time to live."""

    def for_groups(self, groups: int) -> int:
        """Return the bound where there are so many groups."""
        return self.most * groups if self.for_each_group else self.most


def _rows(most: int, grows_h: float = 0.0, *, for_each_group: bool = False) -> Bound:
    return Bound(most, "rows", grows_h, for_each_group)


def _mb(most: int, grows_h: float = 0.0) -> Bound:
    return Bound(most * MB, "bytes", grows_h)


def _keys(most: int, *, for_each_group: bool = False, ends: bool = False) -> Bound:
    return Bound(most, "keys", 0.0, for_each_group, may_be_endless=not ends)


def _held(most_mb: int, *, ends: bool = False) -> Bound:
    """Return the bound of keys that hold many values each, as lists do."""
    return Bound(most_mb * MB, "bytes", may_be_endless=not ends)


TABLES: Final[Mapping[str, Bound]] = {
    "dashboard_auditentry": _rows(5_000_000, _YEARS_H),
    "dashboard_groupchange": _rows(1_000_000, _YEARS_H),
    "dashboard_offsetchange": _rows(1_000_000, _YEARS_H),
    "dashboard_resendrun": _rows(100_000, 30 * _DAY_H),
    "dashboard_resentletter": _rows(2_000_000, 30 * _DAY_H),
    "dashboard_epoch": _rows(10_001, _EPOCHS_H, for_each_group=True),
    "dashboard_ownershipevent": _rows(10_001, _EPOCHS_H, for_each_group=True),
    "dashboard_alert": _rows(1_000_000, 90 * _DAY_H),
    "dashboard_alertsubject": _rows(2_000_000, 90 * _DAY_H),
    "dashboard_alertmessage": _rows(2_000_000, 90 * _DAY_H),
    "dashboard_silence": _rows(100_000, 90 * _DAY_H),
    "dashboard_alertrule": _rows(500),
    "dashboard_alertrule_channels": _rows(10_000),
    "dashboard_alertrule_escalation": _rows(10_000),
    "dashboard_channel": _rows(200),
    "dashboard_session": _rows(100_000, 30 * _DAY_H),
    "dashboard_jobrun": _rows(100_000, 30 * _DAY_H),
    "dashboard_reportfile": _rows(500_000, 30 * _DAY_H),
    "dashboard_reportdefinition": _rows(1_000),
    "dashboard_savedscenario": _rows(100_000),
    "dashboard_savedview": _rows(100_000),
    "dashboard_grant": _rows(100_000),
    "dashboard_team": _rows(500),
    "dashboard_team_members": _rows(100_000),
    "dashboard_ownership": _rows(1_000),
    "dashboard_groupnote": _rows(20_000),
    "dashboard_token": _rows(100_000),
    "dashboard_secondfactor": _rows(10_000),
    "dashboard_signinlink": _rows(10_000, _DAY_H),
    "dashboard_timerrun": _rows(1_000_000, _DAY_H),
    "dashboard_labrun": _rows(1_000),
    "dashboard_fleetworker": _rows(1_000, 1.0),
    "dashboard_knownbroker": _rows(1_000, _DAY_H),
    "dashboard_managedgroup": _rows(1, for_each_group=True),
    "dashboard_managedmember": _rows(200, for_each_group=True),
    "dashboard_cluster": _rows(100),
    "dashboard_user": _rows(10_000),
    "dashboard_identity": _rows(10_000),
    "dashboard_user_groups": _rows(0),
    "dashboard_user_user_permissions": _rows(0),
    "auth_group": _rows(0),
    "auth_group_permissions": _rows(0),
    "auth_permission": _rows(200),
    "django_content_type": _rows(100),
    "django_migrations": _rows(200),
}

FILES: Final[Mapping[str, Bound]] = {
    "rocketscope.sqlite3": _mb(20_000, _EPOCHS_H),
    "rocketscope.sqlite3-wal": _mb(128),
    "rocketscope.sqlite3-shm": _mb(8),
    "logs/": _mb(2 * 9 * 21),
    "embedded/": _mb(1_024 + 32),
    "lake/landing/": _mb(20_000, _SAMPLES_H),
    "lake/compact/rollup*/": _mb(100_000, _YEARS_H),
    "lake/compact/": _mb(20_000, _SAMPLES_H),
    "lake/manifest/": _mb(200, 1.0),
    "lake/checkpoints/": _mb(200, _SAMPLES_H),
    "lake/results/": _mb(20_000, 30 * _DAY_H),
    "backups/": _mb(20_000),
    "java-shim/": _mb(1),
    "spark/": _mb(5_000),
    "state/": _mb(1),
    "secret_key": _mb(1),
    "supervisor.lock": _mb(1),
}
"""Paths below the var directory; those that end in a slash with all that is in them."""

KEYS: Final[Mapping[str, Bound]] = {
    "rs:group:*": _keys(1, for_each_group=True, ends=True),
    "rs:overview:*": _keys(100, ends=True),
    "rs:columns:*": _keys(100, ends=True),
    "rs:topics:*": _keys(100, ends=True),
    "rs:brokers:*": _held(8, ends=True),
    "rs:clients:*": _held(64, ends=True),
    "rs:names:*": _held(64, ends=True),
    "rs:stack:*": _held(16, ends=True),
    "rs:asked:*": _keys(100, ends=True),
    "rs:alerting:*": _held(1, ends=True),
    "rs:alert-memory:*": _held(64, ends=True),
    "rs:memory:*": _held(64, ends=True),
    "rs:moments:*": _held(128, ends=True),
    "rs:lease:*": _keys(100, ends=True),
    "rs:fence:*": _keys(100),
    "rs:collectors": _held(1, ends=True),
    "rs:watch:*": _held(8, ends=True),
    "rs:scraped:*": _held(8, ends=True),
    "rs:allocation:*": _held(64),
    "rs:gone:*": _held(1),
    "rs:figures:*": _keys(1_000, ends=True),
    "rs:beat": _keys(1, ends=True),
    "rs:lake-gap:*": _keys(100, ends=True),
    "rs:probe": _keys(1, ends=True),
    "rs:fleet:heartbeats": _held(1),
    "rs:1:sign-in:*": _keys(100_000, ends=True),
    "rs:1:token-calls:*": _keys(100_000, ends=True),
    "analytics": _held(1),
    "unacked*": _held(1),
    "_kombu.binding*": _held(1),
}
"""Keys of Redis."""


def pattern_of(name: str, patterns: Mapping[str, Bound]) -> str | None:
    """Return the row that a key, or a path below the var directory, belongs to."""
    found = (p for p in patterns if fnmatchcase(name, p + "*" * p.endswith("/")))
    return next(found, None)


def all_bounds() -> Iterator[tuple[str, Bound]]:
    """Yield every row with its bound."""
    for part in (TABLES, FILES, KEYS):
        yield from part.items()
