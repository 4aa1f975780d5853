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


@pytest.mark.parametrize("scene", HEALTHY, ids=lambda scene: scene.__name__)
def test_no_rule_alone_finds_anything_at_any_look(scene: Callable[[], Play]) -> None:
    # A rule that must see a thing for a while before it is said may see it.
    quick = {rule.key for rule in RULES if not rule.settle_ms}
    assert played(scene).raw & quick == set()


def test_a_broadcasting_group_is_told_as_what_it_is_and_nothing_else() -> None:
    play = broadcasting_with_its_files()
    assert play.ever == {"broadcasting"}
    assert play.found["broadcasting"].level == "info"
