"""How names are written in addresses, and addresses that are known later."""

from __future__ import annotations

from typing import Final

from django.urls import URLResolver, register_converter
from django.urls.resolvers import RoutePattern

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


register_converter(GroupName, "group")


class LateURLs(URLResolver):
    """The addresses of a module that is imported when one of them is asked for.

    The REST interface takes as long to import as all pages, and much of the memory;
    who only looks at pages needs neither. The module has `urlpatterns`, whose names are
    only known with the namespace, as in `reverse("api:group", …)`.
    """

    def __init__(self, route: str, module: str, *, namespace: str) -> None:
        super().__init__(
            RoutePattern(route), module, app_name=namespace, namespace=namespace
        )

    def _populate(self) -> None:
        """Leave the module alone when another address is looked up by its name.

        Django collects the names of all resolvers then, but looks for those in a
        namespace in `url_patterns`.
        """
