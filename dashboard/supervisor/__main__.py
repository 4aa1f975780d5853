"""`python -m dashboard.supervisor`: run the whole stack in the foreground."""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from analytics.places import home

from . import plan
from .inheritance import inherited
from .template import Template


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
    folder = home(os.environ)
    try:
        # All processes start there, lest they import what the caller's folder holds.
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.chdir(folder)
    except OSError as error:
        return _refuse(f"{folder} cannot be used ({error.strerror})")
    # It imports while this process does.
    template = Template()
    os.environ.update(plan.FOR_ALL)
    template.start(inherited("template", os.environ) | plan.ONE_THREAD)
    try:
        return _run(template)
    finally:
        template.stop()


def _run(template: Template) -> int:
    from django.core.exceptions import ImproperlyConfigured

    from .run import CannotStartError, run

    try:
        return asyncio.run(run(template))
    except (CannotStartError, ImproperlyConfigured) as reason:
        return _refuse(str(reason))
    except KeyboardInterrupt:
        return 130


def _refuse(reason: str) -> int:
    sys.stderr.write(f"rocketscope: {reason}\n")
    return 1


if __name__ == "__main__":
    sys.exit(main())
