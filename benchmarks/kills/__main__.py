"""Kill every process of the stack, over and over, and look for what was lost.

    python -m benchmarks.kills [--kills 200] [--seed 1] [--only web,…]
        [--database sqlite|postgresql] [--minutes 600] [--no-reports]

Starts the whole product as a user does (with the embedded cluster, and PostgreSQL from
Debian's package where there is one), a producer, a hosted group whose listener logs
each message, a live socket, and a person who saves scenarios, changes members and
strategies, and asks for reports and labs. Then one process after another gets SIGKILL,
each kind as often as the others, in an order that the seed decides: web, collector,
fleet, beat, analytics, valkey, broker, postgresql, spark (the process of a report, or
its Java), files (the process that makes files). The supervisor starts its children
again; PostgreSQL is started again after 2 s by the campaign.

After each kill it looks at every page until all are right: they answer with 200 and
have something to show; documents, timelines and the socket say, without marks, what
brokers and members themselves say at that moment, and date from after the kill; no
process is left over. At the end it checks everything that was acknowledged: each
message is in the broker's log and was consumed; each write is there and in the audit
trail, and each report and lab has ended; committed offsets were never ahead of what was
consumed; epochs, changes of hands and samples contradict neither each other nor the
members that there are.

It prints a table by kind. Exit code 1 when something acknowledged was lost, a page was
not right after 30 s, or two things that are kept contradict each other.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
import traceback
from collections.abc import Sequence
from pathlib import Path

from benchmarks.silence.watching import now_ms
from tests.support.postgresql import programs

from .campaign import PAUSE_S, Campaign, Result
from .kinds import KINDS
from .reckoning import reckon
from .surroundings import Surroundings
from .verdict import Losses, goals, table, told


def main(arguments: list[str] | None = None) -> int:
    """Run as the command line says; return the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    there = programs() is not None
    databases = ("sqlite", "postgresql")
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="kinds, separated by commas")
    parser.add_argument("--database", choices=databases, default=databases[there])
    parser.add_argument("--rate", type=float, default=40.0, help="messages a second")
    parser.add_argument(
        "--minutes", type=float, default=600.0, help="after which it kills no more"
    )
    parser.add_argument(
        "--no-reports", action="store_true", help="ask for none, except to kill its job"
    )
    args = parser.parse_args(arguments)
    kinds = [
        each for each in KINDS if each != "postgresql" or args.database == "postgresql"
    ]
    only = args.only.split(",") if args.only else kinds
    if unknown := sorted(set(only) - set(kinds)):
        parser.error(f"unknown {unknown}; with {args.database} are {', '.join(kinds)}")
    if args.database == "postgresql" and not there:
        parser.error("PostgreSQL is not installed (Debian: postgresql)")
    with tempfile.TemporaryDirectory(prefix="kills-") as folder:
        surroundings = Surroundings(
            Path(folder), postgresql=args.database == "postgresql", rate=args.rate
        )
        results, losses = run(
            surroundings,
            only,
            kills=args.kills,
            seed=args.seed,
            lasts_s=args.minutes * 60,
            reports=not args.no_reports,
        )
    return report(results, losses)


def run(
    surroundings: Surroundings,
    kinds: Sequence[str],
    *,
    kills: int,
    seed: int,
    lasts_s: float,
    reports: bool = True,
    relapses: bool = True,
    pause_s: float = PAUSE_S,
    lake_s: int = 0,
) -> tuple[list[Result], Losses]:
    """Carry a campaign out; return what each kill did, and what was lost.

    Without `relapses` no second look is taken at what was right before the next kill;
    `pause_s` is between two looks, until everything is right; at least `lake_s` seconds
    of the lake are judged.
    """
    began = time.monotonic()
    with surroundings:
        began_ms = now_ms()
        campaign = Campaign(
            surroundings,
            kinds,
            kills,
            seed,
            reports=reports,
            relapses=relapses,
            pause_s=pause_s,
        )
        broke_off = 0
        try:
            campaign.run(lasts_s - (time.monotonic() - began))
        except Exception:
            # What was acknowledged until then is reckoned with all the same.
            traceback.print_exc()
            broke_off = 1
        losses = reckon(surroundings, began_ms, lake_s)
        losses.broke_off = broke_off
        return campaign.results, losses


def report(results: Sequence[Result], losses: Losses) -> int:
    """Print the table and the goals; return the exit code."""
    judged = goals(results, losses)
    print("\n".join((*table(results, losses), *told(losses), *map(str, judged))))
    return 1 if any(goal.found for goal in judged) else 0


if __name__ == "__main__":
    sys.exit(main())
