from .alert import (
    Alert,
    AlertMessage,
    AlertRule,
    AlertSubject,
    Channel,
    Silence,
)
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
from .team import GroupNote, Ownership, Team
from .timer import TimerRun
from .token import Token
from .user import (
    NO_ROLE,
    Grant,
    Identity,
    Place,
    Role,
    SecondFactor,
    SignInLink,
    User,
)

__all__ = [
    "NO_ROLE",
    "Alert",
    "AlertMessage",
    "AlertRule",
    "AlertSubject",
    "AuditEntry",
    "Channel",
    "Cluster",
    "Epoch",
    "FleetWorker",
    "Grant",
    "GroupChange",
    "GroupNote",
    "Grouping",
    "Identity",
    "JobRun",
    "KnownBroker",
    "LabRun",
    "ManagedGroup",
    "ManagedMember",
    "OffsetChange",
    "Ownership",
    "OwnershipEvent",
    "Paper",
    "Place",
    "ReportDefinition",
    "ReportFile",
    "ResendRun",
    "ResentLetter",
    "Role",
    "SavedScenario",
    "SavedView",
    "SecondFactor",
    "Session",
    "SignInLink",
    "Silence",
    "Team",
    "TimerRun",
    "Token",
    "User",
]
