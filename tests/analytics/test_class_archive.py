from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from analytics import class_archive
from analytics.class_archive import archives, sharing_options
from analytics.jre import find_java, inspect_java

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_nothing_is_shared_before_both_archives_are_made(tmp_path: Path) -> None:
    java = find_java({})
    assert sharing_options(java, tmp_path) == ()
    for made in archives(java, tmp_path):
        assert sharing_options(java, tmp_path) == ()
        made.touch()
    base, top = archives(java, tmp_path)
    assert f"-XX:SharedArchiveFile={base}:{top}" in sharing_options(java, tmp_path)


def test_archives_are_of_one_java_and_one_spark(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    java = find_java({})
    other = replace(java, home=tmp_path, version=java.version + 1)
    names = {archives(java), archives(other)}
    monkeypatch.setattr(class_archive, "version", lambda _package: "9.9.9")
    names.add(archives(java))
    assert len(names) == 3


def test_java_starts_without_a_word_where_archives_do_not_fit(tmp_path: Path) -> None:
    java = find_java({})
    for made in archives(java, tmp_path):
        made.write_bytes(b"\0" * 10_000)
    started = [str(java.executable), *sharing_options(java, tmp_path), "--version"]
    answer = subprocess.run(started, capture_output=True, check=True, text=True)
    assert answer.stdout.startswith("openjdk ")
    assert answer.stderr == ""


def test_a_session_uses_the_archives_of_the_installation(spark: SparkSession) -> None:
    if not (Path(sys.prefix) / "rocketscope.stamp").exists():
        pytest.skip("this environment was not installed by the launcher")
    gateway = spark.sparkContext._gateway  # type: ignore[attr-defined]
    process = Path(f"/proc/{gateway.proc.pid}")
    java = inspect_java((process / "exe").resolve().parent.parent)
    assert java is not None
    mapped = (process / "maps").read_text()
    for made in archives(java):
        assert str(made) in mapped, "make_ready failed, or Java has changed since"
