"""Compares what is left when the killing is over with what was acknowledged."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from contextlib import suppress
from typing import Final

from benchmarks.silence.watching import now_ms
from benchmarks.soak.accounting import STEP_S, accounts_of
from benchmarks.soak.accounting import read_epochs as spans_of
from tests.support.waiting import wait_until

from .history import epochs_apart, events_apart, read_epochs, read_events
from .messages import missing_in_log, never_consumed, read_log
from .surroundings import GROUP, GROUPS, TOPIC, Surroundings
from .verdict import Losses
from .writes import CLUSTER, lost_writes, wishes_apart

CONSUMED_S: Final = 120.0
ENDED_S: Final = 600.0
"""For reports and labs to end: a lost one is told to be so after a minute."""
LAKE_MS: Final = 150_000
"""Samples of quiet queues come once a minute, and files with them as often."""
STEP_MS: Final = 1000 * STEP_S


def reckon(surroundings: Surroundings, began_ms: int, lake_s: int = 0) -> Losses:
    """Return what was lost, and what contradicts what.

    It waits until at least `lake_s` seconds of the lake can be judged.
    """
    surroundings.stop_sending()
    found = Losses(
        messages=len(surroundings.sent.known),
        failed_sends=surroundings.sent.failed,
        writes=Counter(each.what for each in surroundings.person.writes),
        failed_writes=surroundings.person.failed,
    )
    _messages(surroundings, found)
    _writes(surroundings, found)
    _history(surroundings, found)
    _lake(surroundings, found, began_ms, lake_s)
    return found


def _messages(surroundings: Surroundings, found: Losses) -> None:
    sent, consumed = surroundings.sent.known, surroundings.consumed

    def is_consumed() -> bool:
        consumed.read()
        return not never_consumed(sent, consumed)

    with suppress(AssertionError):  # What is missing is told below.
        wait_until(is_consumed, seconds=CONSUMED_S)
    log = asyncio.run(read_log(surroundings.name_server, TOPIC))
    for each in missing_in_log(sent, log):
        found.lost.append((each.after, f"message {each.number} at {each.place}: log"))
    for each in never_consumed(sent, consumed):
        found.lost.append(
            (each.after, f"message {each.number} at {each.place}: never consumed")
        )
    found.contradictions.extend(surroundings.offsets_ahead())


def _writes(surroundings: Surroundings, found: Losses) -> None:
    person = surroundings.person
    deadline = time.monotonic() + ENDED_S
    while True:
        seen = person.see()
        lost = lost_writes(person.writes, seen)
        if not lost or time.monotonic() > deadline:
            break
        time.sleep(5.0)
    for write, what in lost:
        found.lost.append((write.after, f"{write.what} “{write.name}” {what}"))
    hosted = person.hosted()
    found.contradictions.extend(
        wishes_apart(seen.audit, hosted) if hosted else ["the group is not hosted"]
    )


def _history(surroundings: Surroundings, found: Losses) -> None:
    truths, database = surroundings.truths(), surroundings.database
    found.contradictions.extend(epochs_apart(read_epochs(database), truths))
    found.contradictions.extend(events_apart(read_events(database), truths))


def _lake(
    surroundings: Surroundings, found: Losses, began_ms: int, lake_s: int
) -> None:
    since_ms = (began_ms // STEP_MS + 1) * STEP_MS
    ripe_ms = since_ms + 1000 * lake_s + LAKE_MS
    if lake_s:
        time.sleep(max(0, ripe_ms - now_ms()) / 1000)
    until_ms = (now_ms() - LAKE_MS) // STEP_MS * STEP_MS
    if until_ms <= since_ms:
        return
    accounts = accounts_of(
        surroundings.stack.var_dir / "lake",
        spans_of(surroundings.database),
        CLUSTER,
        (GROUP,),
        since_ms=since_ms,
        until_ms=until_ms,
    )
    found.contradictions.extend(
        f"{each.queue}: {each.missing_s:.1f} s of {each.period_s:.0f} s are neither "
        "known nor unknown, or both"
        for each in accounts
        if not each.balances
    )
    found.accounts = len(accounts)
    if not accounts:
        found.contradictions.append(f"the lake has nothing of {GROUPS[0]}")
