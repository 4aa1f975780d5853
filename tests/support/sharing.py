"""Decides which tests run in the same process when several processes share the work.

With `pytest --dist loadgroup` the tests of one group run in one process, so that what
takes seconds to start is started once: a Spark session, the clusters of a version of
Apache RocketMQ, the stack of the end-to-end tests. Other tests that start processes are
grouped by module, and all the rest runs wherever there is room.

Spark's tests are the exception. Together they would take longer than all others, so
that they are two groups, each with a session of its own.
"""

from __future__ import annotations

from typing import Final

import pytest

from .jars import OLDEST_VERSION, rocketmq_version

HEAVY: Final = ("embedded", "browser", "interop", "spark")
"""Markers of the tests that start processes, and mostly wait for these."""

_LONGEST: Final = ("spark-", "apache-", "e2e", "tests/dashboard/")
"""How the names of the groups that take longest begin: they start in this order."""

_LADDER_TESTS: Final = (
    "tests/analytics/lake/",
    "tests/analytics/test_rollup.py",
)
"""Where the tests of roll-ups are: half of the time that Spark's tests take."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--examples-only",
        action="append",
        default=[],
        metavar="PATH",
        help="of the tests there, run those that make up their examples",
    )


@pytest.hookimpl(specname="pytest_collection_modifyitems")
def pytest_leave_out(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the tests that run elsewhere with the same and no other examples."""
    paths = tuple(config.getoption("--examples-only"))
    if not paths:
        return
    left_out = [
        item
        for item in items
        if item.nodeid.startswith(paths) and not makes_up_examples(item)
    ]
    config.hook.pytest_deselected(items=left_out)
    kept = set(items).difference(left_out)
    items[:] = [item for item in items if item in kept]


def makes_up_examples(item: pytest.Item) -> bool:
    """Tell whether a test is one of Hypothesis."""
    function = getattr(item, "function", None)
    return bool(getattr(function, "is_hypothesis_test", False))


@pytest.hookimpl(specname="pytest_collection_modifyitems", tryfirst=True)
def pytest_group_items(items: list[pytest.Item]) -> None:
    """Name the group of each heavy test; first, because xdist reads the names once."""
    for item in items:
        if is_heavy(item):
            item.add_marker(pytest.mark.xdist_group(group_of(item)))


@pytest.hookimpl(specname="pytest_collection_modifyitems", trylast=True)
def pytest_order_items(items: list[pytest.Item]) -> None:
    """Put the longest groups first, and last what fills the time that others wait.

    This is the order in which groups start with `--no-loadscope-reorder`.
    """
    items.sort(key=_turn_of)


def pytest_collection_finish(session: pytest.Session) -> None:
    """Refuse to run where pytest-xdist was asked for groups and made none."""
    if getattr(session.config.option, "loadgroup", False) and any(
        is_heavy(item) and not item.nodeid.endswith(f"@{group_of(item)}")
        for item in session.items
    ):
        raise pytest.UsageError("pytest-xdist did not group the tests by xdist_group")


_KNOWN: Final = pytest.StashKey[bool]()


def is_heavy(item: pytest.Item) -> bool:
    """Tell whether a test starts processes; its markers are looked through once."""
    if _KNOWN not in item.stash:
        names = {mark.name for mark in item.iter_markers()}
        item.stash[_KNOWN] = not names.isdisjoint(HEAVY)
    return item.stash[_KNOWN]


def group_of(item: pytest.Item) -> str:
    """Return the name that is the same for tests that share what they start."""
    module = item.nodeid.partition("::")[0]
    shared = getattr(item, "fixturenames", ())
    if "apaches" in shared:
        return f"apache-{_version_of(item)}"
    # Those that run jobs in processes of their own, too: two Sparks at a time.
    if "spark" in shared or module.startswith("tests/analytics/"):
        return "spark-ladder" if module.startswith(_LADDER_TESTS) else "spark-jobs"
    # Tests that start a stack of their own need not wait for those that share one.
    if module.startswith("tests/e2e/") and "stack" in shared:
        return "e2e"
    return module


def _turn_of(item: pytest.Item) -> int:
    if not is_heavy(item):
        return len(_LONGEST) + 1
    group = group_of(item)
    begins = (turn for turn, name in enumerate(_LONGEST) if group.startswith(name))
    return next(begins, len(_LONGEST))


def _version_of(item: pytest.Item) -> str:
    """Return the version of Apache RocketMQ that a test runs on."""
    chosen = getattr(item, "callspec", None)
    versions = [] if chosen is None else chosen.params.values()
    return next(
        (version for version in versions if version == OLDEST_VERSION),
        rocketmq_version(),
    )
