"""A real Prometheus scrapes the demo, and the shipped rules and board work on it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from urllib.request import urlopen

import pytest

from tests.support.launched import ROOT, LaunchedStack
from tests.support.prometheus import Prometheus, promtool, running_prometheus
from tests.support.waiting import wait_until

pytestmark = [pytest.mark.embedded, pytest.mark.timeout(1800)]

PATHS = ("/metrics", "/metrics/groups", "/metrics/queues?group=demo-*")
GROUP = 'group="demo-consumers"'
# What is empty in a cluster where nothing is wrong.
EMPTY_WHEN_WELL = {"Queues without an owner", "Findings that hold now"}


@pytest.fixture(scope="module")
def prometheus(
    stack: LaunchedStack, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Prometheus]:
    stack.sign_in_link()
    folder = tmp_path_factory.mktemp("prometheus") / "server"
    with running_prometheus(folder, web=stack.listen) as running:
        wait_until(
            lambda: running.query(f"rocketscope_queue_lag_messages{{{GROUP}}}"),
            "the demo's group in Prometheus",
        )
        yield running


@pytest.mark.parametrize("path", PATHS)
def test_what_is_scraped_keeps_to_the_conventions(
    stack: LaunchedStack, prometheus: Prometheus, path: str
) -> None:
    with urlopen(stack.address + path, timeout=60) as answer:
        text = answer.read().decode()
    assert GROUP in text or path == "/metrics"
    checked = promtool("check", "metrics", given=text)
    assert (checked.returncode, checked.stdout, checked.stderr) == (0, "", "")


def test_every_scrape_of_the_shipped_configuration_works(
    prometheus: Prometheus,
) -> None:
    jobs = ("rocketscope", "rocketscope-groups", "rocketscope-queues")
    # Prometheus spreads the first scrapes of its targets over an interval.
    wait_until(
        lambda: "unknown" not in prometheus.targets().values(), "every target scraped"
    )
    assert prometheus.targets() == dict.fromkeys(jobs, "up")


def test_every_rule_can_be_evaluated(prometheus: Prometheus) -> None:
    rules = prometheus.rules()
    wait_until(
        lambda: all(rule["health"] != "unknown" for rule in prometheus.rules()),
        "every rule evaluated",
    )
    assert len(rules) >= 15
    assert {rule["health"] for rule in prometheus.rules()} == {"ok"}


def test_the_board_shows_the_lag_of_the_demo(prometheus: Prometheus) -> None:
    board = json.loads((ROOT / "deploy/grafana/rocketscope.json").read_text("utf-8"))
    asked = [
        (panel["title"], target["expr"])
        for panel in board["panels"]
        for target in panel.get("targets", ())
    ]
    assert len(asked) > 20
    # Rates need a few sweeps and a few scrapes.
    for title, expression in asked:
        if title not in EMPTY_WHEN_WELL:
            wait_until(
                partial(_shown, prometheus, expression), f"{title}: {expression}"
            )
    (lag,) = prometheus.query(f"rocketscope_group_lag_messages{{{GROUP}}}")
    queues = prometheus.query(f"sum(rocketscope_queue_lag_messages{{{GROUP}}})")
    assert float(lag["value"][1]) >= 0
    assert float(queues[0]["value"][1]) >= 0


def _shown(prometheus: Prometheus, expression: str) -> bool:
    for name in ("cluster", "group"):
        expression = expression.replace(f"${name}", ".*")
    return bool(prometheus.query(expression))
