"""One look at everything that a person can see: is every page right?"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import quote

from .kinds import KINDS, WARM, Victim, pids_of
from .surroundings import GROUP, GROUPS, Surroundings, truths_or_none
from .truth import Truth, faults_of_group, faults_of_overview, faults_of_timeline
from .writes import CLUSTER

HERE: Final = f"/clusters/{CLUSTER}"
API: Final = f"/api/v1{HERE}"
WAITING: Final = b'data-key="waiting"'
"""Is in a page that has nothing to show."""

MOVED: Final = "a group changed"

Found = Iterator[tuple[str, str]]
Judge = Callable[[Any], Iterator[str]]
Faults = dict[str, str]
"""What is wrong, by the page or the part."""


@dataclass(frozen=True, slots=True)
class Since:
    """From when on things are to be right, and who must be back."""

    at_ms: int = 0
    kind: str = ""
    victim: Victim | None = None


def plain_pages() -> Iterator[str]:
    """Yield addresses that are to answer, and to have something to show."""
    yield from ("/", f"{HERE}/", f"{HERE}/groups/", f"{HERE}/whatif/")
    yield from (f"{HERE}/hosted/", f"{HERE}/hosted/{GROUP}/")
    yield from ("/timers/", "/labs/", "/reports/", "/audit/", "/settings/")
    yield from ("/account/", "/account/sessions/", "/account/users/")
    yield from ("/healthz", "/readyz", "/metrics", "/api/v1/clusters")
    yield from (f"{API}/findings", f"{API}/scenarios", f"{API}/labs/runs")
    for group in GROUPS:
        base = f"{HERE}/groups/{quote(group)}"
        yield from (f"{base}/timeline/?minutes=15", f"{base}/whatif/")
        yield from (f"{base}/changes/", f"/api/v1{base}/findings")
        yield f"/api/v1{base}/whatif?v=1"


def look(surroundings: Surroundings, since: Since, *, brief: bool = False) -> Faults:
    """Look at everything; what is right is not in the answer.

    A brief look ends at the first page that is wrong.
    """
    faults: Faults = {}
    faults.update(_processes(surroundings, since))
    hosted = surroundings.person.all_hosted()
    if not hosted:
        return {**faults, f"{API}/hosted": "does not answer"}
    truths = truths_or_none(surroundings)
    if truths is None:
        return {**faults, "broker": "does not answer"}
    for name in GROUPS:
        wanted = hosted.get(name, {}).get("members_wanted", -1)
        for fault in truths[name].unsettled(wanted):
            faults[f"group {name}"] = fault
    if faults:
        # Pages can only be compared with what stands still; they are looked at next.
        return faults
    for place, fault in _shown(surroundings, truths, since.at_ms):
        faults[place] = fault
        if brief:
            break
    return at_rest(faults, truths, truths_or_none(surroundings) if faults else truths)


def at_rest(
    faults: Faults,
    before: Mapping[str, Truth],
    after: Mapping[str, Truth] | None,
) -> Faults:
    """Return the faults, or only that something moved while pages were looked at.

    The fleet hands members over after a restart; a page may then be newer than what it
    is compared with.
    """
    return faults if not faults or after == before else {MOVED: "while it was compared"}


def _processes(surroundings: Surroundings, since: Since) -> Found:
    pid = surroundings.stack.pid
    living = pids_of(pid, [name for names in KINDS.values() for name in names])
    for kind, names in KINDS.items():
        missing = set(names) - set(living.values())
        if missing and kind not in WARM:
            yield f"process {kind}", f"{sorted(missing)} do not run"
    if since.victim is not None:
        left = since.victim.left_over(list(living))
        if left:
            yield f"processes of {since.victim.name}", f"{left} are left over"


def _shown(
    surroundings: Surroundings, truths: Mapping[str, Truth], since_ms: int
) -> Found:
    """Yield what is wrong, in documents first: few, and the last to be right."""
    for name, truth in truths.items():
        base = f"{HERE}/groups/{quote(name)}"
        yield from _documents(surroundings, base, truth, since_ms)
    yield from _first(
        f"{API}/overview",
        surroundings,
        lambda document: faults_of_overview(document, truths, since_ms),
    )
    yield from _socket(surroundings, truths, since_ms)
    for address in plain_pages():
        if fault := _fault_of(surroundings, address, ()):
            yield address, fault
    for name, truth in truths.items():
        base = f"{HERE}/groups/{quote(name)}"
        for address in (f"{base}/", f"{base}/members/"):
            if fault := _fault_of(surroundings, address, sorted(truth.members)):
                yield address, fault


def _documents(
    surroundings: Surroundings, base: str, truth: Truth, since_ms: int
) -> Found:
    yield from _first(
        f"/api/v1{base}",
        surroundings,
        lambda document: faults_of_group(document, truth, since_ms),
    )
    yield from _first(
        f"/api/v1{base}/timeline?minutes=15",
        surroundings,
        lambda document: faults_of_timeline(document, truth),
    )


def _first(address: str, surroundings: Surroundings, judge: Judge) -> Found:
    try:
        status, body = surroundings.session.get(address)
    except OSError as error:
        yield address, repr(error)
        return
    if status != 200:
        yield address, f"{status} {body[:200]!r}"
        return
    for fault in judge(json.loads(body)):
        yield address, fault
        return


def _fault_of(
    surroundings: Surroundings, address: str, words: list[str] | tuple[str, ...]
) -> str:
    try:
        status, body = surroundings.session.get(address)
    except OSError as error:
        return repr(error)
    if status != 200:
        return f"{status} {body[:200]!r}"
    if WAITING in body:
        return "has nothing to show"
    missing = [word for word in words if word.encode() not in body]
    return f"does not name {missing}" if missing else ""


def _socket(
    surroundings: Surroundings, truths: Mapping[str, Truth], since_ms: int
) -> Found:
    page = surroundings.page
    for name, truth in truths.items():
        document = page.groups.get(name)
        if document is None or page.fed_ms.get(name, 0) <= since_ms:
            yield f"socket {name}", "has told nothing since"
            continue
        for fault in faults_of_group(document, truth, since_ms):
            yield f"socket {name}", fault
