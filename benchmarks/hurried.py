"""A command of `python -m rmqcore` by a clock that runs faster than the machine's.

    python -m benchmarks.hurried PACE COMMAND…

Intervals, lock expiry and renewal keep their proportions, so what takes a minute of
RocketMQ's time takes a few seconds. Time-outs of requests stay those of the machine.
"""

from __future__ import annotations

import sys
from functools import partial

from rmqcore.__main__ import main
from rmqcore.client.instance import client_spec
from rmqcore.cluster import LocalCluster
from rmqcore.commands import cluster
from rmqcore.labs.clock import HurriedClock

if __name__ == "__main__":
    clock = HurriedClock(float(sys.argv[1]))
    # Commands take no clock, as only tests should give them one.
    vars(client_spec)["SystemClock"] = lambda: clock
    vars(cluster)["LocalCluster"] = partial(LocalCluster, clock=clock)
    sys.exit(main(sys.argv[2:]))
