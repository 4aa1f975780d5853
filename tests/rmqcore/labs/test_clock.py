import pytest

from rmqcore.errors import ArgumentError
from rmqcore.labs.clock import HurriedClock
from rmqcore.transport import ManualClock


async def test_time_passes_faster_in_proportion() -> None:
    machine = ManualClock(start_ms=5_000)
    clock = HurriedClock(20, machine)
    await machine.advance(3)
    assert clock.monotonic() == 60
    assert clock.time_ms() == 5_000 + 60_000


async def test_sleeping_takes_less_of_the_machines_time() -> None:
    class Recording(ManualClock):
        slept: float = 0

        async def sleep(self, seconds: float) -> None:
            self.slept += seconds

    machine = Recording()
    await HurriedClock(20, machine).sleep(60)
    assert machine.slept == 3


@pytest.mark.parametrize("pace", [0, 0.5, 101])
def test_a_pace_out_of_range_is_refused(pace: float) -> None:
    with pytest.raises(ArgumentError, match=f"pace is {pace}, allowed 1 to 100"):
        HurriedClock(pace)
