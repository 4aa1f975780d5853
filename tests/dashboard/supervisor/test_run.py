"""What the start of everything does when the machine changes under it."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from dashboard.supervisor.plan import Surroundings
from dashboard.supervisor.ports import answers
from dashboard.supervisor.run import Stack, start_embedded


@pytest.mark.embedded
async def test_a_port_that_another_program_took_meanwhile_is_left_to_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    stack = Stack(tmp_path / "logs", 1_000_000)
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        found = Surroundings("127.0.0.1", 1, tmp_path, "redis://r:1/0", port, 64)
        try:
            running = await start_embedded(stack, found)
            assert running.embedded_name_server_port not in (None, port)
            assert answers("127.0.0.1", running.embedded_name_server_port or 0)
            assert [each.spec.name for each in stack.children] == ["cluster"]
        finally:
            await stack.stop()
    assert f"another program took port {port}" in capsys.readouterr().err
