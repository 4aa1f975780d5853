"""How the embedded cluster stands, and the file by which it is asked for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dashboard.gateway import embedded_request
from dashboard.gateway.clusters import announce_embedded
from dashboard.gateway.embedded import Standing, ask_for_embedded, embedded_state

pytestmark = pytest.mark.django_db


@pytest.fixture
def request_file(tmp_path: Path, settings: Any) -> Path:
    settings.ROCKETSCOPE_CLUSTERS = {}
    path = tmp_path / embedded_request.NAME
    settings.ROCKETSCOPE_EMBEDDED_REQUEST = str(path)
    return path


def test_it_is_offered_asked_for_started_and_running(request_file: Path) -> None:
    assert embedded_state().standing is Standing.OFFERED
    assert not embedded_request.is_asked(request_file)
    ask_for_embedded()
    assert embedded_request.is_asked(request_file)
    assert embedded_state().standing is Standing.STARTING
    announce_embedded(["127.0.0.1:9876"])
    assert embedded_state().standing is Standing.RUNNING


def test_why_it_could_not_be_started_is_told_and_it_may_be_asked_for_again(
    request_file: Path,
) -> None:
    ask_for_embedded()
    embedded_request.say_why_not(request_file, "no memory")
    state = embedded_state()
    assert (state.standing, state.why) == (Standing.FAILED, "no memory")
    assert state.may_be_asked
    assert not embedded_request.is_asked(request_file)
    ask_for_embedded()
    assert embedded_state().standing is Standing.STARTING


def test_without_anybody_who_looks_for_the_request_it_is_not_offered(
    settings: Any,
) -> None:
    settings.ROCKETSCOPE_CLUSTERS = {}
    settings.ROCKETSCOPE_EMBEDDED_REQUEST = ""
    assert embedded_state().standing is Standing.NOT_OFFERED
