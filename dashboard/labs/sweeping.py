"""Deletes what runs left on the cluster when their worker was killed."""

from __future__ import annotations

import logging

from dashboard.models import LabRun
from rmqcore.admin import Admin
from rmqcore.errors import RmqError
from rmqcore.labs import delete_leftovers, run_prefix

logger = logging.getLogger(__name__)


async def sweep(run: LabRun, nameservers: str) -> bool:
    """Delete a run's topics and groups; False if that failed."""
    try:
        async with Admin(nameservers) as admin:
            count = await delete_leftovers(admin, run_prefix(run.lab, run.label))
    except (RmqError, OSError) as error:
        logger.warning("lab=%s run=%s not swept yet: %s", run.lab, run.pk, error)
        return False
    logger.info("lab=%s run=%s swept, deleted=%d", run.lab, run.pk, count)
    return True
