"""The settings of every client's identity and cluster, and how it gets its instance."""

from __future__ import annotations

import os
import ssl
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, TypedDict

from rmqcore.errors import ArgumentError
from rmqcore.protocol.acl import AclCredentials
from rmqcore.protocol.command import SerializeType
from rmqcore.transport import (
    Clock,
    RequestHook,
    SystemClock,
    parse_nameservers,
    signing,
)

from .client_id import (
    DEFAULT_INSTANCE_NAME,
    build_client_id,
    local_ip,
    unique_instance_name,
)
from .client_instance import ClientInstance
from .registry import PROCESS_REGISTRY, InstanceRegistry

Timers = Literal["internal", "external"]


class ClientOptions(TypedDict, total=False):
    """Options that producers and consumers have in common.

    With `timers` external, the periodic work is left to the caller of
    `instance.run_timer`. `credentials` sign every request, after all other `hooks`.
    """

    instance_name: str
    client_ip: str | None
    unit_name: str
    timers: Timers
    tls: ssl.SSLContext | None
    hooks: Sequence[RequestHook]
    credentials: AclCredentials | None
    clock: Clock | None
    serialize_type: SerializeType
    registry: InstanceRegistry


@dataclass(frozen=True, slots=True)
class ClientSpec:
    """One client's identity and options."""

    nameservers: tuple[str, ...]
    instance_name: str
    client_id: str
    clock: Clock
    options: ClientOptions

    @classmethod
    def of(
        cls,
        nameservers: str | Iterable[str],
        options: ClientOptions,
        *,
        keep_default: bool = False,
    ) -> ClientSpec:
        """Complete the options; `keep_default` keeps the instance name DEFAULT (A4)."""
        timers = options.get("timers", "internal")
        if timers not in {"internal", "external"}:
            raise ArgumentError(f"timers is {timers!r}, allowed internal and external")
        name = options.get("instance_name", DEFAULT_INSTANCE_NAME)
        if not keep_default:
            name = unique_instance_name(name, os.getpid(), time.monotonic_ns())
        client_ip = options.get("client_ip") or local_ip()
        return cls(
            parse_nameservers(nameservers),
            name,
            build_client_id(client_ip, name, options.get("unit_name", "")),
            options.get("clock") or SystemClock(),
            options,
        )

    def acquire(self) -> ClientInstance:
        """Return this client's instance, shared with others of the same id."""
        return self._registry.acquire(
            self.client_id,
            self.nameservers,
            self._make,
            internal_timers=self.options.get("timers", "internal") == "internal",
        )

    async def release(self, instance: ClientInstance) -> None:
        """Leave the instance; the last one to leave stops it."""
        await self._registry.release(instance)

    @property
    def _registry(self) -> InstanceRegistry:
        return self.options.get("registry", PROCESS_REGISTRY)

    def _make(self) -> ClientInstance:
        hooks = tuple(self.options.get("hooks", ()))
        credentials = self.options.get("credentials")
        if credentials is not None:
            hooks = (*hooks, signing(credentials))
        return ClientInstance(
            self.client_id,
            self.nameservers,
            clock=self.clock,
            tls=self.options.get("tls"),
            hooks=hooks,
            serialize_type=SerializeType(
                self.options.get("serialize_type", SerializeType.JSON)
            ),
        )
