"""The demo, from the wheel and away from any clone, as `rocketscope up` starts it."""

from __future__ import annotations

import os
import signal
import urllib.request
from collections.abc import Iterator
from contextlib import closing, contextmanager
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, BrowserContext, Page

from dashboard.supervisor import plan
from tests.e2e.test_report import GROUP, report_made
from tests.support.browser import PATIENCE_MS, chromium, find_chromium
from tests.support.database import rows_of
from tests.support.launched import ROOT, LaunchedStack
from tests.support.waiting import wait_until
from tests.support.wheel import Installation

pytestmark = [
    pytest.mark.embedded,
    pytest.mark.browser,
    pytest.mark.spark,
    pytest.mark.slow,
    pytest.mark.timeout(1800),
]


@pytest.fixture(scope="module")
def stack(
    installed: Installation, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[LaunchedStack]:
    running = LaunchedStack(
        tmp_path_factory.mktemp("demo"),
        {**installed.env, "PYTHONPATH": "", "XDG_STATE_HOME": "", "VIRTUAL_ENV": ""},
        command=(str(installed.command), "up"),
        cwd=installed.elsewhere,
        var_dir=installed.state / "var",
    )
    running.sign_in_link()
    with halted_traffic(running):
        yield running
    assert running.stop() == 0


def beginning_of(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(2_000_000)  # what both send within minutes


def stored(stack: LaunchedStack) -> bytes:
    """Return how the embedded broker's log of messages begins."""
    logs = (stack.var_dir / "embedded").glob("*/commitlog/*")
    return b"".join(map(beginning_of, logs))


@contextmanager
def halted_traffic(stack: LaunchedStack) -> Iterator[None]:
    """Let the demo's producers rest, once each has sent something.

    No test here needs the load, which costs more than all that looks at it while the
    first minute of samples is waited for.
    """
    sent = [name.encode() for name in plan.DEMO_TOPICS]
    wait_until(lambda: all(name in stored(stack) for name in sent), "messages are sent")
    producers = [
        pid
        for pid in stack.child_pids()
        if b"\0produce\0" in Path(f"/proc/{pid}/cmdline").read_bytes()
    ]
    assert len(producers) == len(plan.DEMO_TRAFFIC)
    for pid in producers:
        os.kill(pid, signal.SIGSTOP)
    yield
    for pid in producers:
        os.kill(pid, signal.SIGCONT)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    if find_chromium() is None:
        pytest.skip("Chromium is not installed")
    with chromium() as running:
        yield running


@pytest.fixture(scope="module")
def signed_in(browser: Browser, stack: LaunchedStack) -> Iterator[BrowserContext]:
    context = browser.new_context()
    context.set_default_timeout(PATIENCE_MS)
    page = context.new_page()
    page.goto(stack.sign_in_link())
    page.locator("main button[type=submit]").click()
    page.wait_for_url(lambda url: "/sign-in/" not in url)
    page.close()
    yield context
    context.close()


@pytest.fixture
def page(signed_in: BrowserContext) -> Iterator[Page]:
    opened = signed_in.new_page()
    problems: list[str] = []
    opened.on("pageerror", lambda error: problems.append(str(error)))
    opened.on("requestfailed", lambda request: problems.append(request.url))
    opened.on(
        "response",
        lambda answer: problems.append(answer.url) if answer.status >= 400 else None,
    )
    yield opened
    opened.close()
    assert problems == []


def test_every_process_runs_from_the_wheel(
    stack: LaunchedStack, installed: Installation
) -> None:
    children = stack.child_pids()
    assert len(children) >= 8
    for pid in children:
        here = Path(f"/proc/{pid}")
        command = here.joinpath("cmdline").read_bytes().decode().split("\0")
        if "-server" in command[0]:  # it appends its address to its own name
            continue
        assert command[0] == str(installed.python)
        assert here.joinpath("cwd").readlink() == installed.state
        # Others, such as OLDPWD, only tell from where the tests were started.
        given = here.joinpath("environ").read_bytes().decode().split("\0")
        found_by = [each for each in given if each.startswith(("PYTHON", "PATH="))]
        assert not [each for each in found_by if str(ROOT) in each]


@pytest.mark.parametrize("path", ["/healthz", "/readyz", "/metrics"])
def test_health_and_metrics_answer(stack: LaunchedStack, path: str) -> None:
    with urllib.request.urlopen(stack.address + path, timeout=60) as answer:
        assert answer.status == 200


@pytest.mark.parametrize(
    "path", ["", "clusters/embedded/", "reports/", "audit/", "labs/", "settings/"]
)
def test_every_page_has_all_that_it_loads(
    page: Page, stack: LaunchedStack, path: str
) -> None:
    answer = page.goto(f"{stack.address}/{path}", wait_until="networkidle")
    assert answer is not None
    assert answer.status == 200


def test_every_static_file_is_served(page: Page, stack: LaunchedStack) -> None:
    page.goto(f"{stack.address}/")
    own = page.locator("link[rel=stylesheet]").first.get_attribute("href")
    assert own is not None
    base = stack.address + own.partition("/css/")[0]
    files = [file for file in (ROOT / "static").rglob("*") if file.is_file()]
    assert len(files) > 100
    path = urlsplit(base).path
    with closing(HTTPConnection(stack.listen, timeout=60)) as connection:
        for file in files:
            address = f"{path}/{file.relative_to(ROOT / 'static').as_posix()}"
            connection.request("GET", address)
            assert connection.getresponse().read() == file.read_bytes(), address


def test_pages_are_in_chinese_where_that_is_asked_for(
    browser: Browser, stack: LaunchedStack
) -> None:
    context = browser.new_context(locale="zh-CN")
    page = context.new_page()
    page.goto(f"{stack.address}/sign-in/")
    assert page.locator("html").get_attribute("lang") == "zh-hans"
    assert "登录" in page.locator("main").inner_text()
    assert "rocketscope manage sign_in_link" in page.locator("main").inner_text()
    assert "./rocketscope" not in page.locator("main").inner_text()
    context.close()


def test_spark_makes_a_report(page: Page, stack: LaunchedStack) -> None:
    page.goto(f"{stack.address}/reports/")
    stack.wait_for_samples()
    page.locator("input[name=group]").fill(GROUP)
    page.locator("select[name=period]").select_option("15m")
    page.get_by_role("button", name="Make report").click()
    report_made(page, stack)
    with page.expect_download() as download:
        page.get_by_text("PDF", exact=True).first.click()
        page.get_by_role("link", name="A4").click()
    assert download.value.path().read_bytes().startswith(b"%PDF-")
    states = rows_of(stack.var_dir, "select distinct state from dashboard_jobrun")
    assert states == [("done",)]


def test_nothing_was_written_beside_the_state(
    stack: LaunchedStack, installed: Installation
) -> None:
    assert stack.running
    assert {path.name for path in installed.elsewhere.iterdir()} <= {
        *("analytics.py", "celery.py", "dashboard.py", "rmqcore.py"),
    }
    assert {path.name for path in installed.home.iterdir()} == {".local"}
    assert {path.name for path in installed.state.iterdir()} == {"var"}
