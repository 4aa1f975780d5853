"""Patterns of groups are as in the grants of users."""

from __future__ import annotations

import pytest

from dashboard.models import Grant, Place, Role
from dashboard.wording.patterns import matches


@pytest.mark.parametrize(
    ("pattern", "group", "expected"),
    [
        ("", "anything", True),
        ("payments-*", "payments-settle", True),
        ("payments-*", "my-payments-settle", False),
        ("a?c", "abc", True),
        ("a?c", "abbc", False),
        ("a[b]c", "abc", False),
        ("a[b]c", "a[b]c", True),
        ("A*", "abc", False),
        ("*", "line\nbreak", True),
        ("a.c", "abc", False),
    ],
)
def test_patterns(pattern: str, group: str, expected: bool) -> None:
    assert matches(pattern, group) is expected
    grant = Grant(role=Role.OPERATOR, cluster="east", groups=pattern)
    as_grant = grant.role_at(Place("east", group)) == Role.OPERATOR
    assert as_grant is expected
