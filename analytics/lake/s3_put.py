"""Write an S3 object only where there is none, which pyarrow's S3 does not offer.

One request with `If-None-Match: *` by Amazon's own client: of two writers of one name,
exactly one is told that it was first. Keys are found where pyarrow finds them.
"""

from __future__ import annotations

from functools import cache
from http import HTTPStatus
from typing import Any, Final

from .s3 import S3Settings

TIMEOUT_SECONDS: Final = 30.0
_ATTEMPTS: Final = 4


class UnconditionalError(OSError):
    """The server has no conditional writes, or there are no keys to sign them."""


def put_if_absent(settings: S3Settings, bucket: str, key: str, data: bytes) -> bool:
    """Write an object; False when there is one of that name.

    Raises `UnconditionalError` when the server cannot do that or no keys are found,
    `OSError` otherwise.
    """
    from botocore.exceptions import (
        BotoCoreError,
        ClientError,
        NoCredentialsError,
        PartialCredentialsError,
    )

    for _attempt in range(_ATTEMPTS):
        try:
            client_of(settings).put_object(
                Bucket=bucket, Key=key, Body=data, IfNoneMatch="*"
            )
        except ClientError as error:
            status = error.response["ResponseMetadata"]["HTTPStatusCode"]
            if status == HTTPStatus.PRECONDITION_FAILED:
                return False
            if status == HTTPStatus.NOT_IMPLEMENTED:
                raise UnconditionalError(f"{bucket}/{key}: {error}") from error
            if status != HTTPStatus.CONFLICT:  # another write is in progress
                raise OSError(
                    f"{bucket}/{key} not written, HTTP {status}: {error}"
                ) from error
        except (NoCredentialsError, PartialCredentialsError) as error:
            raise UnconditionalError(f"{bucket}/{key}: {error}") from error
        except BotoCoreError as error:
            raise OSError(f"{bucket}/{key} not written: {error}") from error
        else:
            return True
    raise OSError(f"{bucket}/{key} not written: others write it all the time")


@cache
def client_of(settings: S3Settings) -> Any:
    """Return Amazon's client for a server; it serves all threads of the process.

    It does not repeat requests by itself: if an answer were lost, the second request
    would be told that the name is taken, although we took it.
    """
    from botocore.config import Config
    from botocore.session import Session

    return Session().create_client(
        "s3",
        region_name=settings.region,
        endpoint_url=settings.endpoint or None,
        aws_access_key_id=settings.access_key or None,
        aws_secret_access_key=settings.secret_key or None,
        config=Config(
            connect_timeout=TIMEOUT_SECONDS,
            read_timeout=TIMEOUT_SECONDS,
            retries={"total_max_attempts": 1},
            proxies={},  # pyarrow, which does everything else, uses none
            # Servers other than Amazon's may not know its newer checksums.
            request_checksum_calculation="when_required",
            response_checksum_validation="when_required",
            s3={
                "addressing_style": "path" if settings.path_style else "virtual",
                "payload_signing_enabled": True,
            },
        ),
    )
