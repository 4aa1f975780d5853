"""How S3 is reached, and that each name is written by one writer."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from botocore.auth import S3SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from analytics import contracts as c
from analytics.errors import LakeError
from analytics.lake import s3_put
from analytics.lake.manifest import FileEntry, load_manifest, update_manifest
from analytics.lake.s3 import S3Settings, split_address
from analytics.lake.s3_put import Keys, keys_in_hand, put_if_absent, signed_headers
from analytics.lake.storage import S3Storage, Storage, open_storage
from tests.support.s3 import make_bucket, s3_server


@pytest.fixture(scope="module")
def server() -> Iterator[dict[str, str]]:
    with s3_server() as environment:
        make_bucket("scope", environment)
        yield environment


@pytest.fixture
def environment(
    server: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> dict[str, str]:
    for key, value in server.items():
        monkeypatch.setenv(key, value)
    return server


@pytest.fixture
def storage(environment: dict[str, str], request: pytest.FixtureRequest) -> Storage:
    return open_storage(f"s3://scope/{request.node.name}")


class TestSettings:
    def test_nothing_given_is_amazon(self) -> None:
        settings = S3Settings.from_environ({"AWS_REGION": "eu-central-1"})
        assert settings == S3Settings(region="eu-central-1")
        assert not settings.path_style
        assert settings.hadoop_configuration() == {
            "fs.s3a.endpoint.region": "eu-central-1",
            "fs.s3a.path.style.access": "false",
        }

    def test_a_server_of_ones_own(self) -> None:
        settings = S3Settings.from_environ(
            {
                "ROCKETSCOPE_S3_ENDPOINT": "http://127.0.0.1:9000/",
                "ROCKETSCOPE_S3_ACCESS_KEY": "scope",
                "ROCKETSCOPE_S3_SECRET_KEY": "not a secret",
            }
        )
        assert settings.path_style
        assert "not a secret" not in repr(settings)
        assert settings.hadoop_configuration() == {
            "fs.s3a.endpoint": "http://127.0.0.1:9000",
            "fs.s3a.endpoint.region": "us-east-1",
            "fs.s3a.path.style.access": "true",
            "fs.s3a.access.key": "scope",
            "fs.s3a.secret.key": "not a secret",
        }

    @pytest.mark.parametrize(
        ("key", "value", "part"),
        [
            ("ENDPOINT", "127.0.0.1:9000", "'127.0.0.1:9000' is not http://host:port"),
            ("ENDPOINT", "http://host/bucket", "'http://host/bucket' is not"),
            ("ACCESS_KEY", "scope", "ROCKETSCOPE_S3_SECRET_KEY: set both or none"),
            ("PATH_STYLE", "maybe", "'maybe' is not a switch"),
        ],
    )
    def test_a_wrong_value_is_named(self, key: str, value: str, part: str) -> None:
        with pytest.raises(LakeError, match=f"ROCKETSCOPE_S3_{key}") as refused:
            S3Settings.from_environ({f"ROCKETSCOPE_S3_{key}": value})
        assert part in str(refused.value)

    @pytest.mark.parametrize(
        ("url", "part"),
        [
            ("s3://", "names no bucket"),
            ("s3://me:secret@bucket/lake", "s3://bucket/lake: an s3 address takes"),
            ("s3://bucket/lake?region=x", "takes neither keys nor options"),
        ],
    )
    def test_an_address_that_says_too_little_or_too_much(
        self, url: str, part: str
    ) -> None:
        with pytest.raises(LakeError) as refused:
            open_storage(url)
        assert part in str(refused.value)
        assert "secret" not in str(refused.value)

    def test_an_address_is_bucket_and_folder(self) -> None:
        assert split_address("s3a://bucket/a/b/") == ("bucket", "a/b")
        assert split_address("s3://bucket") == ("bucket", "")

    def test_keys_of_the_settings_come_first(self) -> None:
        environ = {
            "AWS_ACCESS_KEY_ID": "a",
            "AWS_SECRET_ACCESS_KEY": "b",
            "AWS_SESSION_TOKEN": "t",
        }
        settings = S3Settings(access_key="x", secret_key="y")
        assert keys_in_hand(settings, environ) == Keys("x", "y")
        assert keys_in_hand(S3Settings(), environ) == Keys("a", "b", "t")
        assert keys_in_hand(S3Settings(), {"AWS_ACCESS_KEY_ID": "a"}) is None


@pytest.mark.parametrize("token", ["", "of an hour"])
def test_a_request_is_signed_as_amazons_own_client_signs_it(token: str) -> None:
    path = "/scope/lake/cluster%3D%C3%BC%252Fb/1.parquet"
    theirs: Any = AWSRequest(
        "PUT", f"http://127.0.0.1:9000{path}", {"If-None-Match": "*"}, b"rows"
    )
    credentials = Credentials("scope", "not a secret", token or None)
    S3SigV4Auth(credentials, "s3", "eu-central-1").add_auth(theirs)
    moment = datetime.strptime(theirs.headers["X-Amz-Date"], "%Y%m%dT%H%M%S%z")
    ours = signed_headers(
        *(Keys("scope", "not a secret", token), "eu-central-1"),
        *("127.0.0.1:9000", path, b"rows"),
        now=moment,
    )
    assert ours["authorization"] == theirs.headers["Authorization"]


def test_of_two_writers_of_a_name_one_is_told_that_it_lost(storage: Storage) -> None:
    assert storage.write_new("a/cluster=ü%2Fb/1", b"first")
    assert not storage.write_new("a/cluster=ü%2Fb/1", b"second")
    assert storage.read("a/cluster=ü%2Fb/1") == b"first"
    assert [file.path for file in storage.list_files("a")] == ["a/cluster=ü%2Fb/1"]


def test_changes_of_a_manifest_are_not_lost_to_each_other(storage: Storage) -> None:
    """The second one writes its version while the first has yet to write it."""
    other = open_storage(storage.url)
    entries = [FileEntry(f"landing/x/{n}", 1, 1, n, n) for n in (1, 2)]
    beaten = []

    def change(manifest: Any) -> Any:
        if not beaten:
            beaten.append(True)
            update_manifest(other, c.SAMPLES, lambda m: m.with_files(entries[:1]))
        return manifest.with_files(entries[1:])

    update_manifest(storage, c.SAMPLES, change)
    assert load_manifest(storage, c.SAMPLES).files == tuple(entries)


def test_a_server_without_conditions_is_looked_at_first(
    storage: Storage, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(s3_put, "_put", lambda *_: (501, "NotImplemented"))
    assert storage.write_new("a/1", b"first")
    assert not storage.write_new("a/1", b"second")
    assert storage.read("a/1") == b"first"
    assert re.findall("without a condition.*NotImplemented", caplog.text)
    assert len(caplog.records) == 1, "said once"


def test_without_keys_in_hand_a_name_is_looked_at_first(
    environment: dict[str, str],
) -> None:
    storage = S3Storage(
        "s3://scope/keyless", S3Settings.from_environ(environment), None
    )
    assert storage.write_new("a/1", b"first")
    assert not storage.write_new("a/1", b"second")
    assert storage.read("a/1") == b"first"


@pytest.mark.parametrize(
    "statuses", [[409, 200], [409, 412], [409, 409, 409, 409], [403]]
)
def test_answers_of_the_server(
    monkeypatch: pytest.MonkeyPatch, statuses: list[int]
) -> None:
    left = list(statuses)
    monkeypatch.setattr(s3_put, "_put", lambda *_: (left.pop(0), "AccessDenied"))

    def put() -> bool:
        return put_if_absent(S3Settings(), Keys("a", "b"), "scope", "a/1", b"")

    if statuses[-1] in {200, 412}:
        assert put() is (statuses[-1] == 200)
    else:
        with pytest.raises(OSError, match="scope/a/1 not written"):
            put()
    assert not left


def test_a_server_that_is_away_is_an_error_of_the_file_system(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    settings = S3Settings(endpoint="http://127.0.0.1:9", path_style=True)
    with pytest.raises(OSError, match="refused"):
        put_if_absent(settings, Keys("a", "b"), "scope", "a/1", b"rows")


def test_a_file_whose_source_fails_is_not_seen(
    storage: Storage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "report.pdf"
    source.write_bytes(b"x" * 10)
    assert storage.write_file("a/whole", source)

    def torn(data: Any, stream: Any, _size: int) -> None:
        stream.write(data.read(3))
        raise OSError("Input/output error")

    monkeypatch.setattr("analytics.lake.storage.shutil.copyfileobj", torn)
    with pytest.raises(OSError, match="Input/output"):
        storage.write_file("a/part", source)
    assert [file.path for file in storage.list_files("a")] == ["a/whole"]
