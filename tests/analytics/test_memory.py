"""What tasks have used goes back to the system, though allocators would keep it."""

from __future__ import annotations

import gc
import subprocess
import sys
import weakref

from analytics.memory import give_memory_back

# A process of its own: this one's allocators have a past.
_WORK = """
import os
import sys
os.environ["DJANGO_SETTINGS_MODULE"] = "dashboard.config.settings"
import django
django.setup()
import pyarrow as pa
from celery import shared_task
from dashboard.config.celery import app
from dashboard.jobs import tasks

app.set_current()

def kept():
    for line in open("/proc/self/smaps_rollup"):
        if line.startswith("Pss:"):
            return int(line.split()[1]) // 1024

@shared_task
def work(rows):
    columns = [pa.array(range(rows)).cast(pa.string()) for _ in range(40)]
    table = pa.table({str(n): column for n, column in enumerate(columns)})
    return table.sort_by("0").nbytes // 2**20

work.apply([10])  # loads the libraries that it uses
before = kept()
used = work.apply([200_000]).get()
print(before, used, kept())
"""


def test_a_task_leaves_the_worker_as_small_as_it_was() -> None:
    done = subprocess.run(
        [sys.executable, "-c", _WORK], capture_output=True, text=True, check=True
    )
    before, used, after = map(int, done.stdout.split())
    assert used > 50
    assert after - before < used / 2


def test_objects_in_circles_are_freed() -> None:
    class Circle:
        def __init__(self) -> None:
            self.itself = self

    gc.disable()
    try:
        left = weakref.ref(Circle())
        give_memory_back()
    finally:
        gc.enable()
    assert left() is None
