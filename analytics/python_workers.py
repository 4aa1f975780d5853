"""The process that a local master forks its Python workers from.

It has imported everything that they run, which saves each of them a second: Spark's own
process leaves imports to each worker, after the fork, and workers end when idle.
"""

from __future__ import annotations

import sys

# Spark puts a zip file of PySpark first on the path. Python compiles what it imports
# from there anew each time; the installed package is the same and has been compiled.
sys.path[:] = [path for path in sys.path if "/pyspark/python/lib/" not in path]

from pyspark import daemon  # noqa: E402

from analytics.transforms import rolling, tasks  # noqa: E402

__all__ = ["rolling", "tasks"]

if __name__ == "__main__":
    daemon.manager()
