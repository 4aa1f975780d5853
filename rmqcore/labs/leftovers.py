"""The names of topics and groups that a lab makes on a cluster, and their deletion."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rmqcore.admin import Admin


def run_prefix(lab: str, label: str = "") -> str:
    """Return the beginning of the names in a lab's runs, or in those of one label."""
    return f"LAB_{lab}_{label}"


async def delete_leftovers(admin: Admin, prefix: str) -> int:
    """Delete the groups and topics of the runs with a prefix; return their number.

    Topics for retries and dead letters contain their group's name.
    """
    topics = [topic for topic in await admin.topic_names() if prefix in topic]
    for topic in topics:
        await admin.delete_topic(topic)
    groups = [name for name in await admin.group_configs() if name.startswith(prefix)]
    for group in groups:
        await admin.delete_group(group, clean_offset=True)
    return len(topics) + len(groups)
