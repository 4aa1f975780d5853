"""The stack's own figures: counters of /metrics, tracebacks in its logs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from prometheus_client.parser import text_string_to_metric_families

_PREFIX: Final = "rocketscope_collector_"
_TRACEBACK: Final = "Traceback (most recent call last)"
_JAVA: Final = 'Exception in thread "'
_ENDED: Final = ", starts again in "


@dataclass(frozen=True, slots=True)
class Tally:
    """What happened since the stack was started.

    `failed` sweeps began and wrote nothing or not all; `late` ones were left out, since
    the one before still ran or nothing ran at all. `leads_lost` counts leads that
    another collector took, and `lapses` leases that ran out before they were taken up
    again. `faults` are looks at single groups that failed.
    """

    sweeps: int = 0
    failed: int = 0
    late: int = 0
    leads_lost: int = 0
    lapses: int = 0
    faults: int = 0
    dropped_rows: int = 0
    sweep_seconds: float = 0.0
    tracebacks: int = 0
    restarts: int = 0


def tally(metrics: str, logs: Iterable[str]) -> Tally:
    """Return what /metrics and the logs tell.

    Raises ValueError where the metrics have no sweeps: then nothing is known.
    """
    found = _sums(metrics)
    if "sweeps" not in found:
        raise ValueError("/metrics tells of no collector")
    text = list(logs)
    return Tally(
        sweeps=round(found["sweeps"]),
        failed=round(found["failed"] + found["refused"]),
        late=round(found["skipped"] + found["missed"]),
        leads_lost=max(0, round(found["leads"]) - 1),
        lapses=round(found["lapses"]),
        faults=round(found["faults"]),
        dropped_rows=round(found["dropped_rows"]),
        sweep_seconds=found["sweep_seconds"],
        tracebacks=sum(each.count(_TRACEBACK) + each.count(_JAVA) for each in text),
        restarts=sum(each.count(_ENDED) for each in text),
    )


def logs_of(var_dir: Path, supervisor: str) -> list[str]:
    """Return all that the stack's processes have logged, and what their parent said."""
    files = sorted((var_dir / "logs").glob("*.log*"))
    return [supervisor, *(each.read_text("utf-8", "replace") for each in files)]


def _sums(metrics: str) -> dict[str, float]:
    found: dict[str, float] = {}
    for family in text_string_to_metric_families(metrics):
        for sample in family.samples:
            if sample.name.startswith(_PREFIX) and not sample.name.endswith("_created"):
                name = sample.name.removeprefix(_PREFIX).removesuffix("_total")
                found[name] = found.get(name, 0.0) + sample.value
    return found
