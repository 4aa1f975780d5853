"""The two contenders on Spark: our job, and the same by a grouped pandas function.

The pandas function gets the samples of one epoch at a time and gives the scores of each
strategy and step. That is less than the job does: no member rows, no drain times, and
rates within the epoch alone, so that it needs no neighbour. Epochs and samples are
read, and strategies divide, by the very same code.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from pyspark.sql import functions as F  # noqa: N812  the usual name

from analytics import contracts as c
from analytics.division import IN_USE, WEIGHTS, Candidate, Divider, candidates_of
from analytics.jobs import run_job
from analytics.lake.manifest import load_manifest
from analytics.lake.storage import open_storage
from analytics.requests import JobRequest
from analytics.session import SessionSettings, start_session
from analytics.transforms.epochs import newest_epochs

SCORED = (
    "cluster string, group string, epoch long, strategy string, since long, "
    "seconds double, load_max_to_mean double, load_variation double, "
    "load_gini double, lag_max_to_mean double, lag_variation double, "
    "lag_gini double, idle_count int, member_count int"
)
SCORES = (c.MAX_TO_MEAN, c.VARIATION, c.GINI)


class OurContender:
    """`python -m analytics backtest`, in a warm session."""

    def __init__(self, folder: Path) -> None:
        self._session = start_session(SessionSettings(folder / "spark"))

    def run(self, request: JobRequest) -> None:
        run_job(lambda: self._session, request, lambda _part, _phase: None)


class PandasContender:
    """`applyInPandas` per epoch."""

    def __init__(self, folder: Path) -> None:
        self._session = start_session(SessionSettings(folder / "spark"))

    def run(self, request: JobRequest) -> None:
        lake = open_storage(request.lake)
        paths = {
            name: [lake.uri(file.path) for file in load_manifest(lake, name).files]
            for name in (c.SAMPLES, c.EPOCHS)
        }
        samples = self._session.read.parquet(*paths[c.SAMPLES])
        epochs = newest_epochs(self._session.read.parquet(*paths[c.EPOCHS]), 0)
        known = {
            (row[c.CLUSTER], row[c.GROUP], row[c.EPOCH]): row.asDict(recursive=True)
            for row in epochs.withColumn(WEIGHTS, F.lit(None)).collect()
        }
        candidates = [
            each
            for each in candidates_of(request.options, (), request.strategies)
            if each.name != IN_USE
        ]
        back_test = _back_test(known, candidates, request.step_seconds or 60)
        scored = samples.groupBy(c.CLUSTER, c.GROUP, c.EPOCH).applyInPandas(
            back_test, SCORED
        )
        scored.write.mode("overwrite").parquet(f"{request.output}/{c.SKEW_BY_TIME}")


def _back_test(
    epochs: dict[tuple[str, str, int], dict[str, Any]],
    candidates: Sequence[Candidate],
    step_seconds: int,
) -> Callable[[tuple[str, str, int], pd.DataFrame], pd.DataFrame]:
    def back_test(key: tuple[str, str, int], samples: pd.DataFrame) -> pd.DataFrame:
        epoch = epochs[key[0], key[1], int(key[2])]
        divider = Divider(candidates)
        columns = zip(divider.columns, divider.divide(epoch), strict=True)
        divided = pd.DataFrame(dict(columns))
        steps = _steps(samples, step_seconds).merge(
            divided, on=[c.TOPIC, c.BROKER, c.QUEUE_ID]
        )
        found = [
            _scored(steps, each, len(epoch["member_ids"]), key) for each in candidates
        ]
        return pd.concat(found, ignore_index=True)

    return back_test


def _steps(samples: pd.DataFrame, step_seconds: int) -> pd.DataFrame:
    at = samples[c.TIME].astype("datetime64[ms]").astype("int64")
    lag = (samples[c.MAX] - samples[c.COMMITTED]).clip(lower=0)
    frame = samples.assign(
        at=at,
        lag=lag,
        since=at - at % (step_seconds * 1000),
        weighed=lag * samples[c.WEIGHT],
    ).sort_values("at")
    steps = frame.groupby(
        [c.TOPIC, c.BROKER, c.QUEUE_ID, "since"], as_index=False, sort=False
    ).agg(
        seconds=(c.WEIGHT, "sum"),
        weighed=("weighed", "sum"),
        first=(c.MAX, "first"),
        last=(c.MAX, "last"),
        first_at=("at", "first"),
        last_at=("at", "last"),
    )
    steps["lag"] = steps["weighed"] / steps["seconds"]
    span = (steps["last_at"] - steps["first_at"]).replace(0, np.nan)
    steps["load"] = (steps["last"] - steps["first"]) * 1000 / span
    return steps


def _scored(
    steps: pd.DataFrame, candidate: Candidate, members: int, key: tuple[str, str, int]
) -> pd.DataFrame:
    owned = steps[steps[candidate.column] >= 0]
    by_member = owned.groupby(["since", candidate.column], sort=False).agg(
        lag=("lag", "sum"), load=("load", "sum"), seconds=("seconds", "max")
    )
    rows = []
    for since, each in by_member.groupby(level=0, sort=False):
        row: dict[str, Any] = {
            c.CLUSTER: key[0],
            c.GROUP: key[1],
            c.EPOCH: key[2],
            c.STRATEGY: candidate.name,
            c.SINCE: since,
            c.SECONDS: each["seconds"].max(),
            c.IDLE_COUNT: members - len(each),
            c.MEMBER_COUNT: members,
        }
        for name in ("load", "lag"):
            for score, value in zip(
                SCORES, _three(each[name].to_numpy(), members), strict=True
            ):
                row[f"{name}_{score}"] = value
        rows.append(row)
    return pd.DataFrame(rows, columns=[part.split()[0] for part in SCORED.split(", ")])


def _three(busy: np.ndarray, members: int) -> tuple[float, float, float]:
    loads = np.sort(np.concatenate([np.zeros(members - len(busy)), busy]))
    total = loads.sum()
    if not total:
        return 1.0, 0.0, 0.0
    mean = total / members
    ranked = (np.arange(1, members + 1) * loads).sum()
    gini = 2 * ranked / total / members - (members + 1) / members
    return loads[-1] / mean, loads.std() / mean, max(0.0, gini)
