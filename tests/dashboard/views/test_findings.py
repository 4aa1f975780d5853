from __future__ import annotations

import pytest
from django.utils import timezone, translation

from dashboard.findings import RULES
from dashboard.views.finding_words import FINDINGS, STATES
from dashboard.views.findings import say_finding, shown
from tests.dashboard.documents import NOW_MS, lock_finding

AT = 1_700_000_000_000


@pytest.mark.parametrize(
    ("name", "value", "written"),
    [
        ("lag", 12_345, "12,345"),
        ("waiting_ms", 42_000, "42 s"),
        ("growth_rate", 3.25, "3.2"),
        ("expressions", ["red", "blue"], "red, blue"),
        ("topic", "orders", "orders"),
        ("free_by_at", AT, "22:13:20"),
    ],
)
def test_a_value_is_written_with_the_unit_of_its_name(
    name: str, value: object, written: str
) -> None:
    with translation.override("en"), timezone.override("UTC"):
        assert shown(name, value) == written


def test_times_are_of_the_zone_that_the_page_shows() -> None:
    with timezone.override("Asia/Shanghai"):
        assert shown("free_by_at", AT) == "06:13:20"


def test_a_finding_is_said_in_the_language_of_the_request() -> None:
    finding = lock_finding(["orders|a|0"], NOW_MS)
    with translation.override("zh-hans"):
        said = say_finding(finding)
    assert said.title == "队列在等待锁过期"
    assert ("已等待", "42 秒") in said.evidence
    assert said.since.startswith("自 ")


def test_every_rule_has_a_title_and_a_short_name() -> None:
    for rule in RULES:
        assert f"{rule.key}.title" in FINDINGS
        assert len(str(STATES[rule.key])) <= 16
