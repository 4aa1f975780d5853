"""Write an S3 object only where there is none: what pyarrow's S3 does not offer.

One request with `If-None-Match: *`, signed as AWS's "Signature Version 4" asks: of two
writers of one name exactly one is told that it was first. Needs keys in hand.
"""

from __future__ import annotations

import hashlib
import hmac
import http.client
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final
from urllib.parse import quote, urlsplit

from .s3 import S3Settings

TIMEOUT_SECONDS: Final = 30.0
_ATTEMPTS: Final = 4
_ALGORITHM: Final = "AWS4-HMAC-SHA256"
_SHOWN: Final = 200


@dataclass(frozen=True, slots=True)
class Keys:
    """Credentials of one caller; the token belongs to temporary ones."""

    access_key: str
    secret_key: str = field(repr=False)
    token: str = field(default="", repr=False)


def keys_in_hand(settings: S3Settings, environ: Mapping[str, str]) -> Keys | None:
    """Return the keys of the settings, else AWS's own variables; None without."""
    if settings.access_key:
        return Keys(settings.access_key, settings.secret_key)
    access_key = environ.get("AWS_ACCESS_KEY_ID", "")
    secret_key = environ.get("AWS_SECRET_ACCESS_KEY", "")
    if not access_key or not secret_key:
        return None
    return Keys(access_key, secret_key, environ.get("AWS_SESSION_TOKEN", ""))


class UnconditionalError(OSError):
    """The server does not know conditional writes."""


def put_if_absent(
    settings: S3Settings, keys: Keys, bucket: str, key: str, data: bytes
) -> bool:
    """Write an object; False when there is one of that name.

    Raises `UnconditionalError` when the server cannot do that, `OSError` otherwise.
    """
    for _attempt in range(_ATTEMPTS):
        status, answer = _put(settings, keys, bucket, key, data)
        if status == http.HTTPStatus.OK:
            return True
        if status == http.HTTPStatus.PRECONDITION_FAILED:
            return False
        if status == http.HTTPStatus.NOT_IMPLEMENTED:
            raise UnconditionalError(f"{bucket}/{key}: {answer}")
        if status != http.HTTPStatus.CONFLICT:  # which is: another one is at it
            raise OSError(f"{bucket}/{key} not written, HTTP {status}: {answer}")
    raise OSError(f"{bucket}/{key} not written: others write it all the time")


def _put(
    settings: S3Settings, keys: Keys, bucket: str, key: str, data: bytes
) -> tuple[int, str]:
    host = urlsplit(settings.endpoint).netloc or f"s3.{settings.region}.amazonaws.com"
    path = quote(f"/{key}", safe="/-_.~")
    if settings.path_style:
        path = f"/{bucket}{path}"
    else:
        host = f"{bucket}.{host}"
    headers = signed_headers(
        keys, settings.region, host, path, data, now=datetime.now(UTC)
    )
    kind = (
        http.client.HTTPConnection
        if settings.scheme == "http"
        else http.client.HTTPSConnection
    )
    connection = kind(host, timeout=TIMEOUT_SECONDS)
    try:
        connection.request("PUT", path, body=data, headers=headers)
        response = connection.getresponse()
        return response.status, response.read()[:_SHOWN].decode(errors="replace")
    except http.client.HTTPException as error:
        raise OSError(f"{host} gave no answer: {error!r}") from error
    finally:
        connection.close()


def signed_headers(
    keys: Keys, region: str, host: str, path: str, data: bytes, *, now: datetime
) -> dict[str, str]:
    """Return the headers of a PUT, `Authorization` among them."""
    digest = hashlib.sha256(data).hexdigest()
    moment = now.strftime("%Y%m%dT%H%M%SZ")
    headers = {
        "host": host,
        "if-none-match": "*",
        "x-amz-content-sha256": digest,
        "x-amz-date": moment,
    }
    if keys.token:
        headers["x-amz-security-token"] = keys.token
    names = ";".join(sorted(headers))
    lines = "".join(f"{name}:{headers[name]}\n" for name in sorted(headers))
    request = f"PUT\n{path}\n\n{lines}\n{names}\n{digest}"
    scope = f"{moment[:8]}/{region}/s3/aws4_request"
    hashed = hashlib.sha256(request.encode()).hexdigest()
    signing = f"AWS4{keys.secret_key}".encode()
    for part in scope.split("/"):
        signing = hmac.digest(signing, part.encode(), "sha256")
    signature = hmac.new(
        signing, f"{_ALGORITHM}\n{moment}\n{scope}\n{hashed}".encode(), "sha256"
    ).hexdigest()
    headers["authorization"] = (
        f"{_ALGORITHM} Credential={keys.access_key}/{scope}, "
        f"SignedHeaders={names}, Signature={signature}"
    )
    return headers
