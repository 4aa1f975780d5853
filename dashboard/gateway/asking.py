"""Questions and operations for which a page connects to a cluster by itself.

What pages show at a glance is collected; this is for what is asked on request, such as
a message. Each call opens connections of its own, works within a limit of time, and
closes them. On a cluster that is attached read-only, whatever is not a question is
refused before it is sent (`read_only`).
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

from rmqcore.admin import Admin
from rmqcore.errors import RmqError

from .connections import open_admin
from .present import cluster_now
from .settings import ClusterSettings

T = TypeVar("T")

SECONDS: Final = 8.0


class ClusterAnswerError(RmqError):
    """A cluster did not answer in time; the message says how long we waited."""


def settings_of(name: str) -> ClusterSettings:
    """Return the settings of a cluster there is now; KeyError for any other name."""
    found = cluster_now(name)
    if found is None:
        raise KeyError(name)
    return found


def ask(
    cluster: ClusterSettings,
    work: Callable[[Admin], Awaitable[T]],
    *,
    seconds: float = SECONDS,
) -> T:
    """Do some work with an admin client, for callers without an event loop.

    Raise RmqError, whose message names the address, when the cluster refuses or does
    not answer within `seconds`.
    """
    try:
        return asyncio.run(asyncio.wait_for(_with_admin(cluster, work), seconds))
    except TimeoutError:
        raise ClusterAnswerError(
            f"cluster {cluster.name!r} gave no whole answer within {seconds:g} s"
        ) from None
    except OSError as error:
        raise ClusterAnswerError(f"cluster {cluster.name!r}: {error}") from error


async def or_error(asked: Awaitable[T]) -> T | str:
    """Return an answer, or what went wrong, so that others can be asked all the same.

    For answers that are no text themselves.
    """
    try:
        return await asked
    except (RmqError, OSError) as error:
        return str(error)


async def _with_admin(
    cluster: ClusterSettings, work: Callable[[Admin], Awaitable[T]]
) -> T:
    async with open_admin(cluster) as admin:
        return await work(admin)
