from __future__ import annotations

from rmqcore.admin.members import _processes
from rmqcore.protocol.bodies import ClientConnection, ConsumerConnection


def listed(*client_ids: str) -> ConsumerConnection:
    connections = tuple(
        ClientConnection(f"10.0.0.1:{40_000 + at}", client_id, "JAVA", 500)
        for at, client_id in enumerate(client_ids)
    )
    return ConsumerConnection(connections, {})


def test_a_connection_made_anew_is_no_second_process() -> None:
    assert _processes([listed("a", "a", "b"), listed("a", "b")]) == {"a": 1, "b": 1}


def test_two_processes_are_listed_twice_by_every_broker() -> None:
    assert _processes([listed("a", "a"), listed("a", "a")]) == {"a": 2}


def test_a_broker_that_does_not_list_an_id_says_nothing_of_it() -> None:
    assert _processes([listed("a", "a"), listed("b")]) == {"a": 2, "b": 1}
