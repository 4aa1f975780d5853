"""The names of hosted members: client ids made from group, number and claim.

Brokers and fellow members know a member by its client id, `ip@group-number.fence`. The
number stays with the member, while the fence grows with each claim; so anything meant
for a member, rather than for one of its claims, is stored by number.
"""

from __future__ import annotations

import re
from typing import Final

FIRST_FENCE: Final = 1
"""The fence of a new member's first claim."""


def instance_name(group: str, number: int, fence: int) -> str:
    """Return the instance name that is part of the client id of one claim.

    Each claim is a new client to the broker: with the same name, a member that was
    frozen and its successor would be one client twice, which consumes one half of the
    queues twice and the other half never (behaviour A5b).
    """
    return f"{group}-{number}.{fence}"


def member_number(client_id: str, group: str) -> int | None:
    """Return the number of the hosted member behind a client id, None for others."""
    _address, _at, name = client_id.partition("@")
    match = re.fullmatch(rf"{re.escape(group)}-(\d{{1,5}})\.\d+", name, re.ASCII)
    return int(match[1]) if match else None


def label_of(client_id: str) -> str:
    """Return a client id in a short but recognizable form.

    Java's own instance names are process id and nano time: address and process are
    kept. Chosen names are kept without the address.
    """
    address, _at, instance = client_id.partition("@")
    instance = instance.partition("@")[0]
    process, hash_sign, nanos = instance.partition("#")
    if hash_sign and process.isdigit() and nanos.isdigit():
        return f"{address}@{process}"
    if not instance or instance == "DEFAULT":
        return address
    return instance
