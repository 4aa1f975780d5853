from __future__ import annotations

import pytest

from dashboard.accounts.browsers import browser_name

WEBKIT = "AppleWebKit/537.36 (KHTML, like Gecko)"
SAID = {
    "Chrome · Linux": f"Mozilla/5.0 (X11; Linux x86_64) {WEBKIT} Chrome/150 Safari/537",
    "Firefox · Windows": "Mozilla/5.0 (Windows NT 10.0; rv:140.0) Firefox/140.0",
    "Edge · Windows": f"Mozilla/5.0 (Windows NT 10.0) {WEBKIT} Chrome/1 Safari/5 Edg/1",
    "Safari · macOS": "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) Safari/605",
    "Safari · iPhone": "Mozilla/5.0 (iPhone; CPU iPhone OS like Mac OS X) Safari/604",
    "Firefox": "Mozilla/5.0 Firefox/140.0",
}


@pytest.mark.parametrize("name", SAID)
def test_a_browser_is_called_as_its_user_calls_it(name: str) -> None:
    assert browser_name(SAID[name]) == name


@pytest.mark.parametrize("said", ["", "curl/8.5.0", "python-requests/2.32"])
def test_what_is_not_known_is_shown_as_it_is(said: str) -> None:
    assert browser_name(said) == said
