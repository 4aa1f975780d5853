from __future__ import annotations

from typing import Any

import pytest
from django.test import Client


def test_says_that_it_lives_without_database_or_cache() -> None:
    answer = Client().get("/healthz")
    assert (answer.status_code, answer.content) == (200, b"ok\n")


@pytest.mark.django_db
def test_is_ready_when_database_and_cache_answer(valkey: object) -> None:
    answer = Client().get("/readyz")
    assert answer.status_code == 200
    assert answer.json() == {"ready": True, "database": "ok", "cache": "ok"}


@pytest.mark.django_db
@pytest.mark.parametrize("url", ["", "redis://127.0.0.1:1/0"])
def test_is_not_ready_without_a_cache(url: str, settings: Any) -> None:
    settings.ROCKETSCOPE_REDIS_URL = url
    answer = Client().get("/readyz")
    assert answer.status_code == 503
    assert answer.json()["cache"] != "ok"


@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
def test_only_reading_is_allowed(path: str) -> None:
    assert Client().post(path).status_code == 405
