"""What a scrape returned, as values."""

from __future__ import annotations

from django.test import Client
from prometheus_client.parser import text_string_to_metric_families


def values(text: str) -> dict[str, float]:
    """Return the samples by name and their labels' values, sorted by label."""
    return {
        "|".join([sample.name, *(v for _, v in sorted(sample.labels.items()))]): (
            sample.value
        )
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def scrape(path: str) -> dict[str, float]:
    """Return the samples of an address that answers 200."""
    answer = Client().get(path)
    assert answer.status_code == 200, answer.content
    return values(answer.content.decode())


def of(found: dict[str, float], end: str) -> dict[str, float]:
    """Return the samples whose last labels are `end`, by the name of the metric."""
    return {
        name.removesuffix(f"|{end}"): value
        for name, value in found.items()
        if name.endswith(f"|{end}")
    }
