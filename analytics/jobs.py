"""The jobs of `python -m analytics`: read the lake, transform, write Parquet and JSON.

A job reads exactly the files of one manifest, so that it sees one state of the lake
however long it takes. Its output is a folder per data set and, written last,
`summary.json`: without that file an output is not complete. Each phase reports its
progress and asks whether it should stop.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any, Final

from pyspark.sql import SparkSession

from analytics import contracts as c
from analytics.division import IN_USE, Candidate, candidates_of
from analytics.lake.compaction import absorb
from analytics.lake.manifest import load_manifest
from analytics.lake.storage import Storage, open_storage
from analytics.requests import JobRequest, Progress, iso
from analytics.rollup import roll_up
from analytics.session import check_address
from analytics.sources import Chosen, choose_source, period_of, plan_work
from analytics.transforms.bucket import LAG_TABLES
from analytics.transforms.tasks import try_buckets, write_buckets
from analytics.trials import told_of, with_step

IN_USE_ONLY: Final = (Candidate(IN_USE, IN_USE),)
"""Without a back-test, it matters only who had the queues."""

_WITH_LAG: Final = frozenset({c.JOB_LAG, c.JOB_REPORT})
_WITH_SKEW: Final = frozenset({c.JOB_SKEW, c.JOB_REPORT, c.JOB_BACKTEST})


def run_job(
    start: Callable[[], SparkSession], request: JobRequest, progress: Progress
) -> dict[str, Any]:
    """Run a job and return its summary, which is also written.

    `start` returns the session, and is only called when there is something to read.
    Roll-ups go into the lake, so their summary is returned but not written. Raises
    `JobError` when the lake holds no sample for the request.
    """
    lake = open_storage(request.lake)
    progress(0.0, "listing")
    for dataset in (c.SAMPLES, c.EPOCHS):
        absorb(lake, dataset)
    if request.job == c.JOB_ROLLUP:
        progress(0.05, "starting")
        spark = start()
        check_address(spark, lake.url)
        return _rolled_up(spark, lake, progress)
    chosen = choose_source(lake, request)
    if request.job == c.JOB_TRIAL:
        request = with_step(request, chosen)
    progress(0.05, "starting")
    spark = start()
    output = open_storage(request.output)
    for each in (lake, output):
        check_address(spark, each.url)
    summary = _summary(request, chosen, load_manifest(lake, c.SAMPLES).version)
    progress(0.1, "samples")
    wanted = _wanted(request)
    buckets, work = plan_work(lake, request, chosen, _candidates(request), wanted)
    if request.job == c.JOB_TRIAL:
        told = _between(progress, 0.1, 0.8)
        tried = try_buckets(spark, lake, buckets, work, told)
        summary |= told_of(tried, request, progress)
    else:
        told = _between(progress, 0.1, 0.95)
        summary["rows"] = write_buckets(spark, lake, buckets, work, output, told=told)
    progress(0.95, "summary")
    output.write_new(c.SUMMARY, json.dumps(summary, indent=1).encode())
    progress(1.0, "done")
    return summary


def _between(progress: Progress, begin: float, end: float) -> Callable[[float], None]:
    """Return what tells a share of the phase that reads samples."""
    return lambda share: progress(begin + (end - begin) * share, "samples")


def _rolled_up(
    spark: SparkSession, lake: Storage, progress: Progress
) -> dict[str, Any]:
    done = roll_up(spark, lake, progress)
    progress(1.0, "done")
    return {"schema": c.SCHEMA_VERSION, "job": c.JOB_ROLLUP, **done}


def _wanted(request: JobRequest) -> list[str]:
    """Return the data sets that a job has."""
    wanted = list(LAG_TABLES) if request.job in _WITH_LAG else []
    if request.job in _WITH_SKEW:
        wanted += [c.LOAD_BY_MEMBER, c.SKEW_BY_TIME, c.STRATEGIES]
        # For all groups, this would be more rows than there are samples in a step.
        is_small = request.job == c.JOB_REPORT and bool(request.groups)
        if is_small or request.job == c.JOB_BACKTEST:
            wanted.append(c.MEMBER_BY_TIME)
    return wanted


def _candidates(request: JobRequest) -> Sequence[Candidate]:
    if request.job not in _WITH_SKEW:
        return IN_USE_ONLY
    return candidates_of(request.options, request.added_members, request.strategies)


def _summary(
    request: JobRequest, source: Chosen, manifest_version: int
) -> dict[str, Any]:
    period = period_of(source, request)
    return {
        "schema": c.SCHEMA_VERSION,
        "job": request.job,
        "since": iso(period.since_ms),
        "until": iso(period.until_ms),
        "step_seconds": period.step_ms // 1000,
        "clusters": list(request.clusters),
        "groups": list(request.groups),
        "source": source.name,
        "samples": source.rows,
        "manifest_version": manifest_version,
        "rows": {},
    }
