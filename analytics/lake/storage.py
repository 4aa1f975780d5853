"""Files of the lake: written whole or not at all, never changed, never renamed.

A reader sees a file complete or does not see it. On the local file system the bytes
go to a name that starts with a dot (which readers and Spark skip), are synced, and
then get their real name by a hard link, which fails if that name is taken. Object
stores show an object only once it is complete, so there one put does the same.
"""

from __future__ import annotations

import contextlib
import io
import logging
import os
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Final, Protocol
from urllib.parse import urlsplit

from pyarrow import fs

from analytics.errors import LakeError

from .s3 import SCHEMES, S3Settings, split_address
from .s3_put import UnconditionalError, put_if_absent

logger = logging.getLogger(__name__)

_PIECE_BYTES: Final = 1024 * 1024
_HALF: Final = ".tmp"


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A file as listed: its path below the root, its bytes, when it was written."""

    path: str
    size: int
    modified_ms: int


class Storage(Protocol):
    """What the lake requires of a file system; paths are relative, with slashes."""

    @property
    def url(self) -> str:
        """The root, as Spark takes it."""

    def uri(self, path: str) -> str:
        """Return a file's address, as Spark takes it."""

    def write_new(self, path: str, data: bytes) -> bool:
        """Write a file durably; False when the name was taken (nothing is changed)."""

    def write_file(self, path: str, source: Path) -> bool:
        """Write a local file's bytes as `write_new` does, in pieces."""

    def replace(self, path: str, data: bytes) -> None:
        """Replace a file's bytes: readers see either the old or the new ones.

        Only for logs of other programs that grow for ever; the lake's own files never
        change.
        """

    def read(self, path: str) -> bytes:
        """Return a file's bytes; raises `FileNotFoundError`."""

    def list_files(self, prefix: str) -> list[StoredFile]:
        """Return the complete files below a folder, by path; none if it is absent."""

    def delete(self, path: str) -> None:
        """Remove a file; a missing file is not an error."""

    def delete_tree(self, path: str) -> None:
        """Remove a folder with everything in it; a missing folder is not an error."""

    def delete_halves(self, prefix: str, before_ms: int) -> int:
        """Remove what writers killed before then left; return how many files."""

    def open_input(self, path: str) -> Any:
        """Return a pyarrow file for random reads; raises `FileNotFoundError`."""


class LocalStorage:
    """A folder of the local file system (or one that is mounted)."""

    def __init__(self, root: Path) -> None:
        self._root = root.absolute()

    @property
    def url(self) -> str:
        # Hadoop uses paths as they are: an escaped one would not be found.
        return f"file://{self._root}"

    @property
    def root(self) -> Path:
        """The folder itself."""
        return self._root

    def uri(self, path: str) -> str:
        return f"{self.url}/{path}"

    def write_new(self, path: str, data: bytes) -> bool:
        return self._write(path, io.BytesIO(data))

    def write_file(self, path: str, source: Path) -> bool:
        with source.open("rb") as stream:
            return self._write(path, stream)

    def replace(self, path: str, data: bytes) -> None:
        target = self._root / path
        hidden = _half_of(target)
        try:
            _write_synced(hidden, io.BytesIO(data))
            hidden.replace(target)
        finally:
            with contextlib.suppress(OSError):
                hidden.unlink(missing_ok=True)
        _sync_folder(target.parent)

    def _write(self, path: str, source: BinaryIO) -> bool:
        target = self._root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        hidden = _half_of(target)
        try:
            _write_synced(hidden, source)
            try:
                os.link(hidden, target)
                is_new = True
            except FileExistsError:
                is_new = False
        finally:
            with contextlib.suppress(OSError):
                hidden.unlink(missing_ok=True)
        for folder in _folders_between(self._root, target.parent):
            _sync_folder(folder)
        return is_new

    def read(self, path: str) -> bytes:
        return (self._root / path).read_bytes()

    def list_files(self, prefix: str) -> list[StoredFile]:
        found: list[StoredFile | None] = []
        for folder, names, files in os.walk(self._root / prefix):
            names[:] = [name for name in names if not name.startswith(".")]
            found.extend(
                self._stored(Path(folder) / name)
                for name in files
                if not name.startswith(".")
            )
        return sorted((file for file in found if file), key=lambda file: file.path)

    def delete(self, path: str) -> None:
        (self._root / path).unlink(missing_ok=True)

    def delete_tree(self, path: str) -> None:
        with contextlib.suppress(FileNotFoundError):
            shutil.rmtree(self._root / path)

    def delete_halves(self, prefix: str, before_ms: int) -> int:
        deleted = 0
        for file in (self._root / prefix).rglob(f".*{_HALF}"):
            stored = self._stored(file)
            if stored is not None and stored.modified_ms < before_ms:
                self.delete(stored.path)
                deleted += 1
        return deleted

    def open_input(self, path: str) -> Any:
        return fs.LocalFileSystem().open_input_file(str(self._root / path))

    def _stored(self, file: Path) -> StoredFile | None:
        try:
            status = file.stat()
        except FileNotFoundError:  # retention was faster than this listing
            return None
        return StoredFile(
            file.relative_to(self._root).as_posix(),
            status.st_size,
            status.st_mtime_ns // 1_000_000,
        )


class ObjectStorage:
    """A bucket or another file system that pyarrow can write to.

    `write_new` checks first and then writes: two writers of one name can overwrite each
    other, so manifests in such a store require a single compactor.
    """

    def __init__(self, url: str, filesystem: Any, root: str) -> None:
        self._url = url.rstrip("/")
        self._filesystem = filesystem
        self._root = root.rstrip("/")

    @property
    def url(self) -> str:
        return self._url

    def uri(self, path: str) -> str:
        return f"{self._url}/{path}"

    def write_new(self, path: str, data: bytes) -> bool:
        return self._put(path, io.BytesIO(data))

    def write_file(self, path: str, source: Path) -> bool:
        with source.open("rb") as data:
            return self._put(path, data)

    def replace(self, path: str, data: bytes) -> None:
        # All bytes are available: the object is complete before it becomes visible.
        with self._filesystem.open_output_stream(self._full(path)) as stream:
            stream.write(data)

    def _put(self, path: str, source: BinaryIO) -> bool:
        full = self._full(path)
        if self._filesystem.get_file_info(full).type != fs.FileType.NotFound:
            return False
        stream = self._filesystem.open_output_stream(full)
        try:
            shutil.copyfileobj(source, stream, _PIECE_BYTES)
        except BaseException:
            # A stream cannot be abandoned: closing it publishes the bytes written so
            # far.
            with contextlib.suppress(OSError):
                stream.close()
            with contextlib.suppress(OSError):
                self._filesystem.delete_file(full)
            raise
        stream.close()
        return True

    def read(self, path: str) -> bytes:
        with self.open_input(path) as file:
            return bytes(file.read())

    def list_files(self, prefix: str) -> list[StoredFile]:
        selector = fs.FileSelector(
            self._full(prefix).rstrip("/"), allow_not_found=True, recursive=True
        )
        skip = len(self._full(""))
        return sorted(
            (
                StoredFile(info.path[skip:], info.size, info.mtime_ns // 1_000_000)
                for info in self._filesystem.get_file_info(selector)
                if info.type == fs.FileType.File and "/." not in f"/{info.path[skip:]}"
            ),
            key=lambda file: file.path,
        )

    def delete(self, path: str) -> None:
        with contextlib.suppress(FileNotFoundError):
            self._filesystem.delete_file(self._full(path))

    def delete_tree(self, path: str) -> None:
        with contextlib.suppress(FileNotFoundError):
            self._filesystem.delete_dir(self._full(path))

    def delete_halves(self, prefix: str, before_ms: int) -> int:
        return 0  # there are none: an object is complete or absent

    def open_input(self, path: str) -> Any:
        return self._filesystem.open_input_file(self._full(path))

    def _full(self, path: str) -> str:
        return f"{self._root}/{path}"


class S3Storage(ObjectStorage):
    """A folder of a bucket, where each name is written by one writer.

    This requires keys and a server that supports conditional writes, as Amazon's S3 and
    MinIO do; otherwise it behaves like any `ObjectStorage`.
    """

    def __init__(self, url: str, settings: S3Settings) -> None:
        self._bucket, self._folder = split_address(url)
        root = "/".join(filter(None, (self._bucket, self._folder)))
        # Spark's name for it.
        super().__init__(f"s3a://{root}", settings.filesystem(), root)
        self._settings = settings
        self._is_conditional = True

    def write_new(self, path: str, data: bytes) -> bool:
        if self._is_conditional:
            key = "/".join(filter(None, (self._folder, path)))
            try:
                return put_if_absent(self._settings, self._bucket, key, data)
            except UnconditionalError as error:
                logger.warning("writing without a condition: %s", error)
                self._is_conditional = False
        return super().write_new(path, data)


def open_storage(url: str, environ: Mapping[str, str] | None = None) -> Storage:
    """Return the storage at a path, `file:` URL, or URL of a kind pyarrow knows.

    S3's settings come from the process's environment, or from the given one. Raises
    `LakeError` naming the URL when nothing here can open it.
    """
    environ = os.environ if environ is None else environ
    parts = urlsplit(url)
    if not url:
        raise LakeError("the lake's URL is empty; give a folder or an s3:// address")
    if parts.scheme in {"", "file"}:
        return LocalStorage(Path(parts.path if parts.scheme else url))
    if parts.scheme in SCHEMES:
        return S3Storage(url, S3Settings.from_environ(environ))
    try:
        filesystem, root = fs.FileSystem.from_uri(url)
    except (ValueError, OSError) as error:
        raise LakeError(f"cannot open a lake at {url}: {error}") from error
    return ObjectStorage(url, filesystem, root)


def _half_of(target: Path) -> Path:
    """Return the name that a file has while it is written."""
    return target.with_name(f".{target.name}.{os.getpid()}{_HALF}")


def _write_synced(file: Path, source: BinaryIO) -> None:
    with file.open("wb") as stream:
        shutil.copyfileobj(source, stream, _PIECE_BYTES)
        stream.flush()
        os.fsync(stream.fileno())


def _folders_between(root: Path, folder: Path) -> Iterator[Path]:
    """Yield a folder and those above it, up to the root: each may be new."""
    yield folder
    while folder != root:
        folder = folder.parent
        yield folder


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
