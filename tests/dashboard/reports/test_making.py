from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pypdf
import pytest
from django.db import connection
from django.test import Client

from dashboard.frame.errors import BusyError
from dashboard.jobs.child import AnalyticsChild
from dashboard.jobs.environment import files_environment
from dashboard.models import Role
from dashboard.reports import making
from dashboard.reports.data.results import NoResultError
from dashboard.reports.maker import COMMAND
from dashboard.reports.making import MOST_WAITING, FileMaker, FileWish, NotMadeError
from tests.dashboard.conftest import SignIn
from tests.support.waiting import wait_until

from .finished import finished_run
from .test_pages import gathered

SCRIPT = """
import json, os, pathlib, sys, time
for line in sys.stdin:
    message = json.loads(line)
    wish = message["request"]
    if wish["form"] == "stuck":
        time.sleep(3600)
    if wish["form"] == "dies":
        os._exit(7)
    pathlib.Path(wish["path"]).write_text(str(os.getpid()))
    print(json.dumps({"event": "done", "id": message["id"]}), flush=True)
"""
"""Speaks as the real process does, and is stuck or dies when told to."""


def wish(path: Path, form: str = "csv") -> FileWish:
    return FileWish(1, form, "lag_by_queue", "a4", "en", "UTC", "UTC", {}, str(path))


@pytest.fixture
def make() -> Iterator[Callable[[float], FileMaker]]:
    made: list[FileMaker] = []

    def make(seconds: float) -> FileMaker:
        child = AnalyticsChild(dict(os.environ), (sys.executable, "-c", SCRIPT), "x")
        made.append(FileMaker(child, seconds))
        return made[-1]

    yield make
    for maker in made:
        maker.stop()


def test_a_stuck_file_is_given_up_and_its_process_killed(
    make: Callable[[float], FileMaker], tmp_path: Path
) -> None:
    maker = make(1.0)
    with pytest.raises(NotMadeError, match="within 1 s"):
        maker.make(wish(tmp_path / "a", "stuck"))
    assert maker._child.pid is None


def test_the_next_file_is_made_after_one_that_killed_the_process(
    make: Callable[[float], FileMaker], tmp_path: Path
) -> None:
    maker = make(60.0)
    with pytest.raises(NotMadeError, match="exit code 7"):
        maker.make(wish(tmp_path / "a", "dies"))
    maker.make(wish(tmp_path / "a"))
    maker.make(wish(tmp_path / "b"))
    first, second = ((tmp_path / name).read_text("ascii") for name in "ab")
    assert first == second != str(os.getpid())


def test_who_comes_beyond_the_bound_is_told_to_come_again(
    make: Callable[[float], FileMaker], tmp_path: Path
) -> None:
    maker = make(60.0)
    ended: list[Exception | None] = []

    def ask(form: str) -> None:
        try:
            maker.make(wish(tmp_path / "a", form))
        except (BusyError, NotMadeError) as error:
            ended.append(error)

    askers = [
        threading.Thread(target=ask, args=("stuck",)) for _ in range(MOST_WAITING + 3)
    ]
    for asker in askers:
        asker.start()
    wait_until(lambda: len(ended) == 2, "two are refused")
    assert all(isinstance(error, BusyError) for error in ended)
    while any(asker.is_alive() for asker in askers):
        maker._child.kill()
        askers[0].join(0.1)
    assert len(ended) == MOST_WAITING + 3


@pytest.fixture
def real(
    lake: Path,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[FileMaker]:
    """The process of a running stack, on the test's database and lake."""
    database = connection.settings_dict
    if not database["ENGINE"].endswith("sqlite3"):
        pytest.skip("the other process is pointed at a file of SQLite")
    environ = files_environment(os.environ) | {
        "ROCKETSCOPE_DATABASE_URL": f"sqlite:///{database['NAME']}",
        "ROCKETSCOPE_LAKE_URL": str(lake),
        "ROCKETSCOPE_VAR_DIR": str(tmp_path_factory.mktemp("var")),
    }
    maker = FileMaker(AnalyticsChild(environ, COMMAND, "x"), 600.0)
    monkeypatch.setattr(making, "MAKER", maker)
    yield maker
    maker.stop()


@pytest.mark.django_db(transaction=True)
def test_files_are_made_by_another_process(
    real: FileMaker, sign_in: SignIn, lake: Path, tmp_path: Path
) -> None:
    run, client = finished_run(lake), sign_in(Role.VIEWER)
    url = f"/reports/{run.pk}/report"
    assert gathered(client.get(f"{url}.csv")).startswith(b"cluster,group,")
    pid = real._child.pid
    assert pid not in (None, os.getpid())
    file = tmp_path / "report.pdf"
    file.write_bytes(gathered(client.get(f"{url}.pdf")))
    assert len(pypdf.PdfReader(file).pages) > 0
    assert real._child.pid == pid, "one process makes them all"
    with pytest.raises(NoResultError, match="load_by_member"):
        real.make(
            FileWish(
                run.pk, "csv", "load_by_member", "a4", "en", "UTC", "UTC", {}, "/x"
            )
        )


class Fails:
    def __init__(self, error: Exception) -> None:
        self._error = error

    def make(self, _wish: FileWish) -> None:
        raise self._error


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("error", "statuses"),
    [
        (BusyError("other files are being made"), (503, 503)),
        (NotMadeError("not made within 300 s"), (302, 500)),
    ],
)
def test_readers_are_told_why_there_is_no_file(
    sign_in: SignIn,
    lake: Path,
    monkeypatch: pytest.MonkeyPatch,
    error: Exception,
    statuses: tuple[int, int],
) -> None:
    of_page, of_program = statuses
    run = finished_run(lake)
    client: Client = sign_in(Role.VIEWER)
    maker: Any = Fails(error)
    monkeypatch.setattr(making, "MAKER", maker)
    page = client.get(f"/reports/{run.pk}/report.pdf")
    assert page.status_code == of_page
    if of_page == 302:
        assert str(error) in client.get(page["Location"]).content.decode()
    else:
        assert page["Retry-After"] == "5"
        assert "making other files" in page.content.decode()
    answer = client.get(f"/api/v1/reports/runs/{run.pk}/download/pdf")
    assert answer.status_code == of_program
    assert answer.json()["detail"] == str(error)


def test_the_process_reaches_the_database_and_the_lake_and_signs_nothing() -> None:
    environ = {
        "ROCKETSCOPE_DATABASE_URL": "postgresql://h/x",
        "PGPASSFILE": "/p",
        "ROCKETSCOPE_S3_SECRET_KEY": "s3",
        "ROCKETSCOPE_LAKE_URL": "s3://b/l",
    }
    others = {
        "ROCKETSCOPE_SECRET_KEY": "signs",
        "ROCKETSCOPE_REDIS_URL": "redis://r",
        "ROCKETSCOPE_CLUSTER_A_SECRET_KEY": "cluster",
    }
    assert files_environment(environ | others) == environ
