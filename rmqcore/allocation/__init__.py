"""Who consumes which queue: RocketMQ's six strategies, plans, scores, drain times.

Pure functions over queues and client ids: no IO, no clock, no randomness.
"""

from .balanced import BALANCED, Balanced, balanced_plan
from .division import allocate, allocate_group, allocate_topics
from .drain import NEVER, drain_time, member_drain_time, worst_drain_time
from .plan import Move, Plan, PlanDiff, diff, plan_of_owners
from .registry import (
    DEFAULT_STRATEGY,
    JAVA_CLASSES,
    STRATEGIES,
    ReportedStrategy,
    make_strategy,
    reported_strategy,
    required_options,
)
from .scores import (
    Scores,
    gini,
    idle_count,
    max_over_mean,
    member_loads,
    scores,
    share_loads,
    skew,
    variation,
)
from .strategy import AllocateStrategy

__all__ = [
    "BALANCED",
    "DEFAULT_STRATEGY",
    "JAVA_CLASSES",
    "NEVER",
    "STRATEGIES",
    "AllocateStrategy",
    "Balanced",
    "Move",
    "Plan",
    "PlanDiff",
    "ReportedStrategy",
    "Scores",
    "allocate",
    "allocate_group",
    "allocate_topics",
    "balanced_plan",
    "diff",
    "drain_time",
    "gini",
    "idle_count",
    "make_strategy",
    "max_over_mean",
    "member_drain_time",
    "member_loads",
    "plan_of_owners",
    "reported_strategy",
    "required_options",
    "scores",
    "share_loads",
    "skew",
    "variation",
    "worst_drain_time",
]
