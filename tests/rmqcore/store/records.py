"""Records to append in tests: small, and different where it matters."""

from rmqcore.store import PendingRecord

HOST = bytes((127, 0, 0, 1, 0, 0, 0x2A, 0x9F))
HOST_V6 = bytes(15) + b"\x01" + bytes((0, 0, 0x2A, 0x9F))
START_MS = 1_700_000_000_000


def properties(**values: object) -> bytes:
    return b"".join(f"{name}\x01{value}\x02".encode() for name, value in values.items())


def pending(
    topic: str = "T",
    queue_id: int = 0,
    body: bytes = b"hello",
    *,
    born_host: bytes = HOST,
    store_host: bytes = HOST,
    sys_flag: int = 0,
    **values: object,
) -> PendingRecord:
    return PendingRecord(
        topic,
        queue_id,
        body,
        properties(**values),
        START_MS,
        born_host,
        store_host,
        sys_flag=sys_flag,
    )
