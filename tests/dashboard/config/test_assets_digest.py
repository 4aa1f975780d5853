from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from dashboard.config.assets_digest import digest

SERVING = ("whitenoise", "django.http", "django.db")


def test_the_digest_follows_names_and_bytes(tmp_path: Path) -> None:
    (tmp_path / "a.css").write_text("x")
    first = digest(tmp_path)
    (tmp_path / "a.css").write_text("y")
    second = digest(tmp_path)
    (tmp_path / "a.css").rename(tmp_path / "b.css")
    assert len({first, second, digest(tmp_path)}) == 3
    assert len(first) == 12


def test_settings_do_not_load_what_serves_files() -> None:
    script = (
        "import sys; from django.conf import settings; settings.STATIC_URL; "
        f"print([name for name in {SERVING} if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"
