"""`python -m rmqcore lab F5`: watch one of RocketMQ's rules at work.

A lab plays on a cluster of its own unless a name server is given. Exit code 0 means
that everything the lab is about was seen, 1 that something was not.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import logging
import sys
from typing import Final

from rmqcore.errors import ArgumentError
from rmqcore.labs import LABS, Lab, LabResult, Step, document, lab_named

NOT_SEEN: Final = 1


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument("name", nargs="?", metavar="LAB", help="such as F5")
    parser.add_argument("--list", action="store_true", help="list the labs")
    parser.add_argument(
        "--json", action="store_true", help="print the result, as one JSON object"
    )
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="NAME=NUMBER",
        help="set a parameter of the lab; may be repeated",
    )
    parser.add_argument(
        "--nameserver",
        metavar="HOST:PORT[;…]",
        help="play on this cluster, at its own speed, instead of a temporary one",
    )
    parser.add_argument(
        "--linger",
        type=float,
        default=0.0,
        metavar="SECONDS",
        help="stay at each division for so long, to watch it",
    )
    parser.add_argument(
        "--keep",
        action="store_true",
        help="with --nameserver: leave the lab's topics and groups there",
    )


def run(args: argparse.Namespace) -> int:
    """List the labs, or play one and print its steps and result."""
    if args.list:
        for lab in LABS.values():
            _print(f"{lab.name:4} {lab.title} ({', '.join(lab.rules)})")
        return 0
    if args.name is None:
        raise ArgumentError(f"no lab is named; the known ones are {', '.join(LABS)}")
    lab = lab_named(args.name)
    parameters = parse_parameters(args.set)
    # Clients' warnings are what a lab is about, and it describes them in its own words.
    logging.basicConfig(level=logging.ERROR, stream=sys.stderr)
    result = asyncio.run(_play(lab, parameters, args))
    if args.json:
        _print(json.dumps(document(result), ensure_ascii=False))
    else:
        _print_outcome(result)
    return 0 if result.seen else NOT_SEEN


def parse_parameters(given: list[str]) -> dict[str, int]:
    """Return parameters from `name=number`; raise `ArgumentError` for anything else."""
    parameters = {}
    for text in given:
        name, separator, number = text.partition("=")
        if not separator or not number.isdecimal():
            raise ArgumentError(f"parameter {text!r} is not of the form NAME=NUMBER")
        parameters[name] = int(number)
    return parameters


async def _play(
    lab: Lab, parameters: dict[str, int], args: argparse.Namespace
) -> LabResult:
    if not args.json:
        _print(f"{lab.name}: {lab.title} ({', '.join(lab.rules)})")
    started_ms = 0

    def show(step: Step) -> None:
        nonlocal started_ms
        started_ms = started_ms or step.at_ms
        if not args.json:
            _print(f"{(step.at_ms - started_ms) / 1000:7.2f} s  {step.text}")

    return await lab.run(
        nameservers=args.nameserver,
        parameters=parameters,
        observer=show,
        clean_up=not args.keep,
        linger_s=args.linger,
    )


def _print_outcome(result: LabResult) -> None:
    for claim in result.evidence.claims:
        _print(f"{'seen    ' if claim.seen else 'NOT SEEN'}  {claim.text}")


def _print(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()
