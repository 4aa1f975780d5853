"""Silences processes, one after another, and watches second by second."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TextIO

from benchmarks.seven_groups import BY_NAME, GUEST

from .judging import Fault, Judge, is_marked, is_whole, says_silence
from .surroundings import BROKERS, DISTURBANCES, Disturbance, Surroundings, silence_of
from .watching import NAMESERVER, Document, now_ms

LOOK_EVERY_S: Final = 1.0
RECOVERY_S: Final = 180.0
QUIET_S: Final = 15.0
READ_MS: Final = 2_000
"""How much earlier the brokers that answer have told what was true."""


@dataclass(frozen=True, slots=True)
class Look:
    """What pages showed at a moment: each group's document, and the list."""

    at_ms: int
    groups: dict[str, Document]
    overview: Document | None


@dataclass(slots=True)
class Result:
    """What one silence did to what was shown."""

    number: int
    name: str
    silent_s: float = 0.0
    told_s: float | None = None
    """Time until the list said so, or a group was marked."""
    right_s: float | None = None
    """From the answer until everything was right and unmarked again."""
    looks: int = 0
    faults: list[Fault] = field(default_factory=list)

    def holds(self, within_s: float) -> bool:
        """Tell whether nothing false was shown, and all was right again in time."""
        in_time = self.right_s is not None and self.right_s <= within_s
        return in_time and not self.faults


class Campaign:
    """Disturbances on running surroundings, judged each when it is over."""

    def __init__(
        self, surroundings: Surroundings, tolerance_s: float, log: TextIO
    ) -> None:
        self._all = surroundings
        self._judge = Judge(surroundings.truth, BROKERS, round(tolerance_s * 1000))
        self._tolerance_s = tolerance_s
        self._log = log
        self._looks: list[Look] = []
        self._judged: dict[tuple[str, str, int], list[Fault]] = {}

    def settle(self, seconds: float) -> None:
        """Look on, undisturbed, until all is whole; raise when it never is."""
        deadline = time.monotonic() + seconds
        while not self._is_whole(self._look("settling", "")):
            if time.monotonic() > deadline:
                raise RuntimeError(f"not whole after {seconds:.0f} s: {self._marks()}")
        self._look_for(QUIET_S, "settling", "")
        self._looks.clear()

    def disturb(self, number: int, name: str, seconds: float) -> Result:
        """Let one silence begin and end, look on, and judge what was shown."""
        disturbance = DISTURBANCES[name]
        result = Result(number, name)
        self._looks.clear()
        silence = silence_of(name, disturbance)
        began_ms = now_ms()
        if silence is not None:
            self._all.truth.silences.append(silence)
        disturbance.begin(self._all)
        self._look_for(seconds, name, disturbance.who)
        ended_ms = now_ms()
        if silence is not None:
            silence.to_ms = ended_ms
        disturbance.end(self._all)
        result.silent_s = (ended_ms - began_ms) / 1000
        deadline = time.monotonic() + RECOVERY_S
        heard_ms: int | None = None
        while time.monotonic() < deadline:
            heard_ms = heard_ms or self._heard(disturbance, ended_ms)
            look = self._look(f"{name} is over", "")
            answer_ms = self._answered(heard_ms)
            if answer_ms is not None and self._is_right(look, answer_ms):
                break
        # The last documents shown are judged by readings that come later.
        self._look_for(self._tolerance_s + 2, f"{name} is over", "")
        self._all.refresh()
        result.looks = len(self._looks)
        result.told_s = self._told(disturbance.who, began_ms)
        result.right_s = self._right(self._answered(heard_ms))
        result.faults = list(self._faults(self._looks))
        return result

    # Looking

    def _look_for(self, seconds: float, state: str, silent: str) -> None:
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            self._look(state, silent)

    def _look(self, state: str, silent: str) -> Look:
        time.sleep(LOOK_EVERY_S)
        page = self._all.page
        look = Look(now_ms(), dict(page.groups), page.overview)
        self._looks.append(look)
        self._all.refresh()
        self._log.write(json.dumps(self._line(look, state, silent)) + "\n")
        self._log.flush()
        return look

    def _line(self, look: Look, state: str, silent: str) -> dict[str, Any]:
        """Return what was shown beside what is known of the truth so far."""
        truth = self._all.truth
        shown = {name: _summary(each, look.at_ms) for name, each in look.groups.items()}
        window = look.at_ms - 2 * round(self._tolerance_s * 1000), look.at_ms
        read = window[0], look.at_ms - READ_MS
        true = {
            name: {
                "members": _text(truth.members(name, *window)),
                "queues": len(truth.keys(group.topic)),
                "lag": _text(truth.lag_of_all(name, group.topic, *read)),
                "answered_s_ago": {
                    broker: (look.at_ms - truth.answered_ms.get(broker, 0)) / 1000
                    for broker in (*BROKERS, NAMESERVER)
                },
            }
            for name, group in BY_NAME.items()
        }
        return {
            "at": look.at_ms,
            "state": state,
            "silent": silent,
            "shown": shown,
            "true": true,
            "list": _list_summary(look.overview),
        }

    # Judging

    def _faults(self, looks: Iterable[Look]) -> Iterator[Fault]:
        """Yield what was false; a document that was shown for long counts once."""
        done: set[tuple[str, str, int]] = set()
        for look in looks:
            for key, document in _documents(look):
                if key not in done:
                    done.add(key)
                    yield from self._of(key, document)

    def _of(self, key: tuple[str, str, int], document: Document) -> list[Fault]:
        if key not in self._judged:
            judge = self._judge.group if key[0] else self._judge.overview
            self._judged[key] = judge(document)
        return self._judged[key]

    def _heard(self, disturbance: Disturbance, ended_ms: int) -> int | None:
        """Return when who was silent was last heard since the end, the names too."""
        if disturbance.who == GUEST:
            return ended_ms
        heard = (
            self._all.truth.answered_ms.get(disturbance.who, 0),
            self._all.reader.naming.read_ms,
        )
        return max(heard) if min(heard) >= ended_ms else None

    def _answered(self, heard_ms: int | None) -> int | None:
        """Return since when everybody answers and is named; None while not."""
        named_ms = self._all.reader.naming.all_since()
        return None if heard_ms is None or named_ms is None else max(heard_ms, named_ms)

    def _told(self, who: str, began_ms: int) -> float | None:
        for look in self._looks:
            told = look.overview is not None and says_silence(look.overview, who)
            if told or any(is_marked(each) for each in look.groups.values()):
                return (look.at_ms - began_ms) / 1000
        return None

    def _right(self, answer_ms: int | None) -> float | None:
        """Return the seconds from the answer until all was right, and stayed so."""
        if answer_ms is None:
            return None
        found: float | None = None
        for look in self._looks:
            if look.at_ms < answer_ms:
                continue
            right = self._is_right(look, answer_ms) and not list(self._faults([look]))
            found = (found or look.at_ms) if right else None
        return None if found is None else (found - answer_ms) / 1000

    def _is_right(self, look: Look, answer_ms: int) -> bool:
        late_ms = answer_ms - round(LOOK_EVERY_S * 1000)
        return self._is_whole(look) and all(
            document["taken_at"] >= late_ms for document in look.groups.values()
        )

    def _is_whole(self, look: Look) -> bool:
        overview = look.overview
        return (
            len(look.groups) == len(BY_NAME)
            and all(is_whole(each) for each in look.groups.values())
            and overview is not None
            and not any(says_silence(overview, each) for each in (*BROKERS, NAMESERVER))
        )

    def _marks(self) -> dict[str, object]:
        last = self._looks[-1]
        return {
            name: _summary(each, last.at_ms)
            for name, each in last.groups.items()
            if not is_whole(each)
        }


def report(results: Sequence[Result], within_s: float) -> int:
    """Print a table, and what was false; return the exit code."""
    print(f"{'round':>5} {'silence':16} {'lasted':>8} {'told':>8} {'right':>8}  false")
    for each in results:
        kinds = Counter(f"{fault.group}: {_kind(fault)}" for fault in each.faults)
        first = ", ".join(f"{kind} ({n})" for kind, n in kinds.most_common(3))
        print(
            f"{each.number:5} {each.name:16} {each.silent_s:6.0f} s "
            f"{_seconds(each.told_s)} {_seconds(each.right_s)}  "
            f"{len(each.faults)} {first}"
        )
    for each in results:
        for fault in each.faults[:5]:
            print(f"round {each.number}, {each.name}: {fault}")
    failed = [each for each in results if not each.holds(within_s)]
    print(
        f"{len(results) - len(failed)} of {len(results)} held: nothing false unmarked, "
        f"and right again within {within_s:g} s of the answer"
    )
    return 1 if failed else 0


def _documents(look: Look) -> Iterator[tuple[tuple[str, str, int], Document]]:
    for name, document in look.groups.items():
        yield (name, str(document["run"]), int(document["seq"])), document
    if look.overview is not None:
        yield ("", str(look.overview["run"]), int(look.overview["seq"])), look.overview


def _kind(fault: Fault) -> str:
    return fault.what.partition(" of ")[0]


def _seconds(value: float | None) -> str:
    return "   never" if value is None else f"{value:6.1f} s"


def _text(value: object) -> str | None:
    return None if value is None else str(value)


def _summary(document: Document, at_ms: int) -> dict[str, Any]:
    totals = document["totals"]
    return {
        "age_s": (at_ms - document["taken_at"]) / 1000,
        "complete": document.get("complete"),
        "held": document.get("held"),
        "status": document["status"]["word"],
        "findings": [finding["key"] for finding in document["findings"]],
        "brokers": {
            broker["name"]: broker.get("state", broker["answered"])
            for broker in document["brokers"]
        },
        **{
            name: totals.get(name)
            for name in ("lag", "lag_partial", "members", "queues", "owned", "unowned")
        },
    }


def _list_summary(overview: Document | None) -> dict[str, Any] | None:
    if overview is None:
        return None
    return {
        "error": overview.get("error"),
        "lag": overview["totals"]["lag"],
        "lag_partial": overview["totals"]["lag_partial"],
        "brokers": {b["name"]: b["answered"] for b in overview["brokers"]},
        "nameservers": overview.get("nameservers"),
    }
