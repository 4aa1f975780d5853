"""Storage of progress: the table of offsets, and the file of broadcasting members.

The store of clustering members asks brokers, so it is in `client`.
"""

from .file_format import decode_offsets, encode_offsets
from .first_commits import FirstCommits
from .local_file import (
    FoundIn,
    LocalFileOffsetStore,
    LocalOffsets,
    default_offsets_directory,
)
from .store import OffsetStore, ReadOffsetType

__all__ = [
    "FirstCommits",
    "FoundIn",
    "LocalFileOffsetStore",
    "LocalOffsets",
    "OffsetStore",
    "ReadOffsetType",
    "decode_offsets",
    "default_offsets_directory",
    "encode_offsets",
]
