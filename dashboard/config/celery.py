"""The Celery application: queues, roles of workers, where beat's clock comes from.

A worker is started with the roles it plays:

    celery -A dashboard.config.celery worker -P solo -Q collector --role collector
    celery -A dashboard.config.celery worker -P solo -Q fleet --role fleet --role labs \
        --role resends
    celery -A dashboard.config.celery worker -P solo -Q analytics
    celery -A dashboard.config.celery beat

Tasks are few and long (analytics), and are run by workers without a role; everything
periodic and short is a tick, which beat broadcasts to all workers (see `clock.beat`)
and roles receive (`config.worker`). The web process imports this module to send tasks,
so it loads no role and no task module.
"""

from __future__ import annotations

import os
from typing import Final

import click

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "dashboard.config.settings")
# Django's checks load every page, 60 MB that a worker has no use for.
os.environ.setdefault("CELERY_SKIP_CHECKS", "1")

from celery import Celery
from django.conf import settings

ROLES: Final = ("collector", "fleet", "labs", "resends", "schedules")
ANALYTICS_QUEUE: Final = "analytics"
DEFAULT_QUEUE: Final = "rocketscope"

app = Celery("rocketscope")
app.conf.update(
    broker_url=settings.ROCKETSCOPE_REDIS_URL or "memory://",
    result_backend=settings.ROCKETSCOPE_REDIS_URL or "cache+memory://",
    # Roles and the tick command; loaded by workers only.
    imports=("dashboard.config.worker",),
    # Whoever can write to Redis must not have code run by a pickle.
    accept_content=("json",),
    result_accept_content=("json",),
    task_default_queue=DEFAULT_QUEUE,
    task_routes={"dashboard.jobs.*": {"queue": ANALYTICS_QUEUE}},
    # A Spark job may run for long; it must not be given to a second worker meanwhile.
    broker_transport_options={"visibility_timeout": 12 * 3600},
    broker_connection_retry_on_startup=True,
    broker_connection_max_retries=None,
    worker_prefetch_multiplier=1,
    worker_hijack_root_logger=False,
    worker_cancel_long_running_tasks_on_connection_loss=False,
    result_expires=24 * 3600,
    beat_scheduler="dashboard.clock.beat:TickScheduler",
    beat_schedule={
        # For reports whose tasks were lost by Redis or with a killed worker.
        "make-waiting-reports": {
            "task": "dashboard.jobs.make_waiting",
            "schedule": 60.0,
            "options": {"expires": 55.0},
        },
        "maintain-lake": {
            "task": "dashboard.jobs.maintain_lake",
            "schedule": 300.0,
            # Behind a long job, further tasks would only queue up.
            "options": {"expires": 290.0},
        },
        # Samples are kept for two days and nothing waits for this, so Java need not
        # always run.
        "roll-up": {
            "task": "dashboard.jobs.roll_up",
            "schedule": 600.0,
            "options": {"expires": 590.0},
        },
        "expire-rows": {
            "task": "dashboard.jobs.expire_rows",
            "schedule": 3600.0,
            "options": {"expires": 3500.0},
        },
        "expire-reports": {
            "task": "dashboard.jobs.expire_reports",
            "schedule": 3600.0,
            "options": {"expires": 3500.0},
        },
    },
    enable_utc=True,
    timezone="UTC",
)
app.user_options["worker"].add(
    click.Option(
        ("--role", "roles"),
        multiple=True,
        type=click.Choice(ROLES),
        help="What this worker does beside tasks; may be given more than once.",
    )
)
