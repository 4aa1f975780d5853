"""Headers of the requests that change topics."""

from rmqcore.model import TopicConfig
from rmqcore.protocol.headers import CreateTopicRequestHeader


def test_a_topic_header_names_what_changes_and_what_goes() -> None:
    config = TopicConfig("T", 4, 8, attributes={"message.type": "FIFO"})
    header = CreateTopicRequestHeader.of(config, ["cleanup.policy"])
    assert (header.topic, header.read_queue_nums, header.write_queue_nums) == (
        "T",
        4,
        8,
    )
    assert header.attributes == "+message.type=FIFO,-cleanup.policy"
