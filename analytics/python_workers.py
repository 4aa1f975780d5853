"""The process that a local master forks its Python workers from.

It has imported all that they run, so that none of them spends a second on that:
Spark's own would leave it to each worker, after the fork, and workers end when idle.
"""

from __future__ import annotations

from pyspark import daemon

from analytics.transforms import divisions, spread

__all__ = ["divisions", "spread"]

if __name__ == "__main__":
    daemon.manager()
