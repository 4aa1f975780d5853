"""Where a clone and an installed copy keep their state."""

from __future__ import annotations

from pathlib import Path

import pytest

from analytics.places import FILES, INSTALLED, ROOT, home


def test_a_clone_has_everything_beside_its_packages() -> None:
    assert not INSTALLED
    assert FILES == ROOT == Path(__file__).resolve().parents[2]
    assert home({"XDG_STATE_HOME": "/state"}) == ROOT


@pytest.mark.parametrize("given", ["", "relative/state"])
def test_an_installed_copy_keeps_its_state_with_the_user(
    given: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", "/home/ann")
    found = home({"XDG_STATE_HOME": given}, installed=True)
    assert found == Path("/home/ann/.local/state/rocketscope")


def test_the_state_follows_the_specification_of_xdg() -> None:
    found = home({"XDG_STATE_HOME": "/state"}, installed=True)
    assert found == Path("/state/rocketscope")
