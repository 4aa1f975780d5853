"""The lake on a server that speaks S3: everything gives what it gives on a disk."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pyarrow import parquet

from analytics import contracts as c
from analytics.lake.compaction import absorb, compact
from analytics.lake.ladder import FAMILIES, dataset_of
from analytics.lake.manifest import load_manifest
from analytics.lake.reader import read_table
from analytics.lake.retention import GRACE_MS, sweep
from analytics.lake.rung_retention import expire_rungs
from analytics.lake.storage import Storage, open_storage
from analytics.lake.streamed import unread_files
from analytics.lake.writer import LandingWriter
from analytics.requests import JobRequest
from dashboard.jobs.child import AnalyticsChild
from tests.analytics.lakes import epoch_columns
from tests.analytics.rows import HOUR, MINUTE, START_MS, sample_columns
from tests.support.jars import S3_POM, s3_jars
from tests.support.s3 import make_bucket, s3_server

MINUTES = 12
LATER = START_MS + 2 * HOUR


@pytest.fixture(scope="module")
def server() -> Iterator[dict[str, str]]:
    with s3_server() as environment:
        yield environment


@pytest.fixture
def on_s3(server: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> str:
    """The address of an empty lake; this process has the settings for it."""
    for key, value in server.items():
        monkeypatch.setenv(key, value)
    make_bucket("scope", server)
    storage = open_storage("s3://scope/lake")
    storage.delete_tree("")
    return "s3://scope/lake"


def land(url: str) -> None:
    """Write minutes of a cluster whose name no path takes as it is, and two epochs."""
    samples = LandingWriter(url, run_id="samples")
    for minute in range(MINUTES):
        now = START_MS + minute * MINUTE
        columns = sample_columns(now, max=[200 + minute * queue for queue in range(4)])
        samples.append(columns | {c.CLUSTER: "ü/b", c.EPOCH: 1 + minute // 6})
        assert samples.flush(now + MINUTE).error is None
    samples.close(LATER)
    epochs = LandingWriter(url, c.EPOCHS, run_id="epochs")
    for number, members in ((1, ["a"]), (2, ["a", "b"])):
        began_ms = START_MS + (number - 1) * 6 * MINUTE
        epochs.append(epoch_columns(number, began_ms, members) | {c.CLUSTER: "ü/b"})
    assert epochs.close(LATER).error is None


def test_files_are_landed_merged_let_go_and_read(on_s3: str, tmp_path: Path) -> None:
    found = {}
    for url in (on_s3, str(tmp_path)):
        land(url)
        storage = open_storage(url)
        assert len(unread_files(storage, c.SAMPLES)) == MINUTES
        absorb(storage, c.SAMPLES)
        before = read_table(storage, c.SAMPLES).num_rows
        assert compact(storage, c.SAMPLES, LATER) == MINUTES
        assert sweep(storage, c.SAMPLES, LATER + GRACE_MS) == MINUTES
        manifest = load_manifest(storage, c.SAMPLES)
        (file,) = manifest.files
        listed = storage.list_files("compact")
        assert [(each.path, each.size) for each in listed] == [(file.path, file.size)]
        rows = read_table(storage, c.SAMPLES)
        assert rows.num_rows == before == 4 * MINUTES
        found[url] = (manifest, rows.to_pylist())
    assert found[on_s3] == found[str(tmp_path)]


def test_other_bytes_take_an_objects_place(on_s3: str) -> None:
    storage = open_storage(on_s3)
    assert storage.write_new("a/one", b"first")
    storage.replace("a/one", b"second")
    assert storage.read("a/one") == b"second"
    assert not storage.write_new("a/one", b"third")


@pytest.mark.spark
@pytest.mark.timeout(1800)
@pytest.mark.skipif(shutil.which("mvn") is None, reason="needs mvn for Spark's S3 jars")
def test_jobs_give_on_s3_what_they_give_on_a_disk(
    on_s3: str, server: dict[str, str], tmp_path: Path
) -> None:
    environ = {
        **os.environ,
        **server,
        "ROCKETSCOPE_VAR_DIR": str(tmp_path / "var"),
        "ROCKETSCOPE_SPARK_JARS": str(s3_jars()),
        "JAVA_TOOL_OPTIONS": "-XX:TieredStopAtLevel=1",
    }
    local = str(tmp_path / "lake")
    child = AnalyticsChild(environ)
    found: dict[str, Any] = {}
    try:
        for url in (on_s3, local):
            land(url)
            done = run(child, c.JOB_ROLLUP, url)
            assert (done["files"], done["batches"], done["carried"]) == (MINUTES, 2, 0)
            assert run(child, c.JOB_ROLLUP, url)["files"] == 0
            lag = run(child, c.JOB_LAG, url)
            backtest = run(child, c.JOB_BACKTEST, url)
            tables = {
                f"{job}/{name}": rows_in(open_storage(f"{url}/{job}"), name)
                for job, summary in ((c.JOB_LAG, lag), (c.JOB_BACKTEST, backtest))
                for name in summary["rows"]
            }
            found[url] = (lag, backtest, tables, rungs_of(open_storage(url)))
    finally:
        child.stop()
    assert found[on_s3] == found[local]
    assert all(found[local][2].values()), "none of the tables is empty"
    storage = open_storage(on_s3)
    assert unread_files(storage, c.SAMPLES) == {}
    assert expire_rungs(storage, LATER * 2) == 0, "nothing was carried yet"


def run(child: AnalyticsChild, job: str, url: str) -> dict[str, Any]:
    """Return the summary of a job."""
    request = JobRequest(job, url, f"{url}/{job}", step_seconds=60)
    for event in child.run(job, request):
        if event is not None and event["event"] != "progress":
            assert event["event"] == "done", event
            return dict(event["summary"])
    raise AssertionError(f"{job} did not end")


def rows_in(storage: Storage, folder: str) -> list[str]:
    rows = []
    for file in storage.list_files(folder):
        if file.path.endswith(".parquet"):
            with storage.open_input(file.path) as source:
                rows += parquet.ParquetFile(source).read().to_pylist()
    return sorted(map(_told, rows))


def rungs_of(storage: Storage) -> dict[str, list[str]]:
    names = [dataset_of(family, c.ROLLUP_LEVELS[0]) for family in FAMILIES]
    return {
        name: sorted(map(_told, read_table(storage, name).to_pylist()))
        for name in names
    }


def _told(row: dict[str, Any]) -> str:
    """Sums in another order differ in the last digits."""
    values = row.items()
    return repr([(k, round(v, 9) if type(v) is float else v) for k, v in values])


def test_the_jars_for_s3_belong_to_the_hadoop_of_pyspark() -> None:
    import pyspark

    jars = Path(pyspark.__file__).parent / "jars"
    (client,) = jars.glob("hadoop-client-api-*.jar")
    version = client.stem.removeprefix("hadoop-client-api-")
    assert f"<hadoop.version>{version}</hadoop.version>" in S3_POM.read_text()
