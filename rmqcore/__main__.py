"""`python -m rmqcore COMMAND`: one sub-command per module of `rmqcore.commands`.

A command's module is imported only when the command is chosen or its help is wanted.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Final

from rmqcore.errors import RmqError

COMMANDS: Final = {
    "nameserver": "run a name server",
    "broker": "run a broker",
    "cluster": "run a name server and brokers in one process",
    "produce": "send messages",
    "consume": "consume messages, as JSON lines",
    "admin": "look at a cluster",
    "lab": "watch one of RocketMQ's rules at work",
}

FAILED: Final = 2
INTERRUPTED: Final = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return its exit code, 2 when it failed for a stated reason."""
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    chosen = next((word for word in arguments if word in COMMANDS), None)
    parser = argparse.ArgumentParser(prog="python -m rmqcore")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    module = None
    for name, purpose in COMMANDS.items():
        command = commands.add_parser(name, help=purpose, description=purpose)
        if name == chosen:
            module = import_module(f"rmqcore.commands.{name}")
            module.add_arguments(command)
    options = parser.parse_args(arguments)
    assert module is not None  # noqa: S101 - a command is required
    try:
        code: int = module.run(options)
    except RmqError as error:
        print(f"rmqcore {chosen}: {error}", file=sys.stderr)
        return FAILED
    except KeyboardInterrupt:
        return INTERRUPTED
    return code


if __name__ == "__main__":
    sys.exit(main())
