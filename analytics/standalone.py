"""Run a process of a standalone Spark cluster: `python -m analytics.standalone WHAT …`.

WHAT is `master` or `worker`; all that follows is Spark's. Spark and Java are those of
the jobs, so that their versions, and Python's on the workers, are the same.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from analytics.errors import JavaError
from analytics.jre import java_environment, real_java
from analytics.session import SessionSettings

_CLASSES: Final = {
    "master": "org.apache.spark.deploy.master.Master",
    "worker": "org.apache.spark.deploy.worker.Worker",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Become the process; return an exit code if that is impossible."""
    what, *rest = (sys.argv[1:] if arguments is None else arguments) or [""]
    if what not in _CLASSES:
        sys.stderr.write("analytics: say master or worker\n")
        return 2
    spec = importlib.util.find_spec("pyspark")
    if spec is None or spec.origin is None:
        sys.stderr.write("analytics: PySpark is not installed\n")
        return 1
    spark = Path(spec.origin).parent
    shim = SessionSettings.from_environ(os.environ).work_dir.parent / "java-shim"
    try:
        java = java_environment(real_java(os.environ), shim)
    except JavaError as error:
        sys.stderr.write(f"analytics: {error}\n")
        return 1
    program = str(spark / "bin" / "spark-class")
    environ = {**os.environ, **java, "SPARK_HOME": str(spark)}
    return os.execve(program, [program, _CLASSES[what], *rest], environ)  # noqa: S606


if __name__ == "__main__":
    sys.exit(main())
