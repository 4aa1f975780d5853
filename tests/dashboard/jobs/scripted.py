"""A child that speaks the analytics protocol without Spark, and does as it is told.

What a job does is written in its request's `output`: the last part of the path.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from typing import Any


def write(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def say(event: str, name: str, **more: Any) -> None:
    write(json.dumps({"event": event, "id": name, **more}))


def run(name: str, behaviour: str) -> None:
    say("progress", name, part=0.25, phase="samples")
    if behaviour == "dies":
        os.kill(os.getpid(), signal.SIGKILL)
    elif behaviour == "exits":
        sys.exit(3)
    elif behaviour == "fails":
        say("failed", name, error="the lake is empty")
    elif behaviour == "prints":
        write("not an event")
        say("done", "another", summary={})
        say("done", name, summary={"rows": {}})
    elif behaviour == "done":
        say("done", name, summary={"rows": {}, "pid": os.getpid()})
    # "waits" and "hangs" say nothing more by themselves


def main() -> None:
    waiting = ""
    behaviours = json.loads(os.environ["BEHAVIOURS"])
    for line in sys.stdin:
        message = json.loads(line)
        name = message["id"]
        if message["op"] == "run":
            waiting = behaviours[name]
            run(name, waiting)
            if waiting == "done_and_idle":
                say("done", name, summary={"rows": {}, "pid": os.getpid()})
                return
        elif waiting == "waits":
            say("cancelled", name)


if __name__ == "__main__":
    main()
