"""How names are written in addresses."""

from __future__ import annotations

from typing import Final

ENCODED_SLASH: Final = "%2F"


class GroupName:
    """A group's name as one part of a path: `<group:group>`.

    RocketMQ's own clients refuse a slash in it, but offsets can be committed for such a
    group all the same. Servers decode a path before its slashes can be told from those
    of a name, so a slash in a name is encoded twice: `%252F` in the address.
    """

    regex = "[^/]+"

    def to_python(self, value: str) -> str:
        """Return the name that an address contains."""
        return value.replace(ENCODED_SLASH, "/")

    def to_url(self, value: str) -> str:
        """Return a name ready to be encoded like the rest of the address."""
        return value.replace("/", ENCODED_SLASH)
