"""CONFIG lists as source text, read back by Python and by Java."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from dashboard.whatif.model import export, to_java, to_python
from rmqcore.allocation import allocate_group
from rmqcore.errors import ArgumentError
from rmqcore.model import MessageQueue
from tests.dashboard.whatif.made import queue, queues

ODD = 'q"u\\o\nte 代 \U0001f430 \x7f'
CONFIG = {
    "10.0.0.1@app-1": [*queues(6), queue(9), *queues(2, topic=ODD)],
    ODD: [queue(0, broker=ODD)],
    "idle": [],
}


def run(text: str) -> dict[str, Any]:
    names: dict[str, Any] = {}
    exec(compile(text, "config.py", "exec"), names)
    return names


def test_python_makes_the_same_lists() -> None:
    made = run(to_python(CONFIG))["CONFIG"]
    assert {key: set(value) for key, value in made.items()} == {
        key: set(value) for key, value in CONFIG.items()
    }
    plan = allocate_group(
        "CONFIG", group="G", queues=queues(10), client_ids=CONFIG, config=made
    )
    assert plan.counts == {"10.0.0.1@app-1": 9, "idle": 0, ODD: 1}


def test_python_is_ascii_and_short() -> None:
    text = to_python(CONFIG)
    assert text.isascii()
    assert "*queues('orders', 'broker-a', 0, 5)," in text


def test_java_is_ascii_and_names_every_span() -> None:
    text = to_java(CONFIG)
    assert text.isascii()
    assert 'case "10.0.0.1@app-1":' in text
    assert 'add(queues, "orders", "broker-a", 0, 5);' in text
    assert 'add(queues, "orders", "broker-a", 9, 9);' in text
    # A line break inside a literal must not become one of the source.
    assert r'"q\"u\\o\012te \u4ee3 \ud83d\udc30 \u007f"' in text


def test_a_method_has_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(export, "JAVA_SPAN_LIMIT", 2)
    text = to_java({"A": [queue(number) for number in (0, 2, 4, 6, 8)]})
    for part in range(3):
        assert f"client0part{part}(queues);" in text
        assert f"private static void client0part{part}(" in text
    assert "client0part3" not in text


def test_so_many_clients_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(export, "JAVA_CLIENT_LIMIT", 1)
    with pytest.raises(ArgumentError, match=r"3 clients do not fit .* limit 1"):
        to_java(CONFIG)


BY_CONFIG = "org/apache/rocketmq/client/consumer/rebalance/AllocateMessageQueueByConfig"
STUBS = {
    "org/apache/rocketmq/common/message/MessageQueue.java": """
package org.apache.rocketmq.common.message;
public class MessageQueue {
    final String topic; final String broker; final int id;
    public MessageQueue(String topic, String broker, int id) {
        this.topic = topic; this.broker = broker; this.id = id;
    }
    @Override public String toString() {
        StringBuilder text = new StringBuilder();
        for (char unit : (topic + "|" + broker + "|" + id).toCharArray()) {
            text.append(String.format("%04x", (int) unit));
        }
        return text.toString();
    }
}
""",
    f"{BY_CONFIG}.java": """
package org.apache.rocketmq.client.consumer.rebalance;
import java.util.List;
import org.apache.rocketmq.common.message.MessageQueue;
public class AllocateMessageQueueByConfig {
    public List<MessageQueue> list;
    public void setMessageQueueList(List<MessageQueue> list) { this.list = list; }
}
""",
    "org/apache/rocketmq/client/consumer/DefaultMQPushConsumer.java": """
package org.apache.rocketmq.client.consumer;
import org.apache.rocketmq.client.consumer.rebalance.AllocateMessageQueueByConfig;
public class DefaultMQPushConsumer {
    public AllocateMessageQueueByConfig strategy;
    public void setAllocateMessageQueueStrategy(AllocateMessageQueueByConfig strategy) {
        this.strategy = strategy;
    }
}
""",
    "Show.java": """
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.common.message.MessageQueue;
public class Show {
    public static void main(String[] units) {
        DefaultMQPushConsumer consumer = new DefaultMQPushConsumer();
        StringBuilder id = new StringBuilder();
        for (String unit : units) {
            id.append((char) Integer.parseInt(unit, 16));
        }
        QueueConfig.apply(consumer, id.toString());
        for (MessageQueue queue : consumer.strategy.list) {
            System.out.println(queue);
        }
    }
}
""",
}


def units_of(text: str) -> list[str]:
    data = text.encode("utf-16-be")
    return [data[at : at + 2].hex() for at in range(0, len(data), 2)]


needs_javac = pytest.mark.skipif(
    shutil.which("javac") is None, reason="no Java compiler here"
)


def compile_java(folder: Path, config: dict[str, list[MessageQueue]]) -> None:
    for name, source in {**STUBS, "QueueConfig.java": to_java(config)}.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(source, encoding="ascii")
    sources = [str(path) for path in folder.rglob("*.java")]
    subprocess.run(["javac", "-d", str(folder), *sources], check=True, timeout=60)


@needs_javac
def test_java_compiles_at_its_limits(tmp_path: Path) -> None:
    scattered = [
        queue(number) for number in range(0, 2 * export.JAVA_SPAN_LIMIT + 2, 2)
    ]
    few = {
        f"10.0.{number // 250}.{number % 250}@application-{number}": [queue(number)]
        for number in range(export.JAVA_CLIENT_LIMIT - 1)
    }
    compile_java(tmp_path, {"all": scattered, **few})
    assert (tmp_path / "QueueConfig.class").exists()


@needs_javac
def test_java_makes_the_same_lists(tmp_path: Path) -> None:
    compile_java(tmp_path, CONFIG)
    for client_id, expected in CONFIG.items():
        shown = subprocess.run(
            ["java", "-cp", str(tmp_path), "Show", *units_of(client_id)],
            check=True,
            capture_output=True,
            text=True,
            timeout=60,
        ).stdout.split()
        wanted = {
            "".join(units_of(f"{q.topic}|{q.broker_name}|{q.queue_id}"))
            for q in expected
        }
        assert set(shown) == wanted


def test_queues_of_one_place_stay_together() -> None:
    mixed = [
        MessageQueue("T", "b", 1),
        MessageQueue("S", "b", 0),
        MessageQueue("T", "b", 0),
    ]
    text = to_python({"A": mixed})
    assert text.count("*queues(") == 2
