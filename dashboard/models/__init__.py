from .audit import AuditEntry
from .change import GroupChange, SavedScenario
from .cluster import Cluster, KnownBroker
from .epoch import Epoch, OwnershipEvent
from .fleet import FleetWorker, ManagedGroup, ManagedMember
from .lab import LabRun
from .offset_change import OffsetChange
from .report import Grouping, JobRun, Paper, ReportDefinition, ReportFile
from .resend import ResendRun, ResentLetter
from .saved_view import SavedView
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
    "ResendRun",
    "ResentLetter",
    "Role",
    "SavedScenario",
    "SavedView",
    "Session",
    "SignInLink",
    "TimerRun",
    "User",
]
