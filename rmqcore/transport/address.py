"""Addresses as RocketMQ writes them: `host:port`, IPv6 in brackets or bare."""

from __future__ import annotations

from typing import Final

from rmqcore.errors import ArgumentError

MAX_PORT: Final = 65_535


def parse_address(address: str) -> tuple[str, int]:
    """Return host and port of `host:port`; raise `ArgumentError`, naming what is wrong.

    A bare IPv6 address keeps its colons: the port follows the last one.
    """
    host, separator, port_text = address.strip().rpartition(":")
    if not separator or not host:
        raise ArgumentError(f"address {address!r} is not of the form host:port")
    if not (port_text.isascii() and port_text.isdigit()) or int(port_text) > MAX_PORT:
        raise ArgumentError(
            f"port {port_text!r} in address {address!r}, allowed 0 to {MAX_PORT}"
        )
    return host.removeprefix("[").removesuffix("]"), int(port_text)


def format_address(host: str, port: int) -> str:
    """Return `host:port`, with brackets around an IPv6 host."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
