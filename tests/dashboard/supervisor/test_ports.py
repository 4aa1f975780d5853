import socket

from dashboard.supervisor.ports import answers, free_port, is_free


def test_a_port_that_listens_is_not_free() -> None:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        port = server.getsockname()[1]
        assert not is_free("127.0.0.1", port)
        assert answers("127.0.0.1", port)
        assert free_port(prefer=port) != port
    assert is_free("127.0.0.1", port)
    assert not answers("127.0.0.1", port)
    assert free_port(prefer=port) == port
