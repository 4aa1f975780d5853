"""Hold requirements*.txt to pyproject.toml: the same answer, or a stale lock.

`requirements-ldap.txt` has only what the extra adds, in versions that fit the others.

`python tests/locks.py --write` makes them anew. The files keep no address of a
package index, only names, versions and hashes.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LOCKS = {
    "requirements.txt": ["pyproject.toml"],
    "requirements-dev.txt": ["pyproject.toml", "--group", "dev"],
    "requirements-ldap.txt": [
        *("-", "--constraint", "requirements.txt", "--no-emit-package", "django"),
        *("--no-emit-package", "asgiref", "--no-emit-package", "sqlparse"),
        *("--no-emit-package", "tzdata", "--no-emit-package", "typing-extensions"),
    ],
}


def extra(name: str) -> str:
    """Return what an optional part asks for, a line each."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    return "\n".join(project["optional-dependencies"][name])


def compile_lock(target: Path, options: list[str]) -> None:
    """Resolve into `target`, keeping the versions that stand there already."""
    subprocess.run(
        [
            *(str(Path(sys.executable).parent / "uv"), "pip", "compile", "--quiet"),
            *(*options, "--universal", "--python-version", "3.11"),
            *("--generate-hashes", "--no-header", "--no-annotate"),
            *("--no-emit-index-url", "--output-file", str(target)),
        ],
        cwd=ROOT,
        check=True,
        stdout=subprocess.DEVNULL,
        input=extra("ldap") if "-" in options else "",
        text=True,
    )


def main() -> int:
    """Return 0 when both locks are fresh, 1 when one is stale."""
    if sys.argv[1:] == ["--write"]:
        for name, options in LOCKS.items():
            compile_lock(ROOT / name, options)
        return 0
    stale = []
    with tempfile.TemporaryDirectory() as scratch:
        for name, options in LOCKS.items():
            target = Path(scratch, name)
            target.write_bytes((ROOT / name).read_bytes())
            compile_lock(target, options)
            if target.read_bytes() != (ROOT / name).read_bytes():
                stale.append(name)
    for name in stale:
        print(f"{name} is not what pyproject.toml asks for: tests/locks.py --write")
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
