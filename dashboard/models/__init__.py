from .audit import AuditEntry
from .change import GroupChange, SavedScenario
from .cluster import Cluster
from .epoch import Epoch, OwnershipEvent
from .fleet import FleetWorker, ManagedGroup, ManagedMember
from .lab import LabRun
from .report import JobRun
from .timer import TimerRun
from .user import Role, SignInLink, User

__all__ = [
    "AuditEntry",
    "Cluster",
    "Epoch",
    "FleetWorker",
    "GroupChange",
    "JobRun",
    "LabRun",
    "ManagedGroup",
    "ManagedMember",
    "OwnershipEvent",
    "Role",
    "SavedScenario",
    "SignInLink",
    "TimerRun",
    "User",
]
