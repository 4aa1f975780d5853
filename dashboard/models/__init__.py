from .audit import AuditEntry
from .cluster import Cluster
from .epoch import Epoch, OwnershipEvent
from .fleet import FleetWorker, ManagedGroup, ManagedMember
from .report import JobRun
from .timer import TimerRun
from .user import Role, SignInLink, User

__all__ = [
    "AuditEntry",
    "Cluster",
    "Epoch",
    "FleetWorker",
    "JobRun",
    "ManagedGroup",
    "ManagedMember",
    "OwnershipEvent",
    "Role",
    "SignInLink",
    "TimerRun",
    "User",
]
