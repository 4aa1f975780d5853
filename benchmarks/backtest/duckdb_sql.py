"""The same job in DuckDB: equal steps, division, scores, drain times and outputs.

Epochs are divided by the same Python code, in this process; everything else is SQL over
the same Parquet files, with two threads.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.compute as pc

from analytics import contracts as c
from analytics.division import IN_USE, MEMBER_IDS, WEIGHTS, Divider, candidates_of
from analytics.lake.manifest import load_manifest
from analytics.lake.reader import read_table
from analytics.lake.storage import Storage, open_storage
from analytics.requests import JobRequest
from analytics.transforms.lag import LONGEST_GAP_MS
from rmqcore.allocation.drain import HORIZON_S

THREADS = 2


class DuckContender:
    """One connection, warm."""

    def __init__(self, folder: Path) -> None:
        self._base = duckdb.connect(
            config={"threads": THREADS, "temp_directory": str(folder)}
        )

    def run(self, request: JobRequest) -> None:
        lake = open_storage(request.lake)
        root = request.lake.rstrip("/")
        files = [f"{root}/{f.path}" for f in load_manifest(lake, c.SAMPLES).files]
        output = Path(request.output)
        output.mkdir(parents=True, exist_ok=True)
        candidates = candidates_of(request.options, (), request.strategies)
        divider = Divider(candidates)
        epochs = _epochs(lake)
        columns: list[list[Any]] = [[] for _ in divider.columns]
        for epoch in epochs:
            for column, values in zip(columns, divider.divide(epoch), strict=True):
                column.extend(values)
        db = self._base.cursor()
        db.register(
            "divided", pa.table(dict(zip(divider.columns, columns, strict=True)))
        )
        db.register("members", _members(epochs))
        step_ms = (request.step_seconds or 60) * 1000
        db.execute(_STEPS, {"files": files, "step": step_ms})
        names = [each.name for each in candidates]
        pairs = ", ".join(
            f"{{'choice': {at}, 'member': \"owner_{name}\"}}"
            for at, name in enumerate(names)
        )
        db.execute(_BY_MEMBER.replace("$pairs", pairs))
        in_use = names.index(IN_USE)
        told = ", ".join(f"'{name}'" for name in names if name != IN_USE)
        db.execute(f"SET VARIABLE names = [{told}]")
        by_time = _BY_TIME.replace("$horizon", str(HORIZON_S))
        db.execute(by_time.replace("$in_use", str(in_use)))
        moved = ", ".join(
            f"{{'strategy': '{name}', 'moves': count_if(\"moved_{name}\")}}"
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
            db.execute(
                f"COPY ({selected}) TO '{output}/{name}.parquet' (COMPRESSION zstd)"
            )
        for table in ("steps", "by_member", "by_time", "totals"):
            db.execute(f"DROP TABLE {table}")
        db.close()


def _epochs(lake: Storage) -> list[dict[str, Any]]:
    table = read_table(lake, c.EPOCHS)
    order = [(name, "ascending") for name in (c.CLUSTER, c.GROUP, c.EPOCH)]
    rows = table.sort_by(order).to_pylist()
    following = zip(rows, [*rows[1:], None], strict=True)
    rows = [row for row, other in following if not _is_over(row, other)]
    for row in rows:
        row[MEMBER_IDS] = [member[c.CLIENT_ID] for member in row[c.MEMBERS]]
        row[WEIGHTS] = None
    return rows


def _is_over(row: dict[str, Any], following: dict[str, Any] | None) -> bool:
    """Tell whether an epoch ended at the moment at which it began."""
    if following is None or following[c.GROUP] != row[c.GROUP]:
        return False
    return bool(following[c.BEGAN] == row[c.BEGAN])


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


_STEPS = f"""
CREATE TABLE steps AS
WITH rows AS (
  SELECT cluster, "group", topic, broker, queue_id, epoch,
    epoch_ms("time") AS "at", weight, "max", committed,
    CASE WHEN "max" - committed IS NULL THEN NULL
         ELSE greatest("max" - committed, 0) END AS lag
  FROM read_parquet($files)
), summed AS (
  SELECT cluster, "group", topic, broker, queue_id, epoch, "at" - "at" % $step AS step,
    sum(CASE WHEN lag IS NOT NULL THEN weight ELSE 0 END) AS seconds,
    sum(lag * weight) / nullif(seconds, 0) AS lag_mean,
    min("at") FILTER ("max" IS NOT NULL) AS max_first_at,
    arg_min("max", "at") AS max_first,
    max("at") FILTER ("max" IS NOT NULL) AS max_last_at,
    arg_max("max", "at") AS max_last,
    min("at") FILTER (committed IS NOT NULL) AS committed_first_at,
    arg_min(committed, "at") AS committed_first,
    max("at") FILTER (committed IS NOT NULL) AS committed_last_at,
    arg_max(committed, "at") AS committed_last
  FROM rows GROUP BY ALL
), prior AS (
  SELECT *,
    lag(max_last) OVER w AS max_prior, lag(max_last_at) OVER w AS max_prior_at,
    lag(committed_last) OVER w AS committed_prior,
    lag(committed_last_at) OVER w AS committed_prior_at
  FROM summed
  WINDOW w AS (PARTITION BY cluster, "group", topic, broker, queue_id
               ORDER BY epoch, step)
), ranged AS (
  SELECT *,
    max_last_at - max_prior_at <= greatest(2 * $step, {LONGEST_GAP_MS}) AS max_near,
    committed_last_at - committed_prior_at
      <= greatest(2 * $step, {LONGEST_GAP_MS}) AS committed_near,
    CASE WHEN max_near THEN max_prior ELSE max_first END AS max_start,
    CASE WHEN max_near THEN max_prior_at ELSE max_first_at END AS max_start_at,
    CASE WHEN committed_near THEN committed_prior ELSE committed_first END
      AS committed_start,
    CASE WHEN committed_near THEN committed_prior_at ELSE committed_first_at END
      AS committed_start_at
  FROM prior
)
SELECT cluster, "group", topic, broker, queue_id, epoch, step AS since, seconds,
  lag_mean,
  CASE WHEN max_last >= max_start AND max_last_at > max_start_at
    THEN (max_last - max_start) * 1000.0 / (max_last_at - max_start_at) END AS in_rate,
  CASE WHEN committed_last >= committed_start
        AND committed_last_at > committed_start_at
    THEN (committed_last - committed_start) * 1000.0
         / (committed_last_at - committed_start_at) END AS out_rate
FROM ranged
"""

_BY_MEMBER = """
CREATE TABLE by_member AS
WITH unfolded AS (
  SELECT cluster, "group", epoch, since, seconds, lag_mean, in_rate, out_rate,
    unnest([$pairs], recursive := true)
  FROM steps JOIN divided USING (cluster, "group", topic, broker, queue_id, epoch)
)
SELECT cluster, "group", epoch, choice, since, member,
  count(*) AS queue_count, max(seconds) AS seconds,
  sum(lag_mean) AS lag, count(lag_mean) AS known_lags,
  sum(in_rate) AS load, count(in_rate) AS known_loads, sum(out_rate) AS out_rate
FROM unfolded WHERE member IS NOT NULL GROUP BY ALL
"""

_BY_TIME = """
CREATE TABLE by_time AS
WITH capacity AS (
  SELECT cluster, "group", max(out_rate) AS capacity FROM by_member
  WHERE choice = $in_use AND member >= 0 GROUP BY ALL
), sizes AS (
  SELECT DISTINCT cluster, "group", epoch, member_count FROM members
), drained AS (
  SELECT m.*, capacity, capacity - least(load, capacity) AS spare,
    known_lags = queue_count AND known_loads = queue_count AS known,
    CASE WHEN member >= 0 THEN
      CASE WHEN load > capacity * (1 + 1e-9) THEN 'infinity'::DOUBLE
           WHEN NOT known THEN NULL WHEN lag = 0 THEN 0
           WHEN capacity IS NULL THEN NULL
           WHEN lag > spare * $horizon THEN 'infinity'::DOUBLE
           ELSE lag / spare END
    ELSE CASE WHEN lag > 0 OR load > 0 THEN 'infinity'::DOUBLE
              WHEN known THEN 0 END END AS drain,
    CASE WHEN member >= 0 THEN lag END AS own_lag,
    CASE WHEN member >= 0 THEN load END AS own_load,
    row_number() OVER (PARTITION BY cluster, "group", epoch, choice, since
      ORDER BY own_lag NULLS LAST) AS lag_place,
    row_number() OVER (PARTITION BY cluster, "group", epoch, choice, since
      ORDER BY own_load NULLS LAST) AS load_place
  FROM by_member m LEFT JOIN capacity USING (cluster, "group")
  WHERE choice <> $in_use
), summed AS (
  SELECT cluster, "group", epoch, choice, since, max(seconds) AS seconds,
    max(capacity) AS capacity, count_if(member >= 0) AS busy,
    coalesce(sum(queue_count) FILTER (member < 0), 0) AS unowned_count,
    max(drain) AS worst, count(drain) < count(*) AS partial,
    count(own_lag) AS lags, sum(own_lag) AS lag_sum, max(own_lag) AS lag_top,
    var_pop(own_lag) AS lag_spread, sum(own_lag * lag_place) AS lag_ranked,
    count(own_load) AS loads, sum(own_load) AS load_sum, max(own_load) AS load_top,
    var_pop(own_load) AS load_spread, sum(own_load * load_place) AS load_ranked
  FROM drained GROUP BY ALL
), sized AS (
  SELECT *, member_count - busy AS idle_count,
    loads + idle_count AS load_n, lags + idle_count AS lag_n
  FROM summed JOIN sizes USING (cluster, "group", epoch)
)
SELECT cluster, "group", epoch, getvariable('names')[choice + 1] AS strategy, since,
  seconds, member_count, idle_count, unowned_count,
  CASE WHEN lag_sum > 0 THEN lag_top * lag_n / lag_sum WHEN lag_n > 0 THEN 1 END
    AS lag_max_to_mean,
  CASE WHEN lag_sum > 0 THEN sqrt((lag_spread * lags
    + (lag_sum / lags) ** 2 * lags * idle_count / lag_n) / lag_n) * lag_n / lag_sum
    WHEN lag_n > 0 THEN 0 END AS lag_variation,
  CASE WHEN lag_sum > 0 THEN greatest(0, 2 * (lag_ranked + idle_count * lag_sum)
    / lag_sum / lag_n - (lag_n + 1) / lag_n) WHEN lag_n > 0 THEN 0 END AS lag_gini,
  CASE WHEN load_sum > 0 THEN load_top * load_n / load_sum WHEN load_n > 0 THEN 1 END
    AS load_max_to_mean,
  CASE WHEN load_sum > 0 THEN sqrt((load_spread * loads
    + (load_sum / loads) ** 2 * loads * idle_count / load_n) / load_n)
    * load_n / load_sum WHEN load_n > 0 THEN 0 END AS load_variation,
  CASE WHEN load_sum > 0 THEN greatest(0, 2 * (load_ranked + idle_count * load_sum)
    / load_sum / load_n - (load_n + 1) / load_n) WHEN load_n > 0 THEN 0 END
    AS load_gini,
  load_top AS load_peak, load_top > capacity * (1 + 1e-9) AS overload,
  CASE WHEN worst < 'infinity' AND NOT partial THEN worst END AS drain_seconds,
  CASE WHEN worst = 'infinity' THEN true WHEN NOT partial THEN false END
    AS never_drains
FROM sized
"""

_TOTALS = """
CREATE TABLE totals AS
WITH moved AS (
  SELECT cluster, "group", unnest([$moved], recursive := true)
  FROM divided GROUP BY cluster, "group"
), scored AS (
  SELECT cluster, "group", strategy, sum(seconds) AS seconds,
    count(DISTINCT epoch) AS epoch_count,
    sum(idle_count * seconds) / sum(member_count * seconds) AS idle_share,
    sum(load_max_to_mean * seconds)
      / sum(seconds) FILTER (load_max_to_mean IS NOT NULL) AS load_max_to_mean,
    sum(load_variation * seconds)
      / sum(seconds) FILTER (load_variation IS NOT NULL) AS load_variation,
    sum(load_gini * seconds)
      / sum(seconds) FILTER (load_gini IS NOT NULL) AS load_gini,
    sum(lag_max_to_mean * seconds)
      / sum(seconds) FILTER (lag_max_to_mean IS NOT NULL) AS lag_max_to_mean,
    sum(lag_variation * seconds)
      / sum(seconds) FILTER (lag_variation IS NOT NULL) AS lag_variation,
    sum(lag_gini * seconds)
      / sum(seconds) FILTER (lag_gini IS NOT NULL) AS lag_gini,
    coalesce(sum(seconds) FILTER (overload), 0) AS overload_seconds,
    max(drain_seconds) AS drain_peak,
    coalesce(sum(seconds) FILTER (never_drains), 0) AS never_seconds
  FROM by_time GROUP BY ALL
)
SELECT *, moves / nullif(epoch_count - 1, 0) AS moves_per_change,
  CASE WHEN load_max_to_mean IS NOT NULL AND strategy <> 'BALANCED'
    AND NOT starts_with(strategy, 'in_use')
  THEN row_number() OVER (PARTITION BY cluster, "group",
      load_max_to_mean IS NULL OR strategy = 'BALANCED'
      OR starts_with(strategy, 'in_use')
    ORDER BY round(load_max_to_mean, 9), moves, strategy) END AS "rank"
FROM scored LEFT JOIN moved USING (cluster, "group", strategy)
"""

_LOAD_BY_MEMBER = """
WITH summed AS (
  SELECT cluster, "group", epoch, choice, member, max(queue_count) AS queue_count,
    sum(seconds) AS seconds,
    sum(lag * seconds) / nullif(sum(seconds) FILTER (lag IS NOT NULL), 0) AS lag_mean,
    max(lag) AS lag_peak,
    sum(load * seconds) / nullif(sum(seconds) FILTER (load IS NOT NULL), 0) AS load
  FROM by_member WHERE choice <> $in_use GROUP BY ALL
), everyone AS (
  SELECT m.*, choice FROM members m JOIN (
    SELECT DISTINCT cluster, "group", epoch, choice FROM summed
  ) USING (cluster, "group", epoch)
)
SELECT cluster, "group", epoch, getvariable('names')[choice + 1] AS strategy, client_id,
  coalesce(queue_count, 0) AS queue_count, seconds,
  CASE WHEN queue_count IS NULL THEN 0 ELSE lag_mean END AS lag_mean,
  CASE WHEN queue_count IS NULL THEN 0 ELSE lag_peak END AS lag_peak,
  CASE WHEN queue_count IS NULL THEN 0 ELSE load END AS load
FROM everyone LEFT JOIN summed USING (cluster, "group", epoch, choice, member)
"""

_MEMBER_BY_TIME = """
SELECT cluster, "group", epoch, getvariable('names')[choice + 1] AS strategy, client_id,
  since, seconds, queue_count, lag AS lag_mean, load
FROM by_member LEFT JOIN members USING (cluster, "group", epoch, member)
WHERE choice <> $in_use AND member >= 0
"""
