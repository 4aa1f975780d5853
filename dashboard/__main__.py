"""Run RocketScope where it is installed.

    rocketscope up         start everything, print the address
    rocketscope setup      say where everything is
    rocketscope backup     write the database and the settings to one file
    rocketscope restore F  put such a file in the place of what is there
    rocketscope manage …   Django's manage.py
    rocketscope python …   the environment's Python

A clone's launcher runs the same commands, as `python -m dashboard`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from analytics import places

from .dotenv import load_dotenv

COMMANDS = ("up", "setup", "backup", "restore", "manage", "python")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; return the exit code."""
    given = sys.argv[1:] if arguments is None else list(arguments)
    command, *rest = given or ["help"]
    if command in ("help", "-h", "--help"):
        print((__doc__ or "").partition("\n\nA clone")[0])
        return 0 if given else 2
    if command not in COMMANDS:
        return _refuse(f"unknown command {command!r}: use one of {', '.join(COMMANDS)}")
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "dashboard.config.settings")
    try:
        load_dotenv(str(places.home(os.environ) / ".env"))
    except ValueError as error:
        return _refuse(str(error))
    if command == "up":
        # Images of containers often set this. A dozen processes of ours would each
        # compile all that they import, which takes them three times as long to start.
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
        from dashboard.supervisor.__main__ import main as up

        return up(rest)
    if command == "setup":
        return _tell_places()
    if command == "python":
        sys.stdout.flush()
        os.execv(sys.executable, [sys.executable, *rest])  # noqa: S606  that is the point
    from django.core.management import execute_from_command_line

    ours = places.COMMAND
    named = [f"{ours} manage"] if command == "manage" else [ours, command]
    execute_from_command_line([*named, *rest])
    return 0


def _tell_places() -> int:
    from django.conf import settings
    from django.core.exceptions import ImproperlyConfigured

    try:
        var_dir = settings.ROCKETSCOPE_VAR_DIR
    except ImproperlyConfigured as error:
        return _refuse(str(error))
    print(f"version            {settings.VERSION}")
    print(f"settings           {places.home(os.environ) / '.env'}")
    print(f"state              {var_dir}")
    print(f"files for servers  {places.FILES / 'deploy'}")
    return 0


def _refuse(reason: str) -> int:
    print(f"rocketscope: {reason}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
