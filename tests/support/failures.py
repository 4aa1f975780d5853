"""Says at once which tests fail, and can list them for a second run.

pytest prints failures when all tests have ended, which takes the whole run half an hour
and more. `--list-failed PATH` writes the tests that failed to a file in the form that
pytest reads as `@PATH`, one on each line.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

LONGEST_REASON: Final = 1_000


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--list-failed`."""
    told = "write the tests that failed to this file, one on each line"
    parser.addoption("--list-failed", type=Path, metavar="PATH", help=told)


def pytest_configure(config: pytest.Config) -> None:
    """Listen in the process that prints, which hears of the tests of all others."""
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Failures(config))


class Failures:
    """Prints each failure as it is reported."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._path: Path | None = config.getoption("list_failed")
        self._failed: dict[str, None] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Print the name of a test that failed, and the last line of the reason."""
        if not report.failed:
            return
        name = plain(report.nodeid)
        self._failed[name] = None
        printer = self._config.pluginmanager.get_plugin("terminalreporter")
        if printer is not None:
            printer.write_line(
                f"\nfailed in {report.when}: {name}: {reason_of(report)}"
            )

    def pytest_sessionfinish(self) -> None:
        """Write the list, which is empty where nothing failed."""
        if self._path is not None:
            self._path.parent.mkdir(exist_ok=True)
            self._path.write_text("".join(f"{name}\n" for name in self._failed))


def reason_of(report: pytest.TestReport) -> str:
    """Return the last line of a failure, with what was raised where that is known.

    A warning about what an earlier test left behind is raised by whichever test comes
    next, so that its place tells nothing.
    """
    *_, last = report.longreprtext.strip().splitlines() or [""]
    crash = getattr(report.longrepr, "reprcrash", None)
    said = " ".join(str(crash.message).split()) if crash is not None else ""
    return f"{last}: {said[:LONGEST_REASON]}" if said else last


def plain(node_id: str) -> str:
    """Return the name of a test without the group that pytest-xdist adds to it."""
    path, separator, rest = node_id.partition("::")
    test, at, group = rest.rpartition("@")
    grouped = at and "]" not in group
    return f"{path}{separator}{test}" if grouped else node_id
