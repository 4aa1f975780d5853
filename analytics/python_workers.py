"""The process that a local master forks its Python workers from.

It has imported everything that they run, which saves each of them a second: Spark's own
process leaves imports to each worker, after the fork, and workers end when idle.
"""

from __future__ import annotations

from pyspark import daemon

from analytics.transforms import rolling, tasks

__all__ = ["rolling", "tasks"]

if __name__ == "__main__":
    daemon.manager()
