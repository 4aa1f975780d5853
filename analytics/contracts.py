"""Names of data sets, columns and jobs: the only place where they are spelled.

A *sample* is one queue of one group at one moment; it claims the `weight` seconds
before it. An *epoch* is a span in which the members and the queues of a group stayed
the same. Offsets and times that are not known are null, never -1, 0 or NaN.

Each second is either known or unknown. A queue is present while an epoch names it. Of
that time, the seconds claimed by samples with a known lag are known, and the rest is
unknown. Unknown time is never written down: it is the remainder, whatever the reason (a
sweep lost or late, a silent broker, a collector that was away, rows that were given
up).
"""

from __future__ import annotations

from typing import Final

SCHEMA_VERSION: Final = 1
"""Raised when a column changes its meaning; readers refuse newer versions."""

# Data sets written by the collector.
SAMPLES: Final = "samples"
EPOCHS: Final = "epochs"

# Keys.
CLUSTER: Final = "cluster"
GROUP: Final = "group"
TOPIC: Final = "topic"
BROKER: Final = "broker"
QUEUE_ID: Final = "queue_id"
TIME: Final = "time"
EPOCH: Final = "epoch"
QUEUE_KEY: Final = (CLUSTER, GROUP, TOPIC, BROKER, QUEUE_ID)

# Of a sample.
WEIGHT: Final = "weight"
"""The seconds before its time that a sample claims: those since the queue's last
sample, 10 for a busy queue, 60 for a quiet one, and never more than `MOST_WEIGHT`.

The first sample that a collector takes of a queue claims nothing. Claims of one queue
do not overlap, and may cross step boundaries: each step gets its part.
"""
MOST_WEIGHT: Final = 60.0
MIN: Final = "min"
MAX: Final = "max"
COMMITTED: Final = "committed"
PULLED: Final = "pulled"
LAG_MS: Final = "lag_ms"
"""Age of the first unconsumed message by the broker's clock; 0 without lag."""
OWNER: Final = "owner"
"""Client id that held the queue when it was sampled, where the client was asked."""

# Of an epoch. Begin and end are intervals: [last seen before, first seen after].
BEGAN_AFTER: Final = "began_after"
BEGAN: Final = "began"
ENDED: Final = "ended"
ENDED_BEFORE: Final = "ended_before"
MODE: Final = "mode"
STRATEGY: Final = "strategy"
STRATEGY_SOURCE: Final = "strategy_source"
OPTIONS: Final = "options"
"""JSON text: the strategy's options as far as they are known, else null."""
KNOWN: Final = "known"
"""Marks options in a request that nobody entered. An epoch that had this strategy with
options of its own is divided by those; beside the mark alone, other epochs are not
divided.
"""
MEMBERS: Final = "members"
QUEUES: Final = "queues"
CLIENT_ID: Final = "client_id"
EXPRESSION: Final = "expression"
SUBSCRIPTIONS: Final = "subscriptions"

# Jobs of `python -m analytics`.
JOB_LAG: Final = "lag"
JOB_SKEW: Final = "skew"
JOB_REPORT: Final = "report"
"""Both; for single groups also `MEMBER_BY_TIME`."""
JOB_BACKTEST: Final = "backtest"
"""Skew, and what each member would have had in each step."""

JOB_TRIAL: Final = "trial"
"""How often a rule for alerts would have fired; its result is the summary alone."""

JOB_ROLLUP: Final = "rollup"
"""Read the files that have landed since the last run into the ladder of roll-ups."""
ROLLUP_LEVELS: Final = (60, 600, 3600)
"""Seconds of a step on each rung of the ladder; samples are its foot."""

# Between Spark and the plain parts of a job.
GROUP_NO: Final = "group_no"
"""A number that replaces a group's name within one bucket, as it compares faster."""

# Data sets written by the jobs, one folder each below the output.
LAG_BY_QUEUE: Final = "lag_by_queue"
LAG_BY_TOPIC: Final = "lag_by_topic"
LAG_BY_CONSUMER: Final = "lag_by_consumer"
LAG_BY_GROUP: Final = "lag_by_group"
SKEW_BY_TIME: Final = "skew_by_time"
LOAD_BY_MEMBER: Final = "load_by_member"
MEMBER_BY_TIME: Final = "member_by_time"
"""Lag and load of each member in each step; members without queues have no row."""
STRATEGIES: Final = "strategies"
SUMMARY: Final = "summary.json"
"""Written last: an output without it is not complete."""

# Of job output.
SINCE: Final = "since"
"""Start of a step, which lasts until the next one begins."""
SECONDS: Final = "seconds"
"""Seconds of the step that samples with a known value stand for."""
UNKNOWN_SECONDS: Final = "unknown_seconds"
LAG_MEAN: Final = "lag_mean"
LAG_PEAK: Final = "lag_peak"
LAG_LAST: Final = "lag_last"
LAG_MS_PEAK: Final = "lag_ms_peak"
LAG_SECONDS: Final = "lag_seconds"
"""Lag times the seconds that it stood for: the sum behind `lag_mean`."""
LAG_LAST_AT: Final = "lag_last_at"
OVER_MS: Final = 30_000
"""A queue is over the threshold while its oldest message is older than this."""
OVER_SECONDS: Final = "over_seconds"
"""Time over the threshold; null where no age is known."""
IN_RATE: Final = "in_rate"
"""Messages a second that came in."""
OUT_RATE: Final = "out_rate"
"""Messages a second that were committed."""
QUEUE_COUNT: Final = "queue_count"
KNOWN_QUEUES: Final = "known_queues"
MEMBER_COUNT: Final = "member_count"
IDLE_COUNT: Final = "idle_count"
LOAD: Final = "load"
"""What a member has to consume: messages a second that come into its queues."""
MAX_TO_MEAN: Final = "max_to_mean"
VARIATION: Final = "variation"
"""Coefficient of variation: standard deviation over mean."""
GINI: Final = "gini"
LOAD_PEAK: Final = "load_peak"
"""Load of the busiest member."""
OVERLOAD: Final = "overload"
OVERLOAD_SECONDS: Final = "overload_seconds"
"""Time in which a member had more load than any member was seen to consume."""
IDLE_SHARE: Final = "idle_share"
UNOWNED_COUNT: Final = "unowned_count"
"""Queues that a strategy gives to nobody; over a period, the most at any time."""
DRAIN_SECONDS: Final = "drain_seconds"
"""Until the slowest member is done, at the group's capacity; null: unknown or never."""
NEVER_DRAINS: Final = "never_drains"
"""A member gets more than any was seen to consume, or queues without an owner fill."""
DRAIN_PEAK: Final = "drain_peak"
"""The worst `drain_seconds` of the period."""
NEVER_SECONDS: Final = "never_seconds"
"""Time in which `never_drains` held."""
MOVES: Final = "moves"
MOVES_PER_CHANGE: Final = "moves_per_change"
"""Mean number of queues that move when an epoch ends and the next begins."""
RANK: Final = "rank"
"""1 is the strategy with the most even load; among equals, the one with fewest moves.

The balanced plan and variants with more or fewer members are not ranked: null, as where
the load is not known.
"""
EPOCH_COUNT: Final = "epoch_count"
IN_USE: Final = "in_use"
