"""The analytics process and the clock that the tasks of one worker share.

The process is kept between tasks, because Spark takes seconds to start, and ends with
the worker. All other memory that a task used is returned to the system afterwards.
"""

from __future__ import annotations

from typing import Final

from celery.signals import task_postrun, worker_shutdown
from django.conf import settings

from analytics.memory import give_memory_back
from rmqcore.settled_clock import SettledClock

from .child import AnalyticsChild, child_environment

SETTLED: Final = SettledClock()
"""The time that old files and reports are deleted by."""

CHILD: Final = AnalyticsChild(
    child_environment() | {"ROCKETSCOPE_VAR_DIR": str(settings.ROCKETSCOPE_VAR_DIR)}
)


@task_postrun.connect
def _rest(**_signal: object) -> None:
    give_memory_back()


@worker_shutdown.connect
def _end_child(**_signal: object) -> None:
    CHILD.stop()
