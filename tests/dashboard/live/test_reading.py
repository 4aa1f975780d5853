from __future__ import annotations

from typing import Any

from dashboard.live.reading import Problem, read_group, read_overview
from tests.dashboard.conftest import Write
from tests.dashboard.documents import overview, waiting_for_locks
from tests.support.ports import free_port
from tests.support.valkey import Valkey


def test_documents_are_read_whole(write: Write) -> None:
    write(overview(), waiting_for_locks())
    document = read_overview("hangzhou").document
    assert document is not None
    assert {**document, "groups": list(document["groups"])} == overview()
    assert read_group("hangzhou", "order-settlement").document == waiting_for_locks()


def test_nothing_collected_is_said(valkey: Valkey) -> None:
    reading = read_overview("hangzhou")
    assert (reading.document, reading.problem) == (None, Problem.NOT_COLLECTED)
    assert read_group("hangzhou", "x").problem == Problem.NOT_COLLECTED


def test_a_cache_that_is_away_is_said(settings: Any) -> None:
    settings.ROCKETSCOPE_REDIS_URL = f"redis://127.0.0.1:{free_port()}/0"
    assert read_overview("hangzhou").problem == Problem.NO_CACHE


def test_no_cache_configured_is_said(settings: Any) -> None:
    settings.ROCKETSCOPE_REDIS_URL = ""
    assert read_group("hangzhou", "x").problem == Problem.NO_CACHE
