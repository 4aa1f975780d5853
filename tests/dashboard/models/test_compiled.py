from __future__ import annotations

from typing import Any

import pytest
from django.db.models import QuerySet

from dashboard.models import Team, User
from dashboard.models.compiled import Compiled

pytestmark = pytest.mark.django_db


def with_contact(contact: str, most: int) -> QuerySet[Any, Any]:
    return Team.objects.filter(contact=contact, pk__lte=most).values_list("name", "pk")


@pytest.fixture
def teams() -> dict[str, int]:
    named = ("b", "#1"), ("a", "#1"), ("c", "'; -- %s")
    found = [Team.objects.create(name=name, contact=contact) for name, contact in named]
    return {each.name: each.pk for each in found}


def test_its_answers_are_those_of_the_query(teams: dict[str, int]) -> None:
    compiled = Compiled(lambda: with_contact("", 0))
    for values in ("#1", 10**9), ("#1", teams["b"]), ("'; -- %s", 10**9), ("", 0):
        assert compiled.rows(*values) == list(with_contact(*values))
        assert compiled.count(*values) == with_contact(*values).count()
    assert compiled.rows("#1", 10**9) == [("a", teams["a"]), ("b", teams["b"])]


def test_its_sql_is_worked_out_once() -> None:
    made = []

    def make() -> QuerySet[Any, Any]:
        made.append(True)
        return User.objects.filter(pk=0).values_list("pk")

    compiled = Compiled(make)
    assert not made
    assert [compiled.rows(1), compiled.rows(2), compiled.count(1)] == [[], [], 0]
    assert made == [True]
