"""Running a lab on its own cluster, with what it told."""

from __future__ import annotations

from typing import Any

from rmqcore.labs import Step, lab_named


async def watched(name: str, **parameters: int) -> tuple[Any, list[Step]]:
    """Run a lab to its end; return its result and its steps."""
    steps: list[Step] = []
    result = await lab_named(name).run(parameters=parameters, observer=steps.append)
    return result, steps


def keys(steps: list[Step]) -> list[str]:
    """Return the keys of steps, in order."""
    return [step.key for step in steps]
