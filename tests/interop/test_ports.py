"""Ports of tests: what was chosen for one listener is chosen for no other."""

from __future__ import annotations

from tests.support.ports import free_broker_ports, free_port


def test_ports_that_nobody_listens_on_yet_are_not_chosen_again() -> None:
    chosen: list[int] = []
    for _round in range(20):
        chosen += [free_port(), free_port()]
        for port in free_broker_ports(2):
            chosen += [port - 2, port, port + 1]
        chosen.append(free_port())
    assert len(chosen) == len(set(chosen))
