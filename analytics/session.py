"""Start Spark, late and quietly: the only place that configures it.

`local[…]` runs inside one JVM with the serial collector, because two cores are shared
with everything else; any other master gets our packages shipped to its workers. Times
are UTC everywhere. Cost: about 7 s and 14 s of CPU for the first session of a process,
0.4 GB for an idle JVM.
"""

from __future__ import annotations

import logging
import os
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from pyspark.logger import PySparkLogger
from pyspark.sql import SparkSession

from analytics.jre import java_environment

ROOT: Final = Path(__file__).resolve().parent.parent
_LOG_SETTINGS: Final = Path(__file__).with_name("log4j2.properties")
_NEVER: Final = logging.CRITICAL + 1
_SHIPPED: Final = ("analytics", "rmqcore")


@dataclass(frozen=True, slots=True)
class SessionSettings:
    """How to start Spark.

    `work_dir` takes shuffle files, the Java shim and the shipped packages; `memory`
    is Spark's spelling of the heap of the driver, and of each executor of a cluster.
    `extra` overrides any setting.
    """

    work_dir: Path
    master: str = "local[2]"
    memory: str = "1g"
    extra: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_local(self) -> bool:
        return self.master.startswith("local")

    @classmethod
    def from_environ(cls, environ: Mapping[str, str]) -> SessionSettings:
        """Read ROCKETSCOPE_VAR_DIR, _SPARK_MASTER and _SPARK_MEMORY."""
        var_dir = Path(environ.get("ROCKETSCOPE_VAR_DIR") or ROOT / "var")
        return cls(
            work_dir=var_dir / "spark",
            master=environ.get("ROCKETSCOPE_SPARK_MASTER") or "local[2]",
            memory=environ.get("ROCKETSCOPE_SPARK_MEMORY") or "1g",
        )


def start_session(settings: SessionSettings) -> SparkSession:
    """Return the process's session, started with these settings if there is none.

    Raises `JavaError` when no Java can be found.
    """
    settings.work_dir.mkdir(parents=True, exist_ok=True)
    shim_home = settings.work_dir.parent / "java-shim"
    os.environ.update(java_environment(os.environ, shim_home))
    _let_workers_import_us()
    # Else every failed query is written to standard error as a page of JSON.
    PySparkLogger.getLogger("SQLQueryContextLogger").setLevel(_NEVER)
    logging.getLogger("py4j").setLevel(logging.WARNING)
    builder = SparkSession.Builder().appName("rocketscope").master(settings.master)
    for key, value in _configuration(settings).items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    return session


def _configuration(settings: SessionSettings) -> dict[str, str]:
    java_options = " ".join(
        (
            "-XX:+UseSerialGC",
            # A job that needs more than its heap ends; it does not crawl on.
            "-XX:+ExitOnOutOfMemoryError",
            # One method sums what a sample adds: long, and it runs for every row.
            "-XX:-DontCompileHugeMethods",
            f"-Dlog4j2.configurationFile={_LOG_SETTINGS}",
        )
    )
    common = {
        "spark.driver.memory": settings.memory,
        "spark.driver.extraJavaOptions": java_options,
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.local.dir": str(settings.work_dir),
        "spark.sql.warehouse.dir": str(settings.work_dir / "warehouse"),
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.parquet.compression.codec": "zstd",
        "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
        # Collected samples are append-only files that we list ourselves.
        "spark.sql.files.ignoreMissingFiles": "false",
        "spark.sql.execution.arrow.pyspark.enabled": "true",
        # Rows of one group are in one place: joins by more keys need no shuffle.
        "spark.sql.requireAllClusterKeysForCoPartition": "false",
    }
    if settings.is_local:
        common |= {
            "spark.driver.host": "127.0.0.1",
            "spark.driver.bindAddress": "127.0.0.1",
            # Two cores: more partitions than this only cost scheduling.
            "spark.sql.shuffle.partitions": "4",
            "spark.default.parallelism": "4",
        }
    else:
        common["spark.executor.memory"] = settings.memory
        common["spark.submit.pyFiles"] = str(_packed(settings.work_dir))
    return common | dict(settings.extra)


def _let_workers_import_us() -> None:
    """Python workers of a local master get PYTHONPATH from this environment."""
    paths = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    if str(ROOT) not in paths:
        kept = [path for path in paths if path]
        os.environ["PYTHONPATH"] = os.pathsep.join([str(ROOT), *kept])


def _packed(folder: Path) -> Path:
    """Zip the packages that functions sent to remote workers import."""
    archive = folder / "rocketscope.zip"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
        for package in _SHIPPED:
            for file in sorted((ROOT / package).rglob("*.py")):
                packed.write(file, file.relative_to(ROOT))
    return archive
