"""Ports on this machine: check one, or find a free one."""

from __future__ import annotations

import socket


def is_free(host: str, port: int) -> bool:
    """Return whether a server could listen on `host:port` now."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError:
            return False
        return True


def free_port(*, prefer: int = 0, host: str = "127.0.0.1") -> int:
    """Return `prefer` if it is free, else a port that the system picks."""
    if prefer and is_free(host, prefer):
        return prefer
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.bind((host, 0))
        port: int = probe.getsockname()[1]
        return port


def answers(host: str, port: int, *, timeout: float = 0.3) -> bool:
    """Return whether a server accepts connections on `host:port`."""
    try:
        with socket.create_connection((host, port), timeout=timeout):
            return True
    except OSError:
        return False
