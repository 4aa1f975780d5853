import subprocess
from pathlib import Path

import pytest
import redis

from dashboard.supervisor import redis_server
from dashboard.supervisor.ports import answers
from tests.support.waiting import wait_until


def test_the_server_found_asks_for_its_password(tmp_path: Path) -> None:
    server = redis_server.server_to_start(tmp_path / "state", memory_mb=64)
    assert server is not None
    assert (tmp_path / "state" / "redis.conf").stat().st_mode & 0o077 == 0
    process = subprocess.Popen(server.argv, stdout=subprocess.DEVNULL)
    try:
        wait_until(lambda: answers("127.0.0.1", server.port), "the server answers")
        client = redis.Redis.from_url(server.url)
        assert client.ping()
        limits = client.config_get("maxmemory*")
        assert limits["maxmemory"] == str(64 * 1024 * 1024)
        assert limits["maxmemory-policy"] == "noeviction"
        stranger = redis.Redis.from_url(f"redis://127.0.0.1:{server.port}")
        with pytest.raises(redis.AuthenticationError):
            stranger.ping()
        stranger.close()
        client.close()
    finally:
        process.terminate()
        process.wait()


def test_a_machine_without_any_server_is_told_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert redis_server.server_to_start(tmp_path, memory_mb=64) is None
