"""Skips, with the reason named, for tests whose outside programs are missing."""

from __future__ import annotations

import gc
import shutil
from collections.abc import Generator
from typing import Any, cast

import pytest
from django.conf import settings as django_settings
from hypothesis import HealthCheck, settings

from tests.support.jars import missing_tool

pytest_plugins = (
    "tests.support.failures",
    "tests.support.hanging",
    "tests.support.sharing",
)

# A busy machine makes single examples slow; only the test's own limit counts.
settings.register_profile(
    "patient", deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
# Always the same few, so that the branches they take do not depend on luck.
settings.register_profile(
    "few", settings.get_profile("patient"), max_examples=5, derandomize=True
)
settings.load_profile("patient")


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection() -> Generator[None, object, object]:
    """Do not look for garbage among the tests that are collected: all of them stay.

    It would take a third of the time, in each process, and a part of it again for
    whatever the tests leave behind.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.fixture(scope="session")
def django_db_modify_db_settings(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Keep the test database in a file, as the program does.

    In memory, SQLite's threads share one cache and refuse each other at once, where
    with a file they wait. Each process of a parallel run has a folder of its own.
    """
    database = cast("dict[str, Any]", django_settings.DATABASES["default"])
    if database["ENGINE"].endswith("sqlite3"):
        from dashboard.jobs.blank import blank_file

        path = tmp_path_factory.mktemp("database") / "test.sqlite3"
        database.setdefault("TEST", {})["NAME"] = str(path)
        # Without it, each process of a run would spend seconds on migrations.
        blank = blank_file()
        if blank.is_file():
            shutil.copyfile(blank, path)


@pytest.fixture(scope="session")
def django_db_keepdb() -> bool:
    """Begin with the database that is there; its folder is new in each run."""
    return "sqlite3" in cast("Any", django_settings.DATABASES["default"])["ENGINE"]


@pytest.fixture(scope="session", autouse=True)
def passwords_are_hashed_cheaply() -> None:
    """Spare each test that signs in the time and memory that a real hash takes."""
    from tests.support.hashing import hash_cheaply

    hash_cheaply()


@pytest.fixture(scope="session", autouse=True)
def static_files_are_listed_once() -> None:
    """Spare each test client a look at every static file."""
    from tests.support.static_files import list_files_once

    list_files_once()


@pytest.fixture(scope="session", autouse=True)
def rights_of_django_are_not_made() -> None:
    """Spare each test that empties the database the rights of Django's, unused by us.

    They would be written again each time: four fifths of what emptying takes.
    """
    from django.contrib.auth.management import create_permissions
    from django.contrib.contenttypes.management import create_contenttypes
    from django.db.models.signals import post_migrate

    for receiver in create_permissions, create_contenttypes:
        uid = f"{receiver.__module__}.{receiver.__name__}"
        found = post_migrate.disconnect(receiver) or post_migrate.disconnect(
            dispatch_uid=uid
        )
        assert found, uid


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip `interop` tests where no real Apache RocketMQ can be started."""
    reason = missing_tool()
    if reason is None:
        return
    for item in items:
        if item.get_closest_marker("interop"):
            item.add_marker(pytest.mark.skip(reason=reason))
