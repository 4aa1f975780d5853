"""No false alarm: every rule over every group that fares well."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import pytest

from dashboard.findings import RULES

from .healthy import HEALTHY, broadcasting_with_its_files
from .plays import Play


@lru_cache
def played(scene: Callable[[], Play]) -> Play:
    return scene()


@pytest.mark.parametrize("scene", HEALTHY, ids=lambda scene: scene.__name__)
def test_a_healthy_group_has_no_finding(scene: Callable[[], Play]) -> None:
    assert played(scene).ever == set()


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.key)
@pytest.mark.parametrize("scene", HEALTHY, ids=lambda scene: scene.__name__)
def test_a_rule_alone_finds_nothing_either(
    scene: Callable[[], Play], rule: object
) -> None:
    # Whatever a rule must see for a while to be said is said of none of these.
    quick = {each.key for each in RULES if not each.settle_ms}
    assert getattr(rule, "key", None) not in played(scene).raw & quick


def test_a_broadcasting_group_is_told_as_what_it_is_and_nothing_else() -> None:
    play = broadcasting_with_its_files()
    assert play.ever == {"broadcasting"}
    assert play.found["broadcasting"].level == "info"
