"""The two contenders on Spark: our job, and the same by a grouped pandas function.

The pandas function gets the samples of one epoch at a time and gives, for each strategy
and step, its scores and what each member would have had: one pass, kept in memory, from
which the job's three large data sets are written. That is still less than the job does:
no drain times and no ranks, and rates within the epoch alone, so that it needs no
neighbour. Epochs and samples are read, and strategies divide, by the very same code.
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
    "lag_gini double, idle_count int, member_count int, "
    "client_id string, queue_count int, lag_mean double, load double"
)
COLUMNS = [part.split()[0] for part in SCORED.split(", ")]
OF_MEMBERS = (c.CLIENT_ID, c.QUEUE_COUNT, c.LAG_MEAN, c.LOAD)
"""Filled in the rows of members; those of scores have none of it."""
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
        scored.persist()
        is_member = F.col(c.CLIENT_ID).isNotNull()
        of_members = scored.where(is_member)
        key = (c.CLUSTER, c.GROUP, c.EPOCH, c.STRATEGY, c.CLIENT_ID)
        weight = F.sum(c.SECONDS)
        loads = of_members.groupBy(*key).agg(
            F.max(c.QUEUE_COUNT).alias(c.QUEUE_COUNT),
            weight.alias(c.SECONDS),
            (F.sum(F.col(c.LAG_MEAN) * F.col(c.SECONDS)) / weight).alias(c.LAG_MEAN),
            F.max(c.LAG_MEAN).alias(c.LAG_PEAK),
            (F.sum(F.col(c.LOAD) * F.col(c.SECONDS)) / weight).alias(c.LOAD),
        )
        by_time = of_members.select(*key, c.SINCE, c.SECONDS, *OF_MEMBERS[1:])
        for name, frame in (
            (c.SKEW_BY_TIME, scored.where(~is_member).drop(*OF_MEMBERS)),
            (c.MEMBER_BY_TIME, by_time),
            (c.LOAD_BY_MEMBER, loads),
        ):
            frame.write.mode("overwrite").parquet(f"{request.output}/{name}")
        scored.unpersist()


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
        found = [_scored(steps, each, epoch["member_ids"], key) for each in candidates]
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
    steps: pd.DataFrame,
    candidate: Candidate,
    member_ids: Sequence[str],
    key: tuple[str, str, int],
) -> pd.DataFrame:
    members = len(member_ids)
    owned = steps[steps[candidate.column] >= 0]
    by_member = owned.groupby(["since", candidate.column], sort=False).agg(
        lag=("lag", "sum"),
        load=("load", "sum"),
        seconds=("seconds", "max"),
        queue_count=("lag", "size"),
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
    scores = pd.DataFrame(rows, columns=COLUMNS)
    of_members = by_member.reset_index().rename(columns={"lag": c.LAG_MEAN})
    places = of_members[candidate.column].astype("int64")
    of_members[c.CLIENT_ID] = np.array(member_ids, object)[places]
    of_members[[c.CLUSTER, c.GROUP, c.EPOCH]] = key
    of_members[c.STRATEGY] = candidate.name
    return pd.concat([scores, of_members.reindex(columns=COLUMNS)], ignore_index=True)


def _three(busy: np.ndarray, members: int) -> tuple[float, float, float]:
    loads = np.sort(np.concatenate([np.zeros(members - len(busy)), busy]))
    total = loads.sum()
    if not total:
        return 1.0, 0.0, 0.0
    mean = total / members
    ranked = (np.arange(1, members + 1) * loads).sum()
    gini = 2 * ranked / total / members - (members + 1) / members
    return loads[-1] / mean, loads.std() / mean, max(0.0, gini)
