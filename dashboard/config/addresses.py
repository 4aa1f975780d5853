"""How names stand in addresses."""

from __future__ import annotations

from typing import Final

ENCODED_SLASH: Final = "%2F"


class GroupName:
    """A group's name as one part of a path: `<group:group>`.

    RocketMQ's own clients refuse a slash in it; offsets may be committed for such a
    group all the same. Servers decode a path before anybody can tell its slashes from
    a name's, so one in a name is encoded once more: `%252F` in the address.
    """

    regex = "[^/]+"

    def to_python(self, value: str) -> str:
        """Return the name that stands in an address."""
        return value.replace(ENCODED_SLASH, "/")

    def to_url(self, value: str) -> str:
        """Return what stands for a name, to be encoded as all of an address is."""
        return value.replace("/", ENCODED_SLASH)
