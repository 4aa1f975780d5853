"""How S3 is reached, and that each name is written by one writer."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from botocore.stub import Stubber

from analytics import contracts as c
from analytics.errors import LakeError
from analytics.lake.manifest import FileEntry, load_manifest, update_manifest
from analytics.lake.s3 import S3Settings, split_address
from analytics.lake.s3_put import client_of, put_if_absent
from analytics.lake.storage import Storage, open_storage
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


def test_of_two_writers_of_a_name_one_is_told_that_it_lost(storage: Storage) -> None:
    assert storage.write_new("a/cluster=ü%2Fb/1", b"first")
    assert not storage.write_new("a/cluster=ü%2Fb/1", b"second")
    assert storage.read("a/cluster=ü%2Fb/1") == b"first"
    assert [file.path for file in storage.list_files("a")] == ["a/cluster=ü%2Fb/1"]


def test_changes_of_a_manifest_are_not_lost_to_each_other(storage: Storage) -> None:
    """The second one writes its version while the first has yet to write it."""
    other = open_storage(storage.url)
    entries = [FileEntry(f"landing/x/{n}", 1, 1, n, n) for n in (1, 2)]
    beaten: list[bool] = []

    def change(manifest: Any) -> Any:
        if not beaten:
            beaten.append(True)
            update_manifest(other, c.SAMPLES, lambda m: m.with_files(entries[:1]))
        return manifest.with_files(entries[1:])

    update_manifest(storage, c.SAMPLES, change)
    assert load_manifest(storage, c.SAMPLES).files == tuple(entries)


def answering(
    settings: S3Settings, statuses: list[int], monkeypatch: pytest.MonkeyPatch
) -> Stubber:
    """Make the client of a server hear these answers instead of the server's."""
    stub = Stubber(client_of(settings))
    for status in statuses:
        if status == 200:
            stub.add_response("put_object", {})
        else:
            stub.add_client_error("put_object", "Refused", "of it", status)
    monkeypatch.setattr(
        "analytics.lake.s3_put.client_of", lambda _settings: stub.client
    )
    stub.activate()
    return stub


@pytest.fixture
def stranger(environment: dict[str, str]) -> Iterator[S3Settings]:
    """Settings whose client no other test uses."""
    settings = S3Settings.from_environ(environment | {"ROCKETSCOPE_S3_REGION": "x"})
    yield settings
    client_of.cache_clear()


def test_a_server_without_conditions_is_looked_at_first(
    storage: Storage,
    stranger: S3Settings,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    answering(stranger, [501], monkeypatch)
    assert storage.write_new("a/1", b"first")
    assert not storage.write_new("a/1", b"second")
    assert storage.read("a/1") == b"first"
    assert re.findall("without a condition.*Refused", caplog.text)
    assert len(caplog.records) == 1, "said once"


@pytest.mark.usefixtures("environment")
def test_keys_may_be_in_a_file_as_for_amazons_own_tools(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = tmp_path / "credentials"
    file.write_text("[default]\naws_access_key_id=a\naws_secret_access_key=b\n")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(file))
    settings = keyless(monkeypatch)
    assert put_if_absent(settings, "scope", "in-a-file/1", b"first")
    assert not put_if_absent(settings, "scope", "in-a-file/1", b"second")


def test_without_keys_a_name_is_looked_at_first(
    storage: Storage, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "none"))
    settings = keyless(monkeypatch)
    monkeypatch.setattr(storage, "_settings", settings)
    assert storage.write_new("a/1", b"first")
    assert not storage.write_new("a/1", b"second")
    assert storage.read("a/1") == b"first"
    with pytest.raises(OSError, match="Unable to locate credentials"):
        put_if_absent(settings, "scope", "a/2", b"rows")


def test_a_key_without_its_secret_is_no_key(
    storage: Storage, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = keyless(monkeypatch)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "alone")
    monkeypatch.setattr(storage, "_settings", settings)
    assert storage.write_new("a/1", b"first")
    assert not storage.write_new("a/1", b"second")
    assert storage.read("a/1") == b"first"


def keyless(monkeypatch: pytest.MonkeyPatch) -> S3Settings:
    """Take the keys out of the environment; return what is left of the settings."""
    for key in ("ROCKETSCOPE_S3_ACCESS_KEY", "ROCKETSCOPE_S3_SECRET_KEY"):
        monkeypatch.delenv(key)
    for key in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE"):
        monkeypatch.delenv(key, raising=False)
    client_of.cache_clear()
    return S3Settings.from_environ(os.environ)


@pytest.mark.parametrize(
    "statuses", [[409, 200], [409, 412], [409, 409, 409, 409], [403]]
)
def test_answers_of_the_server(
    stranger: S3Settings, monkeypatch: pytest.MonkeyPatch, statuses: list[int]
) -> None:
    stub = answering(stranger, statuses, monkeypatch)

    def put() -> bool:
        return put_if_absent(stranger, "scope", "a/1", b"")

    if statuses[-1] in {200, 412}:
        assert put() is (statuses[-1] == 200)
    else:
        with pytest.raises(OSError, match="scope/a/1 not written"):
            put()
    stub.assert_no_pending_responses()


def test_a_server_that_is_away_is_an_error_of_the_file_system() -> None:
    settings = S3Settings("http://127.0.0.1:9", "x", "a", "b", path_style=True)
    with pytest.raises(OSError, match="Could not connect"):
        put_if_absent(settings, "scope", "a/1", b"rows")


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
