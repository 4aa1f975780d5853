"""`python -m dashboard.supervisor`: run the whole stack in the foreground."""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
from collections.abc import Sequence

from django.core.exceptions import ImproperlyConfigured

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
        help="where state, logs and the lake are kept (ROCKETSCOPE_VAR_DIR, ./var)",
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
        os.environ["ROCKETSCOPE_VAR_DIR"] = options.var_dir
    if options.exporter:
        os.environ["ROCKETSCOPE_EXPORTER"] = "1"
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "dashboard.config.settings")
    try:
        return asyncio.run(run())
    except (CannotStartError, ImproperlyConfigured) as reason:
        sys.stderr.write(f"rocketscope: {reason}\n")
        return 1
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
