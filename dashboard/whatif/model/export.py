"""A plan as `CONFIG` lists in source text, to put into your own consumers.

Lists are keyed by client id, so the ids must be fixed: with Apache's client, set the
instance name, or the id changes with every start of the process (behaviour A4). A
member that is not in the text gets no queues, and the lists do not follow members that
join or leave.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby

from dashboard.wording.ranges import spans
from rmqcore.errors import ArgumentError
from rmqcore.model import MessageQueue, sorted_queues

# A Java method has at most 64 KiB of bytecode; a span needs 16 bytes, a case about 40.
JAVA_SPAN_LIMIT = 2_000
JAVA_CLIENT_LIMIT = 1_000
# (topic, broker name, first id, last id)
Span = tuple[str, str, int, int]

JAVA_HEAD = """\
import java.util.ArrayList;
import java.util.List;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.consumer.rebalance.AllocateMessageQueueByConfig;
import org.apache.rocketmq.common.message.MessageQueue;

/** Which queues each client takes. Client ids must be fixed: set the instance name. */
public final class QueueConfig {
    private QueueConfig() {
    }

    /** Call before start(). */
    public static void apply(DefaultMQPushConsumer consumer, String clientId) {
        AllocateMessageQueueByConfig strategy = new AllocateMessageQueueByConfig();
        strategy.setMessageQueueList(of(clientId));
        consumer.setAllocateMessageQueueStrategy(strategy);
    }

    /** The queues of a client; none for one that is not listed. */
    public static List<MessageQueue> of(String clientId) {
        List<MessageQueue> queues = new ArrayList<>();
        switch (clientId) {
"""
JAVA_TAIL = """\
            default:
                break;
        }
        return queues;
    }

    private static void add(
            List<MessageQueue> queues, String topic, String broker,
            int first, int last) {
        for (int id = first; id <= last; id++) {
            queues.add(new MessageQueue(topic, broker, id));
        }
    }
"""
PYTHON_HEAD = '''\
"""Which queues each client takes. Client ids must be fixed: set the instance name."""

from rmqcore.errors import ArgumentError
from rmqcore.model import MessageQueue


def queues(topic, broker_name, first, last):
    """Return the queues from the first to the last id."""
    return [MessageQueue(topic, broker_name, at) for at in range(first, last + 1)]


CONFIG = {
'''


def to_java(config: Mapping[str, Sequence[MessageQueue]]) -> str:
    """Return a Java class with the lists, in methods within Java's size limit.

    Raise ArgumentError for more clients than one method can tell apart.
    """
    if len(config) > JAVA_CLIENT_LIMIT:
        raise ArgumentError(
            f"{len(config):,} clients do not fit in one Java class, "
            f"limit {JAVA_CLIENT_LIMIT:,}"
        )
    cases: list[str] = []
    methods: list[str] = []
    for at, (client_id, queues) in enumerate(config.items()):
        found = _spans(queues)
        parts = [
            found[first : first + JAVA_SPAN_LIMIT]
            for first in range(0, len(found), JAVA_SPAN_LIMIT)
        ]
        names = [f"client{at}part{part}" for part in range(len(parts))]
        cases.append(_java_case(client_id, names))
        methods.extend(map(_java_method, names, parts))
    return f"{JAVA_HEAD}{''.join(cases)}{JAVA_TAIL}{''.join(methods)}}}\n"


def _java_case(client_id: str, methods: Sequence[str]) -> str:
    calls = "".join(f"                {name}(queues);\n" for name in methods)
    return f"            case {_java(client_id)}:\n{calls}                break;\n"


def _java_method(name: str, listed: Sequence[Span]) -> str:
    adds = "".join(
        f"        add(queues, {_java(topic)}, {_java(broker)}, {first}, {last});\n"
        for topic, broker, first, last in listed
    )
    head = f"    private static void {name}(List<MessageQueue> queues) {{"
    return f"\n{head}\n{adds}    }}\n"


def to_python(config: Mapping[str, Sequence[MessageQueue]]) -> str:
    """Return a Python module whose `CONFIG` is the option of that name."""
    entries = "".join(
        f"    {client_id!a}: [\n"
        + "".join(
            f"        *queues({topic!a}, {broker!a}, {first}, {last}),\n"
            for topic, broker, first, last in _spans(queues)
        )
        + "    ],\n"
        for client_id, queues in config.items()
    )
    return f"{PYTHON_HEAD}{entries}}}\n"


def _spans(queues: Sequence[MessageQueue]) -> list[Span]:
    return [
        (topic, broker_name, first, last)
        for (topic, broker_name), same in groupby(
            sorted_queues(queues), key=lambda queue: (queue.topic, queue.broker_name)
        )
        for first, last in spans(queue.queue_id for queue in same)
    ]


def _java(text: str) -> str:
    """Return a Java string literal, ASCII only.

    Control characters are octal: Java reads `\\u000a` as the end of the line.
    """
    written = []
    for unit in _utf16(text):
        if unit in (0x22, 0x5C):
            written.append("\\" + chr(unit))
        elif unit < 0x20:
            written.append(f"\\{unit:03o}")
        elif unit < 0x7F:
            written.append(chr(unit))
        else:
            written.append(f"\\u{unit:04x}")
    return '"' + "".join(written) + '"'


def _utf16(text: str) -> list[int]:
    data = text.encode("utf-16-be", "surrogatepass")
    return [int.from_bytes(data[at : at + 2]) for at in range(0, len(data), 2)]
