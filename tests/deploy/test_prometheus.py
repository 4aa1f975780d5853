"""The shipped rules and configuration are what Prometheus accepts."""

from __future__ import annotations

import re

from tests.support.launched import ROOT
from tests.support.prometheus import SHIPPED, promtool


def test_the_rules_are_accepted() -> None:
    checked = promtool("check", "rules", str(SHIPPED / "rules.yml"))
    assert checked.returncode == 0, checked.stderr


def test_the_configuration_is_accepted() -> None:
    checked = promtool("check", "config", str(SHIPPED / "prometheus.yml"))
    assert checked.returncode == 0, checked.stderr


def test_the_rules_fire_when_they_should_and_only_then() -> None:
    checked = promtool("test", "rules", "tests/deploy/rules_test.yml")
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_every_alert_is_tested() -> None:
    alerts = set(re.findall(r"alert: (\w+)", (SHIPPED / "rules.yml").read_text()))
    tested = (ROOT / "tests/deploy/rules_test.yml").read_text("utf-8")
    assert {name for name in alerts if f"alertname: {name}\n" not in tested} == set()
