"""Signing a client's requests, where its cluster checks credentials."""

from __future__ import annotations

from rmqcore.protocol.acl import AclCredentials
from rmqcore.protocol.command import RemotingCommand

from .pool import RequestHook


def signing(credentials: AclCredentials) -> RequestHook:
    """Return a hook that signs every request; it must be the last of the hooks."""

    def sign(_address: str, command: RemotingCommand) -> None:
        command.ext_fields = credentials.sign(command.ext_fields, command.body)

    return sign
