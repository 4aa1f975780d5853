"""A lake on S3, or on a server that speaks its protocol: how it is reached.

Settings come from the environment, because web process, workers, the analytics process
and the command line all open the lake by its address alone. An address holds neither
keys nor options, because it is shown on pages and file names are appended to it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import urlsplit

from analytics.errors import LakeError
from analytics.switches import read_switch

SCHEMES: Final = frozenset({"s3", "s3a", "s3n"})
DEFAULT_REGION: Final = "us-east-1"
ENDPOINT: Final = "ROCKETSCOPE_S3_ENDPOINT"
REGION: Final = "ROCKETSCOPE_S3_REGION"
ACCESS_KEY: Final = "ROCKETSCOPE_S3_ACCESS_KEY"
SECRET_KEY: Final = "ROCKETSCOPE_S3_SECRET_KEY"  # noqa: S105  its name
PATH_STYLE: Final = "ROCKETSCOPE_S3_PATH_STYLE"


@dataclass(frozen=True, slots=True)
class S3Settings:
    """Where S3 is, and with which keys to use it.

    Without `endpoint` it is Amazon's. Without keys, the places where Amazon's tools
    look are searched (environment, files, the machine's role). `path_style` puts the
    bucket after the host, as most other servers expect, instead of before it.
    """

    endpoint: str = ""
    region: str = DEFAULT_REGION
    access_key: str = ""
    secret_key: str = field(default="", repr=False)
    path_style: bool = False

    @classmethod
    def from_environ(cls, environ: Mapping[str, str]) -> S3Settings:
        """Read the five settings above.

        Raises `LakeError` naming the key, the value and what is allowed.
        """

        def text(key: str) -> str:
            return environ.get(key, "").strip()

        endpoint = text(ENDPOINT).rstrip("/")
        _check_endpoint(endpoint)
        access_key, secret_key = text(ACCESS_KEY), text(SECRET_KEY)
        if bool(access_key) != bool(secret_key):
            raise LakeError(f"{ACCESS_KEY} and {SECRET_KEY}: set both or none")
        try:
            path_style = read_switch(PATH_STYLE, text(PATH_STYLE), bool(endpoint))
        except ValueError as error:
            raise LakeError(str(error)) from None
        region = text(REGION) or environ.get("AWS_REGION", "")
        return cls(
            endpoint=endpoint,
            region=region or environ.get("AWS_DEFAULT_REGION", "") or DEFAULT_REGION,
            access_key=access_key,
            secret_key=secret_key,
            path_style=path_style,
        )

    @property
    def scheme(self) -> str:
        return urlsplit(self.endpoint).scheme or "https"

    def filesystem(self) -> Any:
        """Return pyarrow's file system over all buckets."""
        from pyarrow import fs

        return fs.S3FileSystem(
            access_key=self.access_key or None,
            secret_key=self.secret_key or None,
            region=self.region,
            scheme=self.scheme,
            endpoint_override=urlsplit(self.endpoint).netloc or None,
            force_virtual_addressing=not self.path_style,
        )

    def hadoop_configuration(self) -> dict[str, str]:
        """Return the same for Spark's S3A."""
        found = {
            "fs.s3a.endpoint.region": self.region,
            "fs.s3a.path.style.access": str(self.path_style).lower(),
        }
        if self.endpoint:
            found["fs.s3a.endpoint"] = self.endpoint
        if self.access_key:
            found["fs.s3a.access.key"] = self.access_key
            found["fs.s3a.secret.key"] = self.secret_key
        return found


def split_address(url: str) -> tuple[str, str]:
    """Return bucket and folder of `s3://bucket/folder`; raises `LakeError`."""
    parts = urlsplit(url)
    if "@" in parts.netloc or parts.query:
        bare = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"
        raise LakeError(
            f"{bare}: an s3 address takes neither keys nor options; "
            f"use {ACCESS_KEY}, {ENDPOINT} and so on"
        )
    if not parts.netloc:
        raise LakeError(f"{url} names no bucket: s3://bucket/folder is needed")
    return parts.netloc, parts.path.strip("/")


def _check_endpoint(endpoint: str) -> None:
    parts = urlsplit(endpoint)
    if endpoint and (
        parts.scheme not in {"http", "https"} or not parts.hostname or parts.path
    ):
        raise LakeError(
            f"{ENDPOINT}={endpoint!r} is not http://host:port or https://host:port"
        )
