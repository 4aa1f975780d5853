"""How the whole stack copes with a crowded cluster on a crowded machine.

    python -m benchmarks.soak [--minutes 45] [--load 10] [--groups 2300]

Starts a real Apache RocketMQ of two brokers (fetched as the tests do; needs java and
mvn) with `--groups` groups that have committed offsets, and beside these the seven live
groups of `benchmarks.seven_groups` with traffic. The whole stack runs as a user starts
it, `--visitors` go through all pages and ask for reports, and `--sockets` live sockets
are held open. Once each visitor has seen a report, so that everything is loaded that
ever will be, time begins to count, and `--load` processes compute without a pause: on a
machine with two cores, 10 of them are five times the cores.

Every `--every` minutes, and at the end, it prints

- sweeps of all groups, those lost (failed, or refused without a lease) and ticks left
  out because the machine was late; leads lost, and leases that lapsed; tracebacks in
  any log; processes that ended;
- of the queues of the seven groups, how much of their time is known, how much counted
  as unknown, and how much is in neither of the two (`benchmarks.soak.accounting`);
- the memory of every process, shared pages in parts (PSS).

It ends with a table of everything that grows (docs/operations.md): how much there was
when time began to count and at the end, what an hour adds, the bound, and whether it
keeps within it. What is removed after days only is projected to that time.

The goals are: nothing lost, no traceback, no process ended, no second unaccounted for,
no process that keeps more memory in the last quarter than in the one before (by the
least that it had in each), give or take 5 % or 8 MB, and nothing that grows beyond its
bound. The exit code is 1 if one is missed.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from benchmarks.seven_groups import BY_NAME
from tests.support.jars import missing_tool

from .accounting import STEP_S, Account, accounts_of, read_epochs
from .growth import growth_table, growths
from .memory import Look, courses, look
from .surroundings import CLUSTER, Surroundings, Wish
from .verdict import (
    accounts_line,
    counted_line,
    goals,
    memory_line,
    memory_table,
    visits_line,
)

LOOK_EVERY_S: Final = 15.0
STEP_MS: Final = 1000 * STEP_S
REACH_MS: Final = 150_000
"""Samples of quiet queues come once a minute, and files with them as often."""


def main(arguments: list[str] | None = None) -> int:
    """Run as the command line says; return the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--minutes", type=float, default=45.0)
    parser.add_argument("--load", type=int, default=10, help="processes that compute")
    parser.add_argument("--groups", type=int, default=2300, help="beside the seven")
    parser.add_argument("--every", type=float, default=5.0, metavar="MINUTES")
    parser.add_argument("--sockets", type=int, default=3)
    parser.add_argument("--visitors", type=int, default=2)
    parser.add_argument("--report-every", type=float, default=10.0, metavar="MINUTES")
    parser.add_argument(
        "--messages", type=float, default=40.0, help="a second and topic"
    )
    parser.add_argument(
        "--folder", type=Path, help="where everything is written and kept; new"
    )
    args = parser.parse_args(arguments)
    if (missing := missing_tool()) is not None:
        parser.error(missing)
    if args.folder is not None and args.folder.exists():
        parser.error(f"--folder {args.folder}: it exists, and must be new")
    wish = Wish(
        args.groups, args.messages, args.sockets, args.visitors, args.report_every * 60
    )
    with _folder(args.folder) as folder, Surroundings(folder, wish) as surroundings:
        soak = _Soak(surroundings, args.minutes * 60, args.every * 60, args.groups)
        surroundings.burn(args.load, args.minutes * 60)
        return soak.run()


class _Soak:
    def __init__(
        self, surroundings: Surroundings, lasts_s: float, every_s: float, groups: int
    ) -> None:
        self._all = surroundings
        self._groups = groups + len(BY_NAME)
        self._lasts_s = lasts_s
        self._every_s = every_s
        self._began_s = time.monotonic()
        self._since_ms = (_now_ms() // STEP_MS + 1) * STEP_MS
        self._looks: list[Look] = []

    def run(self) -> int:
        next_s = self._every_s
        begin, began_s = self._all.sizes(), self._passed_s
        while self._passed_s < self._lasts_s:
            time.sleep(min(LOOK_EVERY_S, max(0.1, self._lasts_s - self._passed_s)))
            self._all.check()
            self._looks.append(look(self._all.stack.pid, self._passed_s))
            if next_s <= self._passed_s < self._lasts_s:
                next_s += self._every_s
                self._print()
        self._all.stop_looking()
        hours = (self._passed_s - began_s) / 3600
        grown = growths(begin, self._all.sizes(), hours, self._groups)
        accounts = self._print()
        kept = courses(self._looks)
        print("\n".join((*memory_table(kept), *growth_table(grown))))
        judged = goals(self._all.tally(), accounts, kept, grown)
        print("\n".join(map(str, judged)))
        return 1 if any(goal.found for goal in judged) else 0

    @property
    def _passed_s(self) -> float:
        return time.monotonic() - self._began_s

    def _print(self) -> list[Account]:
        visits = [visitor.visits for visitor in self._all.visitors]
        accounts = self._accounts()
        lines = (
            counted_line(self._passed_s / 60, os.getloadavg()[0], self._all.tally()),
            accounts_line(accounts),
            memory_line(self._looks[-1]),
            visits_line((v.looked for v in visits), (v.failed for v in visits)),
        )
        print("\n".join(lines), flush=True)
        return accounts

    def _accounts(self) -> list[Account]:
        until_ms = (_now_ms() - REACH_MS) // STEP_MS * STEP_MS
        if until_ms <= self._since_ms:
            return []
        return accounts_of(
            self._all.var_dir / "lake",
            read_epochs(self._all.var_dir),
            CLUSTER,
            BY_NAME,
            since_ms=self._since_ms,
            until_ms=until_ms,
        )


@contextmanager
def _folder(kept: Path | None) -> Iterator[Path]:
    """Make the folder to work in; one that nobody named is removed at the end."""
    if kept is not None:
        kept.mkdir(parents=True)
        yield kept
        return
    with tempfile.TemporaryDirectory(prefix="soak-") as folder:
        yield Path(folder)


def _now_ms() -> int:
    return round(time.time() * 1000)


if __name__ == "__main__":
    sys.exit(main())
