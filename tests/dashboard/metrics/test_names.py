"""Rules, board and documentation name the metrics that there are."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.test import Client

from tests.dashboard.conftest import Write
from tests.dashboard.documents import looked_at
from tests.support.launched import ROOT

RULES = ROOT / "deploy/prometheus/rules.yml"
BOARD = ROOT / "deploy/grafana/rocketscope.json"
PAGE = ROOT / "docs/metrics.md"


@pytest.fixture
def names(write: Write) -> set[str]:
    """The names of all metrics, with or without samples."""
    write(looked_at())
    text = "".join(
        Client().get(path).content.decode()
        for path in ("/metrics", "/metrics/groups", "/metrics/queues?group=*")
    )
    return set(re.findall(r"^# TYPE (\w+) ", text, re.MULTILINE))


@pytest.mark.parametrize("path", [RULES, BOARD, PAGE])
def test_only_metrics_that_exist_are_named(path: Path, names: set[str]) -> None:
    # What follows a colon is the name of a recorded series.
    used = set(re.findall(r"(?<!:)\brocketscope_\w+", path.read_text("utf-8")))
    assert used
    assert used - names == set()


def test_the_page_of_metrics_names_them_all(names: set[str]) -> None:
    text = PAGE.read_text("utf-8")
    assert sorted(name for name in names if f"`{name}`" not in text) == []
