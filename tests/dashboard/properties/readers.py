"""What must hold for those who read on: updates, and one group beside another."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.support.strange.reader import Reader
from tests.support.strange.story import Story

NO_ANSWER = "no name server answers"
REFUSED = "refused: the lease had run out"
"""Words of a log that says how things are; nothing of ours is wrong."""


def nothing_is_raised(story: Story) -> Iterator[str]:
    """No error is logged, and no look is given up that somebody answered."""
    steps = [(seen.faults, seen.step.look) for seen in story.seen]
    for place, (faults, look) in enumerate([*steps, (story.last_faults, "all")]):
        for fault in faults:
            told = NO_ANSWER in fault or (look == "handed over" and REFUSED in fault)
            if not told:
                yield f"step {place}: {fault}"


def updates_lead_to_the_document(story: Story) -> Iterator[str]:
    """Who applies the updates in order has what who loads the document gets."""
    readers: dict[str, Reader] = {}
    for place, seen in enumerate(story.seen):
        for group, messages in seen.messages.items():
            reader = readers.setdefault(group, Reader())
            stored = seen.documents.get(group)
            for message in messages:
                if not reader.take(message):
                    reader.load(stored)
            if reader.state is None:
                reader.load(stored)
            if stored is not None and _differences(reader.state, stored):
                yield f"step {place}: {group}: {_differences(reader.state, stored)}"
                reader.load(stored)


def _differences(read: Any, stored: Any) -> list[str]:
    if read is None:
        return ["nothing was read"]
    # To a script, what is null is as good as not there.
    names = [
        name
        for name in read.keys() | stored.keys()
        if read.get(name) != stored.get(name)
    ]
    return [f"{name}: {read.get(name)} instead of {stored.get(name)}" for name in names]


def the_list_says_what_the_pages_say(story: Story) -> Iterator[str]:
    """A group's row in the list and its document of the same look agree."""
    for seen in story.seen:
        if seen.overview is None or "error" in seen.overview or seen.faults:
            continue
        if seen.step.look not in ("all", "handed over"):
            continue
        rows = {row["group"]: row for row in seen.overview["groups"]}
        heard = all(
            each.get("state") == "answered" for each in seen.overview["brokers"]
        )
        for group, state in seen.documents.items():
            row = rows.get(group)
            if row is None:
                if heard:
                    yield f"{group}: has a document and no row"
                continue
            for name in ("lag", "lag_partial", "oldest_ms", "members", "queues"):
                if row[name] != state["totals"][name]:
                    yield f"{group}: {name} {row[name]}, {state['totals'][name]}"
            if row["status"] != state["status"]:
                yield f"{group}: {row['status']} in the list, {state['status']}"
