"""Every error that analytics raises on purpose, drawn as a tree.

AnalyticsError
├── SchemaError (also ValueError)   rows that a data set cannot hold
├── LakeError                       files of the lake are not what was written
│   ├── ManifestConflictError       somebody else wrote the next manifest first
│   └── MissingFileError            a listed file is gone: the manifest is too old
├── JobError                        a job cannot run, or its input is wrong
│   └── JobCancelledError           a job was asked to stop, and did
└── JavaError                       no Java that Spark could use was found
"""

from __future__ import annotations


class AnalyticsError(Exception):
    """Base of every error raised by analytics on purpose."""


class SchemaError(AnalyticsError, ValueError):
    """Rows break a data set's contract; the message names column and value."""


class LakeError(AnalyticsError):
    """Files of the lake are missing, or are not what was written."""


class ManifestConflictError(LakeError):
    """Somebody else wrote the next manifest first; read it and try again."""


class MissingFileError(LakeError):
    """A file that the manifest lists is gone: the manifest in hand is too old."""


class JobError(AnalyticsError):
    """A job cannot run: unknown name, a wrong argument, or nothing to work on."""


class JobCancelledError(JobError):
    """A job was asked to stop, and did; its output is not complete."""


class JavaError(AnalyticsError):
    """No Java that Spark could use was found; the message lists where we looked."""
