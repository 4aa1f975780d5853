"""That every command of ours starts without Django's checks of the code."""

from __future__ import annotations

import pytest
from django.core.management import find_commands, load_command_class

from dashboard.management.base import OwnCommand
from tests.support.launched import ROOT

COMMANDS = find_commands(str(ROOT / "dashboard" / "management"))


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_starts_without_the_checks(name: str) -> None:
    command = load_command_class("dashboard", name)
    assert isinstance(command, OwnCommand)
    assert not command.requires_system_checks
