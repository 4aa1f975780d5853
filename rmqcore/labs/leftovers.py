"""Names of what a run of a lab makes on a cluster, and how all of it is deleted."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rmqcore.admin import Admin


def run_prefix(lab: str, label: str = "") -> str:
    """Return how the names of a lab's runs begin, or of those of one label."""
    return f"LAB_{lab}_{label}"


async def delete_leftovers(admin: Admin, prefix: str) -> int:
    """Delete the groups and topics of the runs with a prefix; return how many.

    Topics for retries and dead letters have their group's name in theirs.
    """
    topics = [topic for topic in await admin.topic_names() if prefix in topic]
    for topic in topics:
        await admin.delete_topic(topic)
    groups = [name for name in await admin.group_configs() if name.startswith(prefix)]
    for group in groups:
        await admin.delete_group(group, clean_offset=True)
    return len(topics) + len(groups)
