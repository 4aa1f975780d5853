"""Our job, as one of the contenders."""

from __future__ import annotations

from pathlib import Path

from analytics.jobs import run_job
from analytics.requests import JobRequest
from analytics.session import SessionSettings, start_session


class OurContender:
    """`python -m analytics backtest`, in a warm session."""

    def __init__(self, folder: Path) -> None:
        self._session = start_session(SessionSettings(folder / "spark"))

    def run(self, request: JobRequest) -> None:
        run_job(lambda: self._session, request, lambda _part, _phase: None)
