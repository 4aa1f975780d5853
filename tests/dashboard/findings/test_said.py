from __future__ import annotations

import pytest
from django.utils import timezone, translation

from dashboard.findings import RULES
from dashboard.findings.said import say_finding, shown
from dashboard.findings.words import FINDINGS, STATES
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


@pytest.mark.parametrize(
    ("name", "value", "written"),
    [
        ("lag", 12_345, "≥ 12,345"),
        ("growth_rate", 3.25, "≥ 3.2"),
        ("held_by", ["a", "b"], "a, b, …"),
        ("topic", "orders", "orders"),
    ],
)
def test_what_may_be_more_is_written_as_that(
    name: str, value: object, written: str
) -> None:
    assert shown(name, value, at_least=True) == written


def test_a_finding_of_a_part_is_marked_in_its_sentence_and_its_evidence() -> None:
    finding = lock_finding(["orders|a|0"], NOW_MS)
    finding["at_least"], finding["as_of"] = ["queues"], AT
    with translation.override("en"), timezone.override("UTC"):
        said = say_finding(finding)
    assert "gives ≥ 1 of" in said.text
    assert ("Queues", "≥ 1") in said.evidence
    assert said.as_of == "as of 22:13:20, not checked since"


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
