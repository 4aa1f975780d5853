from .audit import AuditEntry
from .change import GroupChange, SavedScenario
from .cluster import Cluster, KnownBroker
from .epoch import Epoch, OwnershipEvent
from .fleet import FleetWorker, ManagedGroup, ManagedMember
from .lab import LabRun
from .offset_change import OffsetChange
from .report import Grouping, JobRun, Paper, ReportDefinition, ReportFile
from .session import Session
from .timer import TimerRun
from .user import Role, SignInLink, User

__all__ = [
    "AuditEntry",
    "Cluster",
    "Epoch",
    "FleetWorker",
    "GroupChange",
    "Grouping",
    "JobRun",
    "KnownBroker",
    "LabRun",
    "ManagedGroup",
    "ManagedMember",
    "OffsetChange",
    "OwnershipEvent",
    "Paper",
    "ReportDefinition",
    "ReportFile",
    "Role",
    "SavedScenario",
    "Session",
    "SignInLink",
    "TimerRun",
    "User",
]
