"""A snapshot as text for people: aligned columns, unknown values by their reason."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Final

from rmqcore.model.columns import Column
from rmqcore.model.snapshot import (
    BrokerSnapshot,
    ClusterSnapshot,
    GroupSnapshot,
    MemberSnapshot,
    Owners,
    StrategySource,
)

_QUEUE_HEADS: Final = (
    *("topic", "broker", "queue", "min", "max"),
    *("committed", "lag", "lag ms", "owners", "known by"),
)


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return the rows under their heads, with numbers aligned right."""
    lines = [tuple(heads), *map(tuple, rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    numeric = [
        len(lines) > 1 and all(cell.isdigit() for cell in column)
        for column in zip(*lines[1:], strict=True)
    ] or [False] * len(heads)
    return "\n".join(
        "  ".join(
            cell.rjust(width) if right else cell.ljust(width)
            for cell, width, right in zip(line, widths, numeric, strict=True)
        ).rstrip()
        for line in lines
    )


def snapshot_text(snapshot: ClusterSnapshot) -> str:
    """Return the brokers, then all groups, the one with the largest lag first."""
    groups = sorted(
        snapshot.groups.values(), key=lambda g: (-g.queues.lag.total(), g.name)
    )
    return "\n\n".join(
        (
            _heading(snapshot),
            _brokers(snapshot.brokers),
            table(
                ("group", "kind", "members", "queues", "lag", "strategy"),
                [
                    (
                        group.name,
                        group.kind,
                        str(len(group.members)),
                        str(len(group.queues)),
                        _total(group.queues.lag),
                        _strategy(group),
                    )
                    for group in groups
                ],
            ),
        )
    )


def group_text(snapshot: ClusterSnapshot, group: GroupSnapshot) -> str:
    """Return one group: its members, then its queues with their owners."""
    queues = group.queues
    return "\n\n".join(
        (
            _heading(snapshot),
            _brokers(snapshot.brokers),
            f"group {group.name}: {group.kind}, strategy {_strategy(group)}",
            table(
                ("client id", "address", "language", "version", "strategy"),
                map(_member, group.members),
            ),
            table(
                _QUEUE_HEADS,
                [
                    (
                        topic,
                        broker,
                        str(queue_id),
                        *(
                            _cell(column, row)
                            for column in (
                                queues.min,
                                queues.max,
                                queues.committed,
                                queues.lag,
                                queues.lag_ms,
                            )
                        ),
                        *_owners(group.owners, row),
                    )
                    for row, (topic, broker, queue_id) in enumerate(queues.keys)
                ],
            ),
        )
    )


def _heading(snapshot: ClusterSnapshot) -> str:
    taken = datetime.fromtimestamp(snapshot.taken_at_ms / 1000, UTC)
    answered = sum(broker.answered for broker in snapshot.brokers)
    return (
        f"{snapshot.nameserver} at {taken:%Y-%m-%d %H:%M:%S} UTC: "
        f"{answered} of {len(snapshot.brokers)} brokers answered, "
        f"{len(snapshot.topics)} topics, {len(snapshot.groups)} groups, "
        f"{snapshot.took_ms / 1000:.2f} s"
    )


def _brokers(brokers: Iterable[BrokerSnapshot]) -> str:
    return table(
        ("broker", "cluster", "asked", "version", "answer"),
        [
            (
                broker.name,
                broker.cluster,
                (broker.asked_address or "-") + (" (slave)" if broker.stale else ""),
                broker.version or "-",
                broker.error or f"in {broker.took_ms or 0:.0f} ms",
            )
            for broker in brokers
        ],
    )


def _member(member: MemberSnapshot) -> tuple[str, ...]:
    return (
        member.client_id,
        member.address,
        member.language,
        member.version,
        member.strategy or _words(member.reason or "not_listed"),
    )


def _strategy(group: GroupSnapshot) -> str:
    if group.strategy is None:
        return _words(group.unknown.get("strategy", "-"))
    assumed = group.strategy_source is StrategySource.ASSUMED
    return f"{group.strategy} (assumed)" if assumed else group.strategy


def _owners(owners: Owners, row: int) -> tuple[str, str]:
    if owners.reason is not None:
        return _words(owners.reason), "-"
    return ", ".join(owners.by_row[row]) or "nobody", owners.sources[row] or "-"


def _cell(column: Column, row: int) -> str:
    value = column[row]
    return _words(column.reason(row) or "-") if value is None else str(value)


def _total(column: Column) -> str:
    total = str(column.total())
    if column.complete:
        return total
    return f"{total} of {column.known_rows}/{len(column)} queues"


def _words(reason: str) -> str:
    return reason.replace("_", " ")
