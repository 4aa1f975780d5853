from __future__ import annotations

import logging
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from analytics.errors import JobError
from analytics.session import (
    SessionSettings,
    check_address,
    configuration,
    give_javas_memory_back,
)
from tests.support.waiting import wait_until

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


LARGE = 200 * 1024 * 1024
"""Bytes of one bit set; five are far more than what earlier tests leave in the heap."""


def test_settings_come_from_the_environment() -> None:
    environ = {
        "ROCKETSCOPE_VAR_DIR": "/srv/rs",
        "ROCKETSCOPE_SPARK_MASTER": "spark://host:7077",
        "ROCKETSCOPE_SPARK_MEMORY": "4g",
    }
    settings = SessionSettings.from_environ(environ)
    assert settings.work_dir == Path("/srv/rs/spark")
    assert (settings.master, settings.memory) == ("spark://host:7077", "4g")
    assert not settings.is_local


def test_without_settings_spark_is_local_and_small() -> None:
    settings = SessionSettings.from_environ({})
    assert (settings.master, settings.memory) == ("local[2]", "1g")
    assert settings.is_local


def test_a_remote_master_gets_our_packages(tmp_path: Path) -> None:
    settings = SessionSettings(tmp_path, master="spark://host:7077")
    archive = configuration(settings)["spark.submit.pyFiles"]
    with zipfile.ZipFile(archive) as packed:
        names = set(packed.namelist())
    assert {"analytics/transforms/tasks.py", "rmqcore/errors.py"} <= names
    assert "spark.driver.host" not in configuration(settings)


def test_any_setting_can_be_overridden(tmp_path: Path) -> None:
    settings = SessionSettings(tmp_path, extra={"spark.driver.memory": "9g"})
    assert configuration(settings)["spark.driver.memory"] == "9g"


def test_jars_of_a_folder_are_given_to_spark(tmp_path: Path) -> None:
    environ = {"ROCKETSCOPE_SPARK_JARS": str(tmp_path), "ROCKETSCOPE_S3_REGION": "eu"}
    settings = SessionSettings.from_environ(environ)
    assert settings.s3.region == "eu"
    with pytest.raises(JobError, match=f"no jar in {tmp_path}"):
        configuration(settings)
    for name in ("b.jar", "a.jar", "a.pom"):
        (tmp_path / name).touch()
    jars = f"{tmp_path}/a.jar,{tmp_path}/b.jar"
    assert configuration(settings)["spark.jars"] == jars


def test_no_key_stands_on_the_command_line_of_java(tmp_path: Path) -> None:
    keys = {
        "ROCKETSCOPE_S3_ACCESS_KEY": "scope",
        "ROCKETSCOPE_S3_SECRET_KEY": "not a secret",
    }
    settings = SessionSettings.from_environ(keys)
    assert "not a secret" not in str(configuration(settings))
    assert "not a secret" not in repr(settings)


@pytest.mark.spark
@pytest.mark.timeout(1800)
def test_a_session_keeps_utc_and_its_peace(
    spark: SparkSession, capfd: pytest.CaptureFixture[str]
) -> None:
    assert spark.conf.get("spark.sql.session.timeZone") == "UTC"
    assert spark.sparkContext.uiWebUrl is None
    with pytest.raises(Exception, match="TABLE_OR_VIEW_NOT_FOUND"):
        spark.sql("select * from nowhere")
    with pytest.raises(Exception, match="DIVIDE_BY_ZERO"):
        spark.range(1).selectExpr("1 / id").collect()
    with pytest.raises(Exception, match="UNRESOLVED_COLUMN"):
        spark.range(1).select("nowhere")
    assert capfd.readouterr().err == ""
    assert logging.getLogger("py4j").level == logging.WARNING


@pytest.mark.spark
@pytest.mark.timeout(1800)
def test_later_tests_can_read_the_log_after_a_failed_query(
    spark: SparkSession, caplog: pytest.LogCaptureFixture
) -> None:
    with pytest.raises(Exception, match="TABLE_OR_VIEW_NOT_FOUND"):
        spark.sql("select * from nowhere")
    formatter = caplog.handler.formatter
    failed = logging.getLogger("SQLQueryContextLogger")
    failed.addHandler(caplog.handler)  # as pytest does, because it does not propagate
    try:
        assert caplog.handler.formatter is formatter
    finally:
        failed.removeHandler(caplog.handler)


@pytest.mark.spark
@pytest.mark.timeout(1800)
def test_jars_that_are_missing_are_asked_for(spark: SparkSession) -> None:
    check_address(spark, "file:///srv/lake")
    with pytest.raises(JobError, match="ROCKETSCOPE_SPARK_JARS"):
        check_address(spark, "s3a://bucket/lake")


@pytest.mark.spark
def test_heap_that_java_no_longer_needs_goes_back(spark: SparkSession) -> None:
    jvm: Any = spark.sparkContext._jvm
    heap = jvm.java.lang.Runtime.getRuntime()
    large = [jvm.java.util.BitSet(8 * LARGE) for _ in range(5)]
    needed = heap.totalMemory()
    del large

    def is_back() -> bool:
        give_javas_memory_back(spark)
        return bool(heap.totalMemory() < needed - 2 * LARGE)

    wait_until(is_back)
