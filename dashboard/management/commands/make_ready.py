"""`manage.py make_ready`: do once, after installing, what a first start need not do.

Compiles what the processes import, keeps an empty, migrated database (`jobs.blank`),
and archives the classes that Spark loads (`analytics.class_archive`). Nothing depends
on it: without it a first start and a first report take longer.
"""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from django.core.management.base import CommandParser
from django.db import connection

from analytics.class_archive import make_archives
from analytics.errors import JavaError
from analytics.jre import real_java
from dashboard.jobs.blank import make_blank
from dashboard.management.base import OwnCommand

_OURS: Final = "ROCKETSCOPE_"

USED: Final[Sequence[str]] = (
    "celery.apps.beat",
    "celery.apps.worker",
    "celery.bin.beat",
    "celery.bin.celery",
    "celery.bin.worker",
    "celery.concurrency.solo",
    "celery.worker.consumer",
    "channels_redis.pubsub",
    "uvicorn.loops.auto",
    "uvicorn.protocols.http.h11_impl",
    "uvicorn.protocols.websockets.websockets_sansio_impl",
    "rmqcore.commands.cluster",
    "rmqcore.commands.produce",
    "dashboard.config.asgi",
    "dashboard.config.urls",
    "dashboard.config.web",
    "dashboard.config.worker",
    "dashboard.clock.beat",
    "dashboard.collector.service",
    "dashboard.dead_letters.service",
    "dashboard.fleet.service",
    "dashboard.jobs.tasks",
    "dashboard.labs.service",
    "dashboard.reports.maker",
    "dashboard.reports.starting",
    "dashboard.reports.tasks",
    "dashboard.supervisor.run",
    "analytics.jobs",
    "analytics.python_workers",
    "analytics.resident",
    "analytics.session",
)
"""Modules that, with what they import, are nearly all that the processes load."""


class Command(OwnCommand):
    help = "Prepare, once after installing, what makes starts and first reports quick."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--blank", action="store_true", help="only the database")
        parser.add_argument(
            "--folder", type=Path, default=Path(sys.prefix), help="where to keep it"
        )

    def handle(self, *_args: Any, **options: Any) -> None:
        if options["blank"]:
            self.stdout.write(str(make_blank(connection, options["folder"])))
            return
        for name in USED:
            with suppress(ImportError):
                importlib.import_module(name)
        with tempfile.TemporaryDirectory(prefix="rocketscope-ready-") as folder:
            # Another process, because a connection is to the database of the settings,
            # and without ours, because migrations note the clusters that they name.
            kept = {k: v for k, v in os.environ.items() if not k.startswith(_OURS)}
            subprocess.run(  # noqa: S603  the command is ours
                [
                    *(sys.executable, "-m", "django", "make_ready", "--blank"),
                    f"--folder={options['folder']}",
                ],
                env={**kept, f"{_OURS}VAR_DIR": folder, f"{_OURS}CLUSTERS": ""},
                check=True,
                stdout=subprocess.DEVNULL,
            )
        with suppress(JavaError):
            make_archives(real_java(os.environ), options["folder"])
