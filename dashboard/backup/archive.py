"""The file format of backups: a gzip-compressed tar file that describes itself.

`backup.json` comes first and names every other member with its size and SHA-256 digest.
A backup is read completely and checked against these before anything is replaced.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import tarfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import Any, Final

from .errors import BackupError

FORMAT: Final = 1
DESCRIPTION: Final = "backup.json"
_MOST_DESCRIPTION_BYTES: Final = 16 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Member:
    """Size in bytes and SHA-256 digest (hexadecimal) of one member."""

    size: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Description:
    """What a backup holds, and which program made it when."""

    program: str
    made_at: str
    """ISO 8601, UTC."""
    database: str
    """`sqlite` or `postgresql`."""
    migrations: tuple[tuple[str, str], ...]
    """App and name of each migration that was applied."""
    lake_url: str
    format: int = FORMAT
    files: Mapping[str, Member] = field(default_factory=dict)
    """By the member's path in the archive."""


def write_archive(target: Path, description: Description, folder: Path) -> None:
    """Pack the files below a folder; `target` appears complete, for its owner alone.

    A file of that name must not exist: a backup is never overwritten. The folder has to
    be on the file system of `target`.
    """
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    names = {path.relative_to(folder).as_posix(): path for path in paths}
    files = {name: _measured(path) for name, path in names.items()}
    description_path = folder / DESCRIPTION
    described = {
        **asdict(description),
        "files": {n: asdict(m) for n, m in files.items()},
    }
    description_path.write_text(json.dumps(described, indent=1), encoding="utf-8")
    # What a killed process leaves of it goes with the folder.
    half = folder / f".{target.name}.tmp"
    try:
        handle = os.open(half, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(handle, "wb") as stream:
            with tarfile.open(fileobj=stream, mode="w:gz", compresslevel=6) as packed:
                packed.add(description_path, DESCRIPTION)
                for name, path in names.items():
                    packed.add(path, name)
            stream.flush()
            os.fsync(stream.fileno())
        os.link(half, target)
    except FileExistsError:
        raise BackupError(
            f"{target} exists already; backups never replace a file"
        ) from None
    except OSError as error:
        raise BackupError(f"{target} cannot be written: {error.strerror}") from error
    finally:
        half.unlink(missing_ok=True)


def read_archive(source: Path, folder: Path) -> Description:
    """Unpack a backup into an empty folder, and check every member of it."""
    try:
        with tarfile.open(source, "r:gz") as packed:
            description = _described(source, packed)
            expected = dict(description.files)
            for entry in islice(packed, 1, None):
                member = expected.pop(entry.name, None)
                if (
                    member is None
                    or not entry.isfile()
                    or entry.size != member.size
                    or not _is_inside(entry.name)
                ):
                    raise BackupError(
                        f"{source} is damaged: {entry.name!r} is not what its list says"
                    )
                packed.extract(entry, folder, filter="data")
                if _measured(folder / entry.name) != member:
                    raise BackupError(
                        f"{source} is damaged: the bytes of {entry.name!r} have changed"
                    )
    except (tarfile.TarError, EOFError) as error:
        raise BackupError(
            f"{source} is not a backup, or is damaged: {error}"
        ) from error
    except OSError as error:
        raise BackupError(f"{source} cannot be read: {error}") from error
    if expected:
        raise BackupError(f"{source} is damaged: {min(expected)!r} is missing")
    return description


def _described(source: Path, packed: tarfile.TarFile) -> Description:
    entry = packed.next()
    if (
        entry is None
        or entry.name != DESCRIPTION
        or not entry.isfile()
        or entry.size > _MOST_DESCRIPTION_BYTES
    ):
        raise BackupError(
            f"{source} is not a backup: it does not begin with {DESCRIPTION}"
        )
    try:
        stream = packed.extractfile(entry) or io.BytesIO()
        found: dict[str, Any] = json.load(stream)
        number = int(found["format"])
        if number > FORMAT:
            raise BackupError(
                f"{source} has format {number}, this program reads up to {FORMAT}"
            )
        return Description(
            program=str(found["program"]),
            made_at=str(found["made_at"]),
            database=str(found["database"]),
            migrations=tuple(
                (str(app), str(name)) for app, name in found["migrations"]
            ),
            lake_url=str(found["lake_url"]),
            format=number,
            files={name: Member(**each) for name, each in found["files"].items()},
        )
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise BackupError(f"{source}: {DESCRIPTION} cannot be read: {error}") from error


def _is_inside(name: str) -> bool:
    path = PurePosixPath(name)
    return not path.is_absolute() and ".." not in path.parts


def _measured(path: Path) -> Member:
    with path.open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
    return Member(path.stat().st_size, digest)
