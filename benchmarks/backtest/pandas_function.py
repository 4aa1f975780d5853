"""The same as our job by a grouped pandas function on Spark.

Pandas has to be installed for it (`pandas>=2.3.3,<3`); nothing else needs it. The
function gets the samples of one epoch at a time and gives, for each strategy and step,
its scores and what each member would have had: one pass, kept in memory, from which the
job's three large data sets are written. That is still less than the job does: it has no
drain times and no ranks, nothing about members without queues, and only rates within
the epoch, so that it needs no neighbour. Queues are divided by the very same code.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import pandas as pd
from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812  the usual name

from analytics import contracts as c
from analytics.division import IN_USE, WEIGHTS, Candidate, Divider, candidates_of
from analytics.lake.manifest import load_manifest
from analytics.lake.storage import open_storage
from analytics.presence import Period
from analytics.requests import JobRequest
from analytics.session import SessionSettings, start_session
from analytics.sources import choose_source, period_of
from analytics.transforms.steps import LONGEST_GAP_MS, REACH_MS
from benchmarks.backtest.epochs import EPOCH_KEY, OVER, newest_epochs, told_epochs

SCORED = (
    "cluster string, group string, epoch long, strategy string, since long, "
    "seconds double, unknown_seconds double, "
    "load_max_to_mean double, load_variation double, "
    "load_gini double, lag_max_to_mean double, lag_variation double, "
    "lag_gini double, idle_count int, member_count int, unowned_count int, "
    "client_id string, queue_count int, known_queues int, lag_mean double, "
    "load double, known_lag double, known_load double"
)
COLUMNS = [part.split()[0] for part in SCORED.split(", ")]
OF_MEMBERS = (c.CLIENT_ID, c.QUEUE_COUNT, c.KNOWN_QUEUES, c.LAG_MEAN, c.LOAD)
WHOLE = {c.LAG_MEAN: "known_lag", c.LOAD: "known_load"}
"""The same where it is known of all queues."""
TIMES = (c.SECONDS, c.UNKNOWN_SECONDS)
SCORES = (c.MAX_TO_MEAN, c.VARIATION, c.GINI)

_OF_QUERIES: Final = {
    "spark.sql.codegen.wholeStage": "true",
    # Two cores: more partitions than this only cost scheduling.
    "spark.sql.shuffle.partitions": "4",
    "spark.sql.parquet.compression.codec": "zstd",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    # Rows of one group are in one partition: joins by more keys need no shuffle.
    "spark.sql.requireAllClusterKeysForCoPartition": "false",
}
"""Jobs have no query that would need these."""


class PandasContender:
    """`applyInPandas` per epoch."""

    def __init__(self, folder: Path) -> None:
        settings = SessionSettings(folder / "spark", extra=_OF_QUERIES)
        self._session = start_session(settings)

    def run(self, request: JobRequest) -> None:
        lake = open_storage(request.lake)
        paths = {
            name: [lake.uri(file.path) for file in load_manifest(lake, name).files]
            for name in (c.SAMPLES, c.EPOCHS)
        }
        samples = self._session.read.parquet(*paths[c.SAMPLES])
        epochs = self._session.read.parquet(*paths[c.EPOCHS])
        period = period_of(choose_source(lake, request), request)
        if period.step_ms < REACH_MS:
            raise ValueError(f"{period.step_ms} ms are shorter than claims may be")
        ended = told_epochs(epochs).select(*EPOCH_KEY, F.unix_millis(OVER).alias(OVER))
        known = {
            (row[c.CLUSTER], row[c.GROUP], row[c.EPOCH]): row.asDict(recursive=True)
            for row in newest_epochs(epochs, period.since_ms)
            .join(ended, on=list(EPOCH_KEY))
            .withColumn(c.BEGAN, F.unix_millis(c.BEGAN))
            .withColumn(WEIGHTS, F.lit(None))
            .collect()
        }
        candidates = [
            each
            for each in candidates_of(request.options, (), request.strategies)
            if each.name != IN_USE
        ]
        back_test = _back_test(known, candidates, period)
        # Epochs without a sample are there, too.
        named = self._session.createDataFrame(
            list(known), samples.select(*EPOCH_KEY).schema
        )
        scored = (
            samples.unionByName(named, allowMissingColumns=True)
            .groupBy(*EPOCH_KEY)
            .applyInPandas(back_test, SCORED)
        )
        scored.persist()
        is_member = F.col(c.CLIENT_ID).isNotNull()
        of_members = scored.where(is_member)
        key = (c.CLUSTER, c.GROUP, c.EPOCH, c.STRATEGY, c.CLIENT_ID)
        loads = of_members.groupBy(*key).agg(
            F.max(c.QUEUE_COUNT).alias(c.QUEUE_COUNT),
            *(F.sum(name).alias(name) for name in TIMES),
            *(_mean(whole).alias(name) for name, whole in WHOLE.items()),
            F.max(WHOLE[c.LAG_MEAN]).alias(c.LAG_PEAK),
        )
        by_time = of_members.select(*key, c.SINCE, *TIMES, *OF_MEMBERS[1:])
        scores = scored.where(~is_member).drop(*OF_MEMBERS, *WHOLE.values())
        for name, frame in (
            (c.SKEW_BY_TIME, scores),
            (c.MEMBER_BY_TIME, by_time),
            (c.LOAD_BY_MEMBER, loads),
        ):
            frame.write.mode("overwrite").parquet(f"{request.output}/{name}")
        scored.unpersist()


def _mean(column: str) -> Column:
    weight = F.when(F.col(column).isNotNull(), F.col(c.SECONDS))
    return F.sum(F.col(column) * weight) / F.nullif(F.sum(weight), F.lit(0.0))


def _back_test(
    epochs: dict[tuple[str, str, int], dict[str, Any]],
    candidates: Sequence[Candidate],
    period: Period,
) -> Callable[[tuple[str, str, int], pd.DataFrame], pd.DataFrame]:
    def back_test(key: tuple[str, str, int], samples: pd.DataFrame) -> pd.DataFrame:
        epoch = epochs.get((key[0], key[1], int(key[2])))
        if epoch is None:
            return pd.DataFrame(columns=COLUMNS)
        divider = Divider(candidates)
        columns = zip(divider.columns, divider.divide(epoch), strict=True)
        samples = samples[samples[c.TIME].notna()]
        steps = _steps(samples, _there(epoch, period), period.step_ms)
        divided = steps.merge(pd.DataFrame(dict(columns)), on=QUEUE)
        found = [
            _scored(divided, each, epoch["member_ids"], key) for each in candidates
        ]
        return pd.concat(found, ignore_index=True)

    return back_test


QUEUE = [c.TOPIC, c.BROKER, c.QUEUE_ID]


def _there(epoch: dict[str, Any], period: Period) -> pd.DataFrame:
    """Return a row for each queue and step in which the epoch names it."""
    begin = max(epoch[c.BEGAN], period.since_ms)
    end = min(epoch[OVER] or period.until_ms, period.until_ms)
    since = np.arange(begin - begin % period.step_ms, end, period.step_ms)
    length = np.minimum(since + period.step_ms, end) - np.maximum(since, begin)
    steps = pd.DataFrame({"since": since, "length": length})
    return pd.DataFrame(epoch[c.QUEUES])[QUEUE].merge(steps, how="cross")


def _steps(samples: pd.DataFrame, there: pd.DataFrame, step_ms: int) -> pd.DataFrame:
    """Return the steps in which queues were there: what is known of them, and is not.

    A claim is never longer than a step: it reaches into the one before at most.
    """
    at = samples[c.TIME].astype("datetime64[ms]").astype("int64")
    lag = (samples[c.MAX] - samples[c.COMMITTED]).clip(lower=0)
    since = (at - 1) // step_ms * step_ms
    claim = (samples[c.WEIGHT] * 1000).round().clip(upper=REACH_MS).where(lag.notna())
    own = np.minimum(claim, at - since)
    frame = samples[[*QUEUE, c.MAX]].assign(at=at, lag=lag, since=since, claim=own)
    spilled = frame.assign(claim=claim - own, since=since - step_ms, max=np.nan)
    rows = pd.concat([frame, spilled[spilled["claim"] > 0]], ignore_index=True)
    rows = rows.assign(
        weighed=rows["lag"] * rows["claim"], at=rows["at"].where(rows[c.MAX].notna())
    ).sort_values("at")
    steps = (
        rows.groupby([*QUEUE, "since"], as_index=False, sort=False)
        .agg(
            claim=("claim", "sum"),
            weighed=("weighed", "sum"),
            first=(c.MAX, "first"),
            last=(c.MAX, "last"),
            first_at=("at", "first"),
            last_at=("at", "last"),
        )
        .merge(there, on=[*QUEUE, "since"], how="outer")
        .sort_values([*QUEUE, "since"], ignore_index=True)
    )
    steps["lag"] = steps["weighed"] / steps["claim"].replace(0, np.nan)
    steps["load"] = _rates(steps, step_ms)
    steps = steps[steps["length"] > 0].copy()
    known = np.minimum(steps["claim"].fillna(0), steps["length"])
    steps["seconds"] = known / 1000
    steps["unknown"] = (steps["length"] - known) / 1000
    steps["known"] = steps["lag"].notna() & steps["load"].notna()
    return steps


def _rates(steps: pd.DataFrame, step_ms: int) -> pd.Series:
    """Return what came in since the step before, in messages a second."""
    by_queue = steps.groupby(QUEUE, sort=False)
    ends = ["last", "last_at"]
    prior = by_queue[ends].ffill().groupby([steps[each] for each in QUEUE]).shift()
    following = by_queue[["first", "first_at"]].bfill()
    last = steps["last"].fillna(following["first"])
    last_at = steps["last_at"].fillna(following["first_at"])
    near = last_at - prior["last_at"] <= max(2 * step_ms, LONGEST_GAP_MS)
    grown = last - prior["last"].where(near, steps["first"])
    span = last_at - prior["last_at"].where(near, steps["first_at"])
    return (grown * 1000 / span).where((grown >= 0) & (span > 0))


def _scored(
    steps: pd.DataFrame,
    candidate: Candidate,
    member_ids: Sequence[str],
    key: tuple[str, str, int],
) -> pd.DataFrame:
    members = len(member_ids)
    place = steps[candidate.column].astype("float64").rename("place")
    by_member = steps.groupby(["since", place], sort=False).agg(
        lag=("lag", "sum"),
        load=("load", "sum"),
        lags=("lag", "count"),
        loads=("load", "count"),
        seconds=("seconds", "mean"),
        unknown_seconds=("unknown", "mean"),
        queue_count=("lag", "size"),
        known_queues=("known", "sum"),
    )
    for name in ("lag", "load"):
        known = by_member[f"{name}s"]
        by_member[name] = by_member[name].where(known > 0)
        whole = by_member[name].where(known == by_member[c.QUEUE_COUNT])
        by_member[f"known_{name}"] = whole
    rows = []
    for since, each in by_member.groupby(level=0, sort=False):
        nobody = each.index.get_level_values("place") < 0
        busy, queues = each[~nobody], each[c.QUEUE_COUNT]
        unowned = queues[nobody].sum()
        row: dict[str, Any] = {
            c.CLUSTER: key[0],
            c.GROUP: key[1],
            c.EPOCH: key[2],
            c.STRATEGY: candidate.name,
            c.SINCE: since,
            **{name: np.average(each[name], weights=queues) for name in TIMES},
            c.IDLE_COUNT: members - len(busy),
            c.MEMBER_COUNT: members,
            c.UNOWNED_COUNT: unowned,
        }
        for name in ("load", "lag"):
            values = busy[f"known_{name}"].to_numpy()
            if unowned == 0 and not np.isnan(values).any():
                for score, value in zip(SCORES, _three(values, members), strict=True):
                    row[f"{name}_{score}"] = value
        rows.append(row)
    scores = pd.DataFrame(rows, columns=COLUMNS)
    of_members = by_member.reset_index().rename(columns={"lag": c.LAG_MEAN})
    of_members = of_members[of_members["place"] >= 0]
    places = of_members["place"].astype("int64")
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
