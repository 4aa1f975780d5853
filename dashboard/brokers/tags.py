"""Filters and tags of the pages of brokers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django import template
from django.utils.safestring import SafeString

from dashboard.frame.tags import unknown
from dashboard.wording import sizes

from .reads import BrokerRow

register = template.Library()


@register.filter(name="bytes")
def size(value: float | None) -> str:
    return unknown() if value is None else sizes.size(value)


@register.filter
def percent(value: float | None) -> str:
    return unknown() if value is None else sizes.percent(value)


@register.simple_tag
def why(row: BrokerRow, key: str) -> SafeString:
    """Write the dash for a figure that is not known, with the reason."""
    return unknown(row.why(key))


@dataclass(frozen=True, slots=True)
class Bucket:
    """How many writes took so long, and their share of all writes, 0 to 1."""

    name: str
    count: int
    share: float


@register.filter
def buckets(spread: Sequence[tuple[str, int]]) -> list[Bucket]:
    """Return the buckets of a spread with their shares."""
    total = sum(count for _, count in spread)
    return [
        Bucket(name, count, count / total if total else 0.0) for name, count in spread
    ]
