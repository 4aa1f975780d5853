"""RocketMQ's rules as labs that run on a real cluster and say what they show."""

from .lab import Lab
from .leftovers import delete_leftovers, run_prefix
from .registry import LABS, lab_named
from .results import (
    Claim,
    Delivery,
    Division,
    Evidence,
    LabResult,
    OffsetsFile,
    Part,
    Progress,
    QueueProgress,
    document,
)
from .steps import Observer, Step

__all__ = [
    "LABS",
    "Claim",
    "Delivery",
    "Division",
    "Evidence",
    "Lab",
    "LabResult",
    "Observer",
    "OffsetsFile",
    "Part",
    "Progress",
    "QueueProgress",
    "Step",
    "delete_leftovers",
    "document",
    "lab_named",
    "run_prefix",
]
