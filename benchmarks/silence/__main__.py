"""Compare what pages show while brokers and the name server are silent with the truth.

    python -m benchmarks.silence [--rounds 10] [--stop-seconds 90] [--only stop-a,…]

Starts a real Apache RocketMQ of two brokers (fetched as the tests do; needs java and
mvn), seven groups of Java members with traffic, two of them wrong on purpose, and the
whole stack beside them. In each round, one after another:

- stop-a, stop-b, stop-nameserver: SIGSTOP for `--stop-seconds`;
- kill-a: a broker ends by SIGKILL and is started again;
- kill-member: a process with members of four groups ends by SIGKILL, and comes back;
- delay-b: a proxy holds back every answer of a broker for 8 s.

Every second it writes to `--log` what the page of each group and the list of groups
show, beside what is true by the members' own word and by direct reads of the brokers
that run. A number, owner, member, broker or finding is false when it cannot have been
true within `--tolerance` seconds of the document's own time, unless it is marked.

The exit code is 1 if something false was shown unmarked, or if not everything was right
again within `--within` seconds of the answer. The truth is read from the brokers, so a
machine that delays looks delays both.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from tests.support.jars import missing_tool

from .campaign import Campaign, report
from .surroundings import DISTURBANCES, Surroundings

SETTLE_S = 180.0


def main(arguments: list[str] | None = None) -> int:
    """Run the campaign and print its table; return the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--stop-seconds", type=float, default=90.0)
    parser.add_argument(
        "--only", default=",".join(DISTURBANCES), help="which, in order"
    )
    parser.add_argument(
        "--messages", type=float, default=40.0, help="a second and topic"
    )
    parser.add_argument("--tolerance", type=float, default=5.0, metavar="SECONDS")
    parser.add_argument("--within", type=float, default=5.0, metavar="SECONDS")
    parser.add_argument("--log", type=Path, default=Path("silence.jsonl"))
    args = parser.parse_args(arguments)
    names = args.only.split(",")
    unknown = sorted(set(names) - DISTURBANCES.keys())
    if unknown:
        parser.error(f"unknown {unknown}; known are {', '.join(DISTURBANCES)}")
    if (missing := missing_tool()) is not None:
        parser.error(missing)
    results = []
    with (
        tempfile.TemporaryDirectory(prefix="silence-") as folder,
        Surroundings(Path(folder), args.messages) as surroundings,
        args.log.open("w", encoding="utf-8") as log,
    ):
        campaign = Campaign(surroundings, args.tolerance, log)
        campaign.settle(SETTLE_S)
        for number in range(1, args.rounds + 1):
            for name in names:
                results.append(campaign.disturb(number, name, args.stop_seconds))
                print(f"round {number}: {name}", file=sys.stderr, flush=True)
    return report(results, args.within)


if __name__ == "__main__":
    sys.exit(main())
