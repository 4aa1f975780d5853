"""Start Spark, late and quietly: the only place that configures it.

`local[…]` runs inside one JVM with the serial collector, because two cores are shared
with everything else; any other master gets our packages shipped to its workers. Times
are UTC everywhere. Cost, on two idle cores: 4 s for the first session of a process and
2 s for its first task, 6 s of CPU; without the archive of classes (see `class_archive`)
10 s, 2 s and 12 s. An idle JVM takes 0.4 GB.
"""

from __future__ import annotations

import logging
import os
import shlex
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from py4j.java_gateway import JavaObject  # type: ignore[import-untyped]
from py4j.protocol import Py4JJavaError  # type: ignore[import-untyped]
from pyspark.logger import PySparkLogger
from pyspark.sql import SparkSession

from analytics.class_archive import sharing_options
from analytics.errors import JobError
from analytics.jre import java_environment, real_java
from analytics.lake.s3 import S3Settings
from analytics.places import INSTALLED, ROOT, home
from analytics.work_dirs import own_work_dir

_LOG_SETTINGS: Final = Path(__file__).with_name("log4j2.properties")
_NEVER: Final = logging.CRITICAL + 1
_S3_CLASS: Final = "org.apache.hadoop.fs.s3a.S3AFileSystem"
_SHIPPED: Final = ("analytics", "rmqcore")


@dataclass(frozen=True, slots=True)
class SessionSettings:
    """How to start Spark.

    `work_dir` takes shuffle files and the shipped packages, in a folder for each
    process; the Java shim is beside it. `memory` is Spark's spelling of the heap of
    the driver, and of each executor of a cluster. `jars` is a folder of jars beyond
    Spark's own, such as those for S3. `extra` overrides any setting.
    """

    work_dir: Path
    master: str = "local[2]"
    memory: str = "1g"
    jars: Path | None = None
    s3: S3Settings = field(default_factory=S3Settings)
    extra: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_local(self) -> bool:
        return self.master.startswith("local")

    @classmethod
    def from_environ(cls, environ: Mapping[str, str]) -> SessionSettings:
        """Read ROCKETSCOPE_VAR_DIR, _SPARK_MASTER, _MEMORY and _JARS, and _S3_…."""
        var_dir = Path(environ.get("ROCKETSCOPE_VAR_DIR") or home(environ) / "var")
        jars = environ.get("ROCKETSCOPE_SPARK_JARS", "").strip()
        return cls(
            work_dir=var_dir / "spark",
            master=environ.get("ROCKETSCOPE_SPARK_MASTER") or "local[2]",
            memory=environ.get("ROCKETSCOPE_SPARK_MEMORY") or "1g",
            jars=Path(jars) if jars else None,
            s3=S3Settings.from_environ(environ),
        )


def start_session(
    settings: SessionSettings, sharing: Sequence[str] | None = None
) -> SparkSession:
    """Return the process's session, started with these settings if there is none.

    `sharing` replaces the options by which Java uses the archives of classes.
    Raises `JavaError` when no Java can be found, `JobError` for a folder without jars.
    """
    shim_home = settings.work_dir.parent / "java-shim"
    settings = replace(settings, work_dir=own_work_dir(settings.work_dir))
    java = real_java(os.environ)
    os.environ.update(java_environment(java, shim_home))
    if sharing is None:
        sharing = sharing_options(java)
    _let_workers_import_us()
    # Otherwise every failed query is written to standard error as a page of JSON.
    for name in ("SQLQueryContextLogger", "DataFrameQueryContextLogger"):
        PySparkLogger.getLogger(name).setLevel(_NEVER)
    logging.getLogger("py4j").setLevel(logging.WARNING)
    builder = SparkSession.Builder().appName("rocketscope").master(settings.master)
    for key, value in configuration(settings, sharing).items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    # Not among the settings above: these appear on Java's command line, visible to all.
    hadoop: Any = session.sparkContext._jsc.hadoopConfiguration()
    for key, value in settings.s3.hadoop_configuration().items():
        hadoop.set(key, value)
    return session


def give_javas_memory_back(session: SparkSession) -> None:
    """Run Java's garbage collector for a session; the heap shrinks afterwards.

    Takes some 0.3 s on a warm session. Spark frees what belonged to a plan after Java
    has collected it, so that a second call, seconds later, finds more.
    """
    jvm: Any = session.sparkContext._jvm
    jvm.java.lang.System.gc()


def close_callback_connections(session: SparkSession) -> None:
    """Close the connections through which Java has called Python.

    Each streaming query calls from a thread of its own, over a connection of its own.
    Py4J keeps that connection, the thread that serves it here and the whole query over
    there for as long as both processes live: some 3 and 6 MB for each query.
    """
    context: Any = session.sparkContext
    server = JavaObject("GATEWAY_SERVER", context._gateway._gateway_client)
    client = server.getCallbackClient()
    # The first call marks connections as unused, the second closes the marked ones.
    client.periodicCleanup()
    client.periodicCleanup()


def check_address(session: SparkSession, url: str) -> None:
    """Raise `JobError` when this Spark lacks what it needs to read an address."""
    if not url.startswith("s3a:"):
        return
    jvm: Any = session.sparkContext._jvm
    loader = jvm.java.lang.Thread.currentThread().getContextClassLoader()
    try:
        loader.loadClass(_S3_CLASS)
    except Py4JJavaError as error:
        raise JobError(
            f"Spark cannot read {url} without hadoop-aws: put its jars into a folder "
            "and name it in ROCKETSCOPE_SPARK_JARS, as docs/deployment.md shows"
        ) from error


def configuration(
    settings: SessionSettings, sharing: Sequence[str] = ()
) -> dict[str, str]:
    """Return all of Spark's settings, for other code that starts a session.

    `sharing` are the options of Java's class data sharing.
    """
    java_options = shlex.join(
        (
            *sharing,
            "-XX:+UseSerialGC",
            # Return the heap that a collection leaves free to the system at once.
            "-XX:MinHeapFreeRatio=30",
            "-XX:MaxHeapFreeRatio=50",
            "-XX:-ShrinkHeapInSteps",
            # The heap never shrinks below its initial size.
            "-Xms64m",
            # Trim memory outside of the heap every ten seconds, if this Java can.
            "-XX:+IgnoreUnrecognizedVMOptions",
            "-XX:TrimNativeHeapInterval=10000",
            # A job that needs more than its heap ends instead of crawling on.
            "-XX:+ExitOnOutOfMemoryError",
            # Rows are worked on in Python. What Java runs does not repeat often enough
            # for its second compiler, which would take a third of a small job.
            "-XX:TieredStopAtLevel=1",
            f"-Dlog4j2.configurationFile={_LOG_SETTINGS}",
        )
    )
    common = {
        "spark.driver.memory": settings.memory,
        "spark.driver.extraJavaOptions": java_options,
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        # Finished queries are kept for Spark's own pages, which are not served.
        "spark.ui.retainedJobs": "1",
        "spark.ui.retainedStages": "1",
        "spark.ui.retainedTasks": "1",
        "spark.sql.ui.retainedExecutions": "1",
        "spark.local.dir": str(settings.work_dir),
        "spark.sql.warehouse.dir": str(settings.work_dir / "warehouse"),
        "spark.sql.session.timeZone": "UTC",
        # Spark plans how the stream of roll-ups would read files, but tasks of our own
        # read them: compiling the plan would be for nothing.
        "spark.sql.codegen.wholeStage": "false",
    }
    if settings.jars is not None:
        common["spark.jars"] = ",".join(_jars_in(settings.jars))
    if settings.is_local:
        common |= {
            "spark.driver.host": "127.0.0.1",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.python.daemon.module": "analytics.python_workers",
        }
    else:
        common["spark.executor.memory"] = settings.memory
        common["spark.submit.pyFiles"] = str(_packed(settings.work_dir))
    return common | dict(settings.extra)


def _jars_in(folder: Path) -> list[str]:
    found = sorted(str(file) for file in folder.glob("*.jar"))
    if not found:
        raise JobError(f"ROCKETSCOPE_SPARK_JARS: there is no jar in {folder}")
    return found


def _let_workers_import_us() -> None:
    """Python workers of a local master get PYTHONPATH from this environment.

    Where we are installed they find us, and the folder has modules of others too.
    """
    if INSTALLED:
        return
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
