"""The client ids under which further hosted members will join."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from itertools import count

from dashboard.wording.names import FIRST_FENCE, instance_name, member_number


def next_members(
    group: str, numbers: Collection[int], present: Iterable[str], wanted: int
) -> list[str]:
    """Return the client ids under which further members will join.

    `numbers` are in use, also by members that are leaving. New members are assumed to
    run at the most common address of the hosted ones among those present; without any,
    at this host's.
    """
    addresses = [
        client_id.partition("@")[0]
        for client_id in present
        if member_number(client_id, group) is not None
    ]
    address = max(set(addresses), key=addresses.count) if addresses else _own_address()
    free = (number for number in count(1) if number not in numbers)
    return [
        f"{address}@{instance_name(group, next(free), FIRST_FENCE)}"
        for _ in range(wanted)
    ]


def _own_address() -> str:
    # Imported late: pages that only read need not load the clients.
    from rmqcore.client.instance.client_id import local_ip

    return local_ip()
