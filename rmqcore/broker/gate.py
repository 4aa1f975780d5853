"""Access control: users with keys, whose requests carry signatures.

Every request is judged, whatever it asks; a refusal says which part of the proof is
missing or wrong, as whoever set up a client needs to know that. Nothing is said about
the secret: a wrong one shows as a signature that does not match.
"""

from __future__ import annotations

from collections.abc import Mapping

from rmqcore.protocol.acl import ACCESS_KEY, SIGNATURE, AclCredentials
from rmqcore.protocol.command import RemotingCommand

_SHOWN_CHARACTERS = 80


class Gate:
    """Judges requests by the users that a broker knows: access key → secret key."""

    def __init__(self, users: Mapping[str, str]) -> None:
        self._users = {
            name: AclCredentials(name, secret) for name, secret in users.items()
        }

    def fault(self, command: RemotingCommand) -> str | None:
        """Return why a request is not let in, or None when it is."""
        name = command.ext_fields.get(ACCESS_KEY)
        if not name:
            return f"no username: the request carries no {ACCESS_KEY}"
        user = self._users.get(name)
        if user is None:
            return f"user {name[:_SHOWN_CHARACTERS]} is not known to this broker"
        if not command.ext_fields.get(SIGNATURE):
            return f"user {name}: the request carries no signature"
        if not user.verify(command.ext_fields, command.body):
            return (
                f"user {name}: the signature does not match: the secret key differs, "
                "or the request was changed on its way"
            )
        return None
