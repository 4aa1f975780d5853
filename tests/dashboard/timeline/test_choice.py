from __future__ import annotations

import pytest

from dashboard.timeline.choice import Choice
from dashboard.timeline.lanes import Window

NOW = 1_780_000_000_000


def test_without_parameters_the_last_15_minutes_are_shown() -> None:
    choice = Choice.from_params({})
    assert choice.window(NOW) == Window(NOW - 900_000, NOW)
    assert choice.query == "?minutes=15"


def test_a_usual_span_may_end_in_the_past_and_never_in_the_future() -> None:
    past = Choice.from_params({"minutes": "5", "until": str(NOW - 60_000)})
    assert past.window(NOW) == Window(NOW - 360_000, NOW - 60_000)
    ahead = Choice.from_params({"minutes": "5", "until": str(NOW + 60_000)})
    assert ahead.window(NOW) == Window(NOW - 300_000, NOW)


def test_a_selected_span_is_carried_by_its_address() -> None:
    choice = Choice.from_params(
        {"since": str(NOW - 90_000), "until": str(NOW - 60_000), "by": "members"}
    )
    assert choice.window(NOW) == Window(NOW - 90_000, NOW - 60_000)
    assert choice.query == f"?since={NOW - 90_000}&until={NOW - 60_000}&by=members"
    assert Choice().span(NOW - 90_000, NOW - 60_000) == choice.query[:-11]


@pytest.mark.parametrize(
    "params",
    [
        {"since": str(NOW)},
        {"since": str(NOW), "until": str(NOW)},
        {"since": str(NOW), "until": str(NOW - 5_000)},
        {"since": "0", "until": str(NOW)},
        {"since": "-1", "until": "x"},
        {"minutes": "16", "since": "9" * 20, "by": "nobody"},
    ],
)
def test_what_is_no_span_gets_the_usual_one(params: dict[str, str]) -> None:
    choice = Choice.from_params(params)
    assert (choice.since, choice.minutes, choice.by) == (None, 15, "")
