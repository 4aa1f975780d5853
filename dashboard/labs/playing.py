"""Plays one claimed run on the worker's loop, and reports its progress.

The lab reports its steps synchronously, so they are collected in a list; a task beside
the lab saves them a few times a second, notifies the sockets, and checks whether
somebody has asked for the end. A cancelled lab lets its members leave and deletes its
topics before its row says so. The lab also ends if its row no longer belongs to this
worker.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Any, Final, Protocol, TypeVar

from dashboard.live.tasks import end_tasks
from dashboard.models import LabRun
from rmqcore.errors import RmqError
from rmqcore.labs import LabResult, Step, document, lab_named

from .runs import Ending, Standing, StepDocument, finish, save

logger = logging.getLogger(__name__)

T = TypeVar("T")

WRITE_EVERY_SECONDS: Final = 0.25
SEEN_EVERY_SECONDS: Final = 2.0
LONGEST_RUN_SECONDS: Final = 1800.0


class Database(Protocol):
    """Runs blocking work in the database thread."""

    def __call__(self, work: Callable[[], T]) -> Awaitable[T]: ...


class Playing:
    """One run being played; `play` returns when the row has its outcome."""

    def __init__(
        self,
        run: LabRun,
        nameservers: str,
        *,
        database: Database,
        tell: Callable[[LabRun], Awaitable[None]],
    ) -> None:
        self._run = run
        self._nameservers = nameservers
        self._database = database
        self._tell = tell
        self._steps: list[StepDocument] = []
        self._news = asyncio.Event()
        self._cancelled = False
        self._playing: asyncio.Task[LabResult] | None = None

    def look(self) -> None:
        """Check at once whether somebody has asked for the end."""
        self._news.set()

    async def play(self) -> None:
        """Play to the end, whatever that is, and save the outcome."""
        run = self._run
        logger.info("lab=%s run=%s started", run.lab, run.pk)
        await self._tell(run)
        self._playing = asyncio.ensure_future(self._lab())
        telling = asyncio.ensure_future(self._follow())
        try:
            ending = await self._ending()
        finally:
            await end_tasks(telling)
        await self._database(lambda: finish(run.pk, run.worker, ending))
        await self._tell(run)
        logger.info("lab=%s run=%s %s %s", run.lab, run.pk, ending.state, ending.error)

    async def _lab(self) -> LabResult:
        async with asyncio.timeout(LONGEST_RUN_SECONDS):
            return await lab_named(self._run.lab).run(
                nameservers=self._nameservers,
                parameters=self._run.parameters,
                observer=self._observe,
                linger_s=self._run.linger_s,
                label=self._run.label,
            )

    async def _ending(self) -> Ending:
        assert self._playing is not None  # noqa: S101 - play set it
        try:
            result = await asyncio.shield(self._playing)
        except asyncio.CancelledError:
            # The worker stops, or the run was cancelled: either way the lab leaves
            # the cluster as it found it.
            self._playing.cancel()
            await asyncio.gather(self._playing, return_exceptions=True)
            error = "" if self._cancelled else "the worker that played this was stopped"
            return self._end(LabRun.State.CANCELLED, error=error)
        except TimeoutError:
            text = f"stopped after {LONGEST_RUN_SECONDS:.0f} s"
            return self._end(LabRun.State.FAILED, error=text)
        except (RmqError, OSError) as error:
            return self._end(LabRun.State.FAILED, error=str(error))
        except Exception as error:
            logger.exception("lab=%s run=%s failed", self._run.lab, self._run.pk)
            text = f"{type(error).__name__}; see the worker's log"
            return self._end(LabRun.State.FAILED, error=text)
        return self._end(
            LabRun.State.DONE,
            finding=result.finding or "",
            claims=[
                {
                    "key": claim.key,
                    "params": document(claim.params),
                    "seen": claim.seen,
                }
                for claim in result.evidence.claims
            ],
        )

    def _end(self, state: LabRun.State, **values: Any) -> Ending:
        return Ending(state, steps=tuple(self._steps), **values)

    def _observe(self, step: Step) -> None:
        self._steps.append(
            {"key": step.key, "params": document(step.params), "at_ms": step.at_ms}
        )
        self._news.set()

    async def _follow(self) -> None:
        while True:
            try:
                async with asyncio.timeout(SEEN_EVERY_SECONDS):
                    await self._news.wait()
            except TimeoutError:
                pass
            told = self._news.is_set()
            self._news.clear()
            standing = await self._save()
            if standing is not None and (standing.cancel_asked or not standing.ours):
                self._cancel()
            elif told:
                await self._tell(self._run)
            await asyncio.sleep(WRITE_EVERY_SECONDS)

    async def _save(self) -> Standing | None:
        """Save the steps; None if the database failed; the next save tries again."""
        steps = tuple(self._steps)
        try:
            return await self._database(
                lambda: save(self._run.pk, self._run.worker, steps)
            )
        except Exception as error:
            logger.warning("run=%s not written: %s", self._run.pk, error)
            return None

    def _cancel(self) -> None:
        self._cancelled = True
        if self._playing is not None:
            self._playing.cancel()
