"""The same job in DuckDB: equal steps, division, scores, drain times and outputs.

Epochs are divided by the same Python code, in this process; everything else is SQL over
the same Parquet files, with two threads. A claim is never longer than the shortest step
that is used here, so that it reaches into one earlier step at most: the part in that
step is summed separately, and no sample ever becomes two rows.
"""

from __future__ import annotations

from datetime import datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.compute as pc

from analytics import contracts as c
from analytics.division import IN_USE, MEMBER_IDS, WEIGHTS, Divider, candidates_of
from analytics.lake.reader import read_table
from analytics.lake.storage import Storage, open_storage
from analytics.presence import Period
from analytics.requests import JobRequest
from analytics.sources import choose_source, period_of
from analytics.transforms.steps import LONGEST_GAP_MS, REACH_MS
from rmqcore.allocation.drain import HORIZON_S, ROUNDING

THREADS = 2


class DuckContender:
    """One connection, warm."""

    def __init__(self, folder: Path) -> None:
        self._base = duckdb.connect(
            config={"threads": THREADS, "temp_directory": str(folder)}
        )

    def run(self, request: JobRequest) -> None:
        """Do the job over a whole lake; steps are not shorter than a claim may be."""
        lake = open_storage(request.lake)
        root = request.lake.rstrip("/")
        chosen = choose_source(lake, request)
        period = period_of(chosen, request)
        step_ms = period.step_ms
        if step_ms < REACH_MS:
            raise ValueError(f"{step_ms} ms are shorter than claims may be")
        files = [f"{root}/{file.path}" for file in chosen.files]
        candidates = candidates_of(request.options, (), request.strategies)
        divider = Divider(candidates)
        epochs = _epochs(lake, period.since_ms)
        columns: list[list[Any]] = [[] for _ in divider.columns]
        for epoch in epochs:
            for column, values in zip(columns, divider.divide(epoch), strict=True):
                column.extend(values)
        db = self._base.cursor()
        db.register(
            "divided", pa.table(dict(zip(divider.columns, columns, strict=True)))
        )
        db.register("members", _members(epochs))
        db.register("spans", _spans(epochs, period))
        steps = _STEPS.replace("$after", str(max(2, LONGEST_GAP_MS // step_ms)))
        db.execute(steps, {"files": files, "step": step_ms})
        names = [each.name for each in candidates]
        pairs = ", ".join(
            f"{{'choice': {at}, 'member': \"owner_{name}\"}}"
            for at, name in enumerate(names)
        )
        db.execute(_BY_MEMBER.replace("$pairs", pairs))
        in_use = names.index(IN_USE)
        told = ", ".join(f"'{name}'" for name in names if name != IN_USE)
        db.execute(f"SET VARIABLE names = [{told}]")
        db.execute(_BY_TIME.replace("$in_use", str(in_use)))
        moved = ", ".join(
            f"{{'strategy': '{name}', 'moves': CASE WHEN count(\"moved_{name}\") > 0"
            f' THEN count_if("moved_{name}") END}}'
            for name in names
            if name != IN_USE
        )
        db.execute(_TOTALS.replace("$moved", moved))
        for query, name in (
            (_LOAD_BY_MEMBER, c.LOAD_BY_MEMBER),
            (_MEMBER_BY_TIME, c.MEMBER_BY_TIME),
            ("FROM by_time", c.SKEW_BY_TIME),
            ("FROM totals", c.STRATEGIES),
        ):
            selected = query.replace("$in_use", str(in_use))
            path = Path(request.output, name, "part.parquet")
            path.parent.mkdir(parents=True, exist_ok=True)
            db.execute(f"COPY ({selected}) TO '{path}' (COMPRESSION zstd)")
        for table in ("steps", "by_member", "by_time", "totals"):
            db.execute(f"DROP TABLE {table}")
        db.close()


_OVER = "over"


def _epochs(lake: Storage, since_ms: int) -> list[dict[str, Any]]:
    """Return the epochs that were not over by then, in order, each of which is once."""
    table = read_table(lake, c.EPOCHS)
    order = [(name, "ascending") for name in (c.CLUSTER, c.GROUP, c.EPOCH)]
    rows = table.sort_by(order).to_pylist()
    for row in rows:
        row[_OVER] = row[c.ENDED_BEFORE]
        row[MEMBER_IDS] = [member[c.CLIENT_ID] for member in row[c.MEMBERS]]
        row[WEIGHTS] = None
    for row, following in pairwise(rows):
        if (row[c.CLUSTER], row[c.GROUP]) == (following[c.CLUSTER], following[c.GROUP]):
            known = (row[_OVER], following[c.BEGAN])
            row[_OVER] = min(each for each in known if each is not None)
    return [row for row in rows if row[_OVER] is None or _ms(row[_OVER]) > since_ms]


def _members(epochs: list[dict[str, Any]]) -> pa.Table:
    rows = [
        (e[c.CLUSTER], e[c.GROUP], e[c.EPOCH], place, client_id, len(e[MEMBER_IDS]))
        for e in epochs
        for place, client_id in enumerate(e[MEMBER_IDS])
    ]
    names = (c.CLUSTER, c.GROUP, c.EPOCH, "member", c.CLIENT_ID, "member_count")
    columns = zip(*rows, strict=True)
    table = pa.table(dict(zip(names, map(list, columns), strict=True)))
    assert not pc.any(pc.is_null(table[c.CLIENT_ID])).as_py()
    return table


def _spans(epochs: list[dict[str, Any]], period: Period) -> pa.Table:
    """Return from when until when (ms) epochs named their queues in the period."""
    rows = []
    for epoch in epochs:
        begin = max(_ms(epoch[c.BEGAN]), period.since_ms)
        over = epoch[_OVER]
        end = period.until_ms if over is None else min(_ms(over), period.until_ms)
        if begin < end:
            names = (c.CLUSTER, c.GROUP, c.EPOCH, c.QUEUES)
            rows.append({name: epoch[name] for name in names} | {"b": begin, "e": end})
    return pa.Table.from_pylist(rows)


def _ms(moment: datetime) -> int:
    return round(moment.timestamp() * 1000)


def _rate(offset: str) -> str:
    """Return an offset's growth a second since the step before, else in the step."""
    return f"""
  coalesce({offset}_last, {offset}_next) AS {offset}_end,
  coalesce({offset}_last_at, {offset}_next_at) AS {offset}_end_at,
  {offset}_end_at - {offset}_prior_at <= greatest(2 * $step, {LONGEST_GAP_MS})
    AS {offset}_near,
  CASE WHEN {offset}_near THEN {offset}_prior ELSE {offset}_first END
    AS {offset}_start,
  CASE WHEN {offset}_near THEN {offset}_prior_at ELSE {offset}_first_at END
    AS {offset}_start_at,
  CASE WHEN {offset}_end >= {offset}_start AND {offset}_end_at > {offset}_start_at
    THEN ({offset}_end - {offset}_start) * 1000.0
         / ({offset}_end_at - {offset}_start_at) END"""


# Claims, lengths and steps are in ms. A claim's part of its moment's step is `own`, and
# `spilled` its part of the step before: that is added there by `lead`, since the row of
# the one step is always next to that of the other.
_STEPS = f"""
CREATE TABLE steps AS
WITH samples AS (
  SELECT cluster, "group", topic, broker, queue_id, epoch,
    epoch_ms("time") AS "at", "at" - 1 - ("at" - 1) % $step AS step,
    "max", committed, greatest("max" - committed, 0) AS behind,
    CASE WHEN "max" - committed IS NOT NULL THEN behind::DOUBLE END AS lag,
    least(round(weight * 1000), {REACH_MS}) AS claim,
    -- Not for nulls, which `least` skips.
    CASE WHEN lag IS NOT NULL THEN least(claim, "at" - step) END AS own,
    claim - own AS spilled
  FROM read_parquet($files)
), there AS (
  SELECT cluster, "group", epoch, unnest(queues, recursive := true), step,
    (least(e, step + $step) - greatest(b, step))::DOUBLE AS length
  FROM (SELECT *, unnest(range(b - b % $step, e, $step)) AS step FROM spans)
), summed AS (
  SELECT cluster, "group", topic, broker, queue_id, epoch, step,
    max(length) AS length, sum(own) AS own, sum(lag * own) AS own_lag,
    sum(spilled) AS spilled, sum(lag * spilled) AS spilled_lag,
    min("at") FILTER ("max" IS NOT NULL) AS max_first_at,
    arg_min("max", "at") AS max_first,
    max("at") FILTER ("max" IS NOT NULL) AS max_last_at,
    arg_max("max", "at") AS max_last,
    min("at") FILTER (committed IS NOT NULL) AS committed_first_at,
    arg_min(committed, "at") AS committed_first,
    max("at") FILTER (committed IS NOT NULL) AS committed_last_at,
    arg_max(committed, "at") AS committed_last
  FROM (FROM samples UNION ALL BY NAME FROM there)
  GROUP BY ALL
), beside AS (
  SELECT *,
    lead(epoch) OVER w = epoch AND lead(step) OVER w = step + $step AS adjoins,
    coalesce(own, 0)
      + CASE WHEN adjoins THEN coalesce(lead(spilled) OVER w, 0) ELSE 0 END AS claimed,
    coalesce(own_lag, 0)
      + CASE WHEN adjoins THEN coalesce(lead(spilled_lag) OVER w, 0) ELSE 0 END
      AS claimed_lag,
    lag(max_last IGNORE NULLS) OVER w AS max_prior,
    lag(max_last_at IGNORE NULLS) OVER w AS max_prior_at,
    lag(committed_last IGNORE NULLS) OVER w AS committed_prior,
    lag(committed_last_at IGNORE NULLS) OVER w AS committed_prior_at,
    first_value(max_first IGNORE NULLS) OVER soon AS max_next,
    first_value(max_first_at IGNORE NULLS) OVER soon AS max_next_at,
    first_value(committed_first IGNORE NULLS) OVER soon AS committed_next,
    first_value(committed_first_at IGNORE NULLS) OVER soon AS committed_next_at
  FROM summed
  WINDOW w AS (PARTITION BY cluster, "group", topic, broker, queue_id
               ORDER BY epoch, step),
    soon AS (PARTITION BY cluster, "group", topic, broker, queue_id
             ORDER BY epoch, step ROWS BETWEEN 1 FOLLOWING AND $after FOLLOWING)
), rated AS (
  SELECT *, {_rate("max")} AS in_rate, {_rate("committed")} AS out_rate
  FROM beside WHERE length > 0
)
SELECT cluster, "group", topic, broker, queue_id, epoch, step AS since,
  least(claimed, length) / 1000 AS seconds, length / 1000 - seconds AS unknown_seconds,
  claimed_lag / nullif(claimed, 0) AS lag_mean, in_rate, out_rate
FROM rated
"""


def _evenness(name: str) -> str:
    """Return the three scores of `lag` or `load`; null unless all of it is known."""
    top, total, spread, ranked = (
        f"{name}_{each}" for each in ("top", "sum", "spread", "ranked")
    )
    scores = {
        c.MAX_TO_MEAN: (f"{top} * member_count / {total}", 1),
        c.VARIATION: (
            f"""sqrt(({spread} * busy + ({total} / busy) ** 2 * busy * idle_count
      / member_count) / member_count) * member_count / {total}""",
            0,
        ),
        c.GINI: (
            f"""greatest(0, 2 * ({ranked} + idle_count * {total})
      / {total} / member_count - (member_count + 1) / member_count)""",
            0,
        ),
    }
    return ",\n  ".join(
        f"CASE WHEN {name}_told THEN CASE WHEN {total} > 0 THEN {value} ELSE {even} END"
        f" END AS {name}_{score}"
        for score, (value, even) in scores.items()
    )


def _weighted(column: str, where: str = "true") -> str:
    """Return a mean over the time in which a column is known."""
    known = f"FILTER ({where} AND {column} IS NOT NULL)"
    total = f"nullif(sum(seconds) {known}, 0)"
    return f"sum({column} * seconds) {known} / {total} AS {column}"


_SCORES = [
    f"{name}_{score}"
    for name in ("lag", "load")
    for score in (c.MAX_TO_MEAN, c.VARIATION, c.GINI)
]


_BY_MEMBER = """
CREATE TABLE by_member AS
WITH unfolded AS (
  SELECT cluster, "group", epoch, since, seconds, unknown_seconds, lag_mean, in_rate,
    out_rate, unnest([$pairs], recursive := true)
  FROM steps JOIN divided USING (cluster, "group", topic, broker, queue_id, epoch)
)
SELECT cluster, "group", epoch, choice, since, member, count(*) AS queue_count,
  avg(seconds) AS seconds, avg(unknown_seconds) AS unknown_seconds,
  sum(lag_mean) AS lag, count(lag_mean) = queue_count AS lag_whole,
  sum(in_rate) AS load, count(in_rate) = queue_count AS load_whole,
  count(lag_mean + in_rate) AS known_queues, sum(out_rate) AS out_rate
FROM unfolded WHERE member IS NOT NULL GROUP BY ALL
"""

_BY_TIME = f"""
CREATE TABLE by_time AS
WITH capacity AS (
  SELECT cluster, "group", max(out_rate) AS capacity FROM by_member
  WHERE choice = $in_use AND member >= 0 GROUP BY ALL
), sizes AS (
  SELECT DISTINCT cluster, "group", epoch, member_count FROM members
), drained AS (
  SELECT m.*, capacity, capacity - least(load, capacity) AS spare,
    member >= 0 AS owned, lag_whole AND load_whole AS known,
    CASE WHEN owned THEN
      CASE WHEN load > capacity * (1 + {ROUNDING}) THEN 'infinity'::DOUBLE
           WHEN NOT known THEN NULL WHEN lag = 0 THEN 0
           WHEN capacity IS NULL THEN NULL
           WHEN lag > spare * {HORIZON_S} THEN 'infinity'::DOUBLE
           ELSE lag / spare END
    ELSE CASE WHEN lag > 0 OR load > 0 THEN 'infinity'::DOUBLE
              WHEN known THEN 0 END END AS drain,
    row_number() OVER (PARTITION BY cluster, "group", epoch, choice, since
      ORDER BY lag) AS lag_place,
    row_number() OVER (PARTITION BY cluster, "group", epoch, choice, since
      ORDER BY load) AS load_place
  FROM by_member m LEFT JOIN capacity USING (cluster, "group")
  WHERE choice <> $in_use
), summed AS (
  SELECT cluster, "group", epoch, choice, since,
    sum(seconds * queue_count) / sum(queue_count) AS seconds,
    sum(unknown_seconds * queue_count) / sum(queue_count) AS unknown_seconds,
    max(capacity) AS capacity, count_if(owned) AS busy,
    coalesce(sum(queue_count) FILTER (NOT owned), 0) AS unowned_count,
    max(drain) AS worst, count(drain) < count(*) AS partial,
    bool_and(load_whole) FILTER (owned) AS load_known,
    max(load) FILTER (owned) AS busiest,
    bool_and(lag_whole) FILTER (owned) AND unowned_count = 0 AS lag_told,
    sum(lag) AS lag_sum, max(lag) AS lag_top,
    var_pop(lag) AS lag_spread, sum(lag * lag_place) AS lag_ranked,
    load_known AND unowned_count = 0 AS load_told,
    sum(load) AS load_sum, max(load) AS load_top,
    var_pop(load) AS load_spread, sum(load * load_place) AS load_ranked
  FROM drained GROUP BY ALL
), sized AS (
  SELECT *, member_count - busy AS idle_count
  FROM summed JOIN sizes USING (cluster, "group", epoch)
)
SELECT cluster, "group", epoch, getvariable('names')[choice + 1] AS strategy, since,
  seconds, unknown_seconds, member_count, idle_count, unowned_count,
  {_evenness("lag")}, {_evenness("load")},
  CASE WHEN load_known THEN busiest END AS load_peak,
  CASE WHEN busiest > capacity * (1 + {ROUNDING}) THEN true
       WHEN load_known AND capacity IS NOT NULL THEN false END AS overload,
  CASE WHEN worst < 'infinity' AND NOT partial THEN worst END AS drain_seconds,
  CASE WHEN worst = 'infinity' THEN true WHEN NOT partial THEN false END
    AS never_drains
FROM sized
"""

_TOTALS = f"""
CREATE TABLE totals AS
WITH moved AS (
  SELECT cluster, "group", unnest([$moved], recursive := true)
  FROM divided GROUP BY cluster, "group"
), scored AS (
  SELECT cluster, "group", strategy, sum(seconds) AS seconds,
    sum(unknown_seconds) AS unknown_seconds, count(DISTINCT epoch) AS epoch_count,
    sum(idle_count * seconds) / nullif(sum(member_count * seconds), 0) AS idle_share,
    {", ".join(map(_weighted, _SCORES))},
    CASE WHEN count(overload) > 0
      THEN coalesce(sum(seconds) FILTER (overload), 0) END AS overload_seconds,
    max(drain_seconds) AS drain_peak,
    CASE WHEN count(never_drains) > 0
      THEN coalesce(sum(seconds) FILTER (never_drains), 0) END AS never_seconds,
    max(unowned_count) AS unowned_count
  FROM by_time GROUP BY ALL
), ranked AS (
  SELECT *, moves / nullif(epoch_count - 1, 0) AS moves_per_change,
    load_max_to_mean IS NOT NULL AND unowned_count = 0 AND strategy <> 'BALANCED'
      AND NOT starts_with(strategy, 'in_use') AS is_ranked
  FROM scored LEFT JOIN moved USING (cluster, "group", strategy)
)
SELECT * EXCLUDE (is_ranked),
  CASE WHEN is_ranked
  THEN row_number() OVER (PARTITION BY cluster, "group", is_ranked
    ORDER BY round(load_max_to_mean, 9), moves, strategy) END AS "rank"
FROM ranked
"""

_LOAD_BY_MEMBER = f"""
WITH summed AS (
  SELECT cluster, "group", epoch, choice, member, max(queue_count) AS queue_count,
    sum(seconds) AS seconds, sum(unknown_seconds) AS unknown_seconds,
    {_weighted("lag", "lag_whole")}, max(lag) FILTER (lag_whole) AS lag_peak,
    {_weighted("load", "load_whole")}
  FROM by_member WHERE choice <> $in_use GROUP BY ALL
), everyone AS (
  SELECT m.*, choice FROM members m JOIN (
    SELECT DISTINCT cluster, "group", epoch, choice FROM summed
  ) USING (cluster, "group", epoch)
)
SELECT cluster, "group", epoch, getvariable('names')[choice + 1] AS strategy, client_id,
  coalesce(queue_count, 0) AS queue_count, seconds, unknown_seconds,
  CASE WHEN queue_count IS NULL THEN 0 ELSE lag END AS lag_mean,
  CASE WHEN queue_count IS NULL THEN 0 ELSE lag_peak END AS lag_peak,
  CASE WHEN queue_count IS NULL THEN 0 ELSE load END AS load
FROM everyone LEFT JOIN summed USING (cluster, "group", epoch, choice, member)
"""

_MEMBER_BY_TIME = """
SELECT cluster, "group", epoch, getvariable('names')[choice + 1] AS strategy, client_id,
  since, seconds, unknown_seconds, queue_count, known_queues, lag AS lag_mean, load
FROM by_member LEFT JOIN members USING (cluster, "group", epoch, member)
WHERE choice <> $in_use AND member >= 0
"""
