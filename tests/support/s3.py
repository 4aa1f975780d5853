"""A server that speaks S3 on loopback, for tests; it keeps objects in memory."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from urllib.parse import urlsplit

ENVIRONMENT_KEYS = {
    "ROCKETSCOPE_S3_ACCESS_KEY": "scope",
    "ROCKETSCOPE_S3_SECRET_KEY": "not a secret",
    "ROCKETSCOPE_S3_REGION": "eu-central-1",
    # Else each connection asks first for a role of the machine, and waits.
    "AWS_EC2_METADATA_DISABLED": "true",
}


@contextmanager
def s3_server() -> Iterator[dict[str, str]]:
    """Run a server; gives the environment of those who shall use it."""
    from moto.server import ThreadedMotoServer

    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0)
    server.start()
    try:
        host, port = server.get_host_and_port()
        yield ENVIRONMENT_KEYS | {"ROCKETSCOPE_S3_ENDPOINT": f"http://{host}:{port}"}
    finally:
        server.stop()


def make_bucket(name: str, environment: Mapping[str, str]) -> None:
    """Make a bucket at the server that an environment names, if there is none."""
    from pyarrow import fs

    from analytics.lake.s3 import S3Settings

    settings = S3Settings.from_environ(environment)
    filesystem = fs.S3FileSystem(
        access_key=settings.access_key,
        secret_key=settings.secret_key,
        region=settings.region,
        scheme=settings.scheme,
        endpoint_override=urlsplit(settings.endpoint).netloc,
        allow_bucket_creation=True,
    )
    filesystem.create_dir(name)
