"""Files of a broker: commit log, consume queues, key index, checkpoint, recovery.

Nothing here reads a clock, waits for a socket or knows the event loop: times are
arguments, and the owner of the loop may run slow calls in a thread.
"""

from .block import BlockItem, Envelope, MessageColumns
from .config_file import ConfigFile
from .dispatch import DELAY_LEVELS_MS, property_columns, property_values
from .message_store import Appended, AppendedBlock, MessageStore
from .reading import ReadResult, ReadStatus
from .record import PendingRecord

__all__ = [
    "DELAY_LEVELS_MS",
    "Appended",
    "AppendedBlock",
    "BlockItem",
    "ConfigFile",
    "Envelope",
    "MessageColumns",
    "MessageStore",
    "PendingRecord",
    "ReadResult",
    "ReadStatus",
    "property_columns",
    "property_values",
]
