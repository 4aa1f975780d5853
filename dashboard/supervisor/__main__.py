"""`python -m dashboard.supervisor`: run the whole stack in the foreground."""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from django.core.exceptions import ImproperlyConfigured

from analytics.places import home

from .run import CannotStartError, run


def main(arguments: Sequence[str] | None = None) -> int:
    """Run until Ctrl-C or SIGTERM; return the exit code."""
    parser = argparse.ArgumentParser(
        prog="rocketscope up",
        description="Run RocketScope: the clusters of the settings, or with none of "
        "them an embedded cluster with demo traffic.",
    )
    parser.add_argument(
        "--listen",
        metavar="HOST:PORT",
        help="address of the page (ROCKETSCOPE_LISTEN, 127.0.0.1:8300)",
    )
    parser.add_argument(
        "--var-dir",
        metavar="DIR",
        help="where state, logs and the lake are kept (ROCKETSCOPE_VAR_DIR, or var "
        "beside .env)",
    )
    parser.add_argument(
        "--exporter",
        action="store_true",
        help="serve metrics for Prometheus and no pages (ROCKETSCOPE_EXPORTER)",
    )
    options = parser.parse_args(arguments)
    if options.listen:
        os.environ["ROCKETSCOPE_LISTEN"] = options.listen
    if options.var_dir:
        os.environ["ROCKETSCOPE_VAR_DIR"] = str(Path(options.var_dir).resolve())
    if options.exporter:
        os.environ["ROCKETSCOPE_EXPORTER"] = "1"
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "dashboard.config.settings")
    try:
        _enter(home(os.environ))
        return asyncio.run(run())
    except (CannotStartError, ImproperlyConfigured) as reason:
        sys.stderr.write(f"rocketscope: {reason}\n")
        return 1
    except KeyboardInterrupt:
        return 130


def _enter(folder: Path) -> None:
    """Start all processes there, lest they import what the caller's folder holds."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.chdir(folder)
    except OSError as error:
        raise CannotStartError(f"{folder} cannot be used ({error.strerror})") from None


if __name__ == "__main__":
    sys.exit(main())
