"""The pages of a group as a reader sees them: scripts draw what is known of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from django.test import Client

from dashboard.models import Role
from tests.dashboard.conftest import SignIn
from tests.support.browser import find_chromium
from tests.support.drawing import Drawing, Drawn, drawing

PAGE = "/clusters/hangzhou/groups/order-settlement/"

Read = Callable[..., Drawn]


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests that read drawn pages; name the reason where they cannot run."""
    for item in items:
        if "read" not in getattr(item, "fixturenames", ()):
            continue
        item.add_marker(pytest.mark.browser)
        if find_chromium() is None:
            item.add_marker(pytest.mark.skip(reason="Chromium is not installed"))


@pytest.fixture(scope="session")
def browser() -> Iterator[Drawing]:
    with drawing() as made:
        yield made


@pytest.fixture
def viewer(sign_in: SignIn) -> Client:
    return sign_in(Role.VIEWER)


@pytest.fixture
def read(viewer: Client, browser: Drawing) -> Read:
    """Draw a tab of the group's page, for a viewer."""

    def draw(tab: str = "", *, language: str = "en") -> Drawn:
        return browser.draw(viewer, PAGE + tab, language)

    return draw
