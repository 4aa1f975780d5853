"""Run one job from the command line: `python -m analytics JOB --lake … --output …`.

Progress goes to standard error, the summary as JSON to standard output. `serve` stays
resident for the dashboard instead; see `analytics.resident`.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from analytics.errors import AnalyticsError, JobError
from analytics.requests import JOBS, JobRequest, parse_moment
from analytics.resident import serve


def main(arguments: Sequence[str] | None = None) -> int:
    """Return the exit code: 0 done, 1 the job failed, 2 wrong arguments."""
    given = _parser().parse_args(arguments)
    if given.job == "serve":
        return serve(idle_seconds=given.idle_seconds)
    try:
        request = _request(given)
    except JobError as error:
        print(f"analytics: {error}", file=sys.stderr)
        return 2
    try:
        summary = _run(request)
    except AnalyticsError as error:
        print(f"analytics: {error}", file=sys.stderr)
        return 1
    print(json.dumps(summary, indent=1))
    return 0


def _run(request: JobRequest) -> dict[str, Any]:
    from analytics.jobs import run_job
    from analytics.session import SessionSettings, start_session

    settings = SessionSettings.from_environ(os.environ)
    return run_job(lambda: start_session(settings), request, _show)


def _show(part: float, phase: str) -> None:
    print(f"analytics: {part:4.0%} {phase}", file=sys.stderr, flush=True)


def _request(given: argparse.Namespace) -> JobRequest:
    now = datetime.now(UTC)
    for name in ("lake", "output"):
        if not getattr(given, name):
            raise JobError(f"--{name} is missing: the job needs a folder or URL")
    return JobRequest(
        job=given.job,
        lake=given.lake,
        output=given.output,
        since_ms=parse_moment(given.since, now) if given.since else None,
        until_ms=parse_moment(given.until, now) if given.until else None,
        clusters=tuple(given.cluster),
        groups=tuple(given.group),
        step_seconds=given.step,
        options=_document("--options", given.options),
        added_members=tuple(given.members),
        strategies=tuple(given.strategy),
        rule=_document("--rule", given.rule),
        group_pattern=given.group_pattern,
    )


def _document(option: str, path: Path | None) -> dict[str, Any]:
    if path is None:
        return {}
    try:
        document = json.loads(path.read_text())
    except (OSError, ValueError) as error:
        raise JobError(f"{option} {path}: {error}") from error
    if not isinstance(document, dict):
        raise JobError(f"{option} {path}: must be an object")
    return document


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m analytics", description="Lag and skew over a lake of samples."
    )
    parser.add_argument("job", choices=[*JOBS, "serve"], help="what to compute")
    parser.add_argument("--lake", metavar="URL", help="folder or URL of the lake")
    parser.add_argument("--output", metavar="URL", help="folder or URL to write to")
    parser.add_argument(
        "--since", metavar="TIME", help="ISO 8601 with zone, or an age: 90m, 24h, 7d"
    )
    parser.add_argument("--until", metavar="TIME", help="the same, not included")
    parser.add_argument(
        "--cluster", action="append", default=[], help="only this one; repeatable"
    )
    parser.add_argument(
        "--group", action="append", default=[], help="only this one; repeatable"
    )
    parser.add_argument(
        "--group-pattern", default="", metavar="PATTERN", help="with * and ?: pay-*"
    )
    parser.add_argument(
        "--rule", type=Path, metavar="FILE", help="trial: JSON, the rule to try"
    )
    parser.add_argument("--step", type=int, metavar="SECONDS", help="length of a step")
    parser.add_argument(
        "--options",
        type=Path,
        metavar="FILE",
        help="JSON: strategy to its options, such as rooms",
    )
    parser.add_argument(
        "--members",
        action="append",
        default=[],
        type=int,
        metavar="N",
        help="compare with N members more, or fewer with a minus; repeatable",
    )
    parser.add_argument(
        "--strategy",
        action="append",
        default=[],
        metavar="NAME",
        help="compare only these; repeatable",
    )
    parser.add_argument(
        "--idle-seconds", type=float, default=300.0, help="serve: end when idle so long"
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
