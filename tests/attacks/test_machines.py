"""What the addresses for machines tell strangers."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def redis_away(settings: Any) -> None:
    settings.ROCKETSCOPE_REDIS_URL = "redis://:hush@10.9.8.7:1/0"
    settings.ROCKETSCOPE_METRICS_TOKEN = ""


def test_readiness_tells_nothing_of_the_inside(settings: Any) -> None:
    settings.ROCKETSCOPE_REDIS_URL = "redis://:hush@127.0.0.1:1/0"
    answer = Client().get("/readyz")
    assert answer.status_code == 503
    assert answer.json() == {"ready": False, "database": "ok", "cache": "away"}


SCRAPED = ["/metrics", "/metrics/groups", "/metrics/queues?group=*"]


@pytest.mark.parametrize("path", SCRAPED)
@pytest.mark.parametrize(
    "request_of",
    [
        {"REMOTE_ADDR": "10.0.0.9"},
        {"REMOTE_ADDR": ""},
        {"REMOTE_ADDR": "2001:db8::1"},
        {"headers": {"X-Forwarded-For": "127.0.0.1"}},
        {"headers": {"Forwarded": "for=127.0.0.1"}},
    ],
)
def test_metrics_are_for_this_machine_alone(
    path: str, request_of: dict[str, Any]
) -> None:
    answer = Client().get(path, **request_of)
    assert answer.status_code == 403
    assert b"rocketscope_" not in answer.content


@pytest.mark.parametrize("path", SCRAPED)
@pytest.mark.parametrize(
    "given", ["", "Bearer", "Bearer ", "Bearer wrong", "hush-hush", "Bearer hush-hus"]
)
def test_a_token_closes_metrics_to_everybody_else(
    settings: Any, path: str, given: str
) -> None:
    settings.ROCKETSCOPE_METRICS_TOKEN = "hush-hush"
    answer = Client().get(path, headers={"Authorization": given})
    assert answer.status_code == 403


def test_who_has_the_token_reads_metrics_from_anywhere(settings: Any) -> None:
    settings.ROCKETSCOPE_REDIS_URL = "redis://127.0.0.1:1/0"
    settings.ROCKETSCOPE_METRICS_TOKEN = "hush-hush"
    answer = Client().get(
        "/metrics",
        headers={"Authorization": "Bearer hush-hush", "X-Forwarded-For": "10.0.0.9"},
        REMOTE_ADDR="10.0.0.9",
    )
    assert answer.status_code == 200
