"""Commands of Apache's admin tool, and what makes two of its outputs equal in meaning.

A step is a command line with places to fill in, and a rule. A rule takes the text that
was printed and returns what must be the same on both clusters: always without times,
addresses, ids and places in the log, and, where the command shows more than the test
has made, only what it has made.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

Rule = Callable[[str, "Names"], object]


@dataclass
class Names:
    """What a step's places stand for on one cluster."""

    cluster: str
    broker: str
    topic: str
    group: str
    producer: str
    older: bool = False
    """Whether tool and real broker are of 4.x, which know and keep less."""
    found: dict[str, str] = field(default_factory=dict)
    """What earlier steps have printed: ids of messages."""

    def fill(self, word: str) -> str:
        return word.format(
            cluster=self.cluster,
            broker=self.broker,
            topic=self.topic,
            group=self.group,
            producer=self.producer,
            **self.found,
        )


# Rules

_READ: Final = "trackType=READ, exceptionDesc=null"
_MASKS: Final = (
    (re.compile(r"/?127\.0\.0\.1:\d+"), "ADDRESS"),
    (re.compile(r"\d{4}-\d\d-\d\d[ ,]\d\d:\d\d:\d\d(,\d+)?"), "TIME"),
    (re.compile(r"\b1[789]\d{11}\b"), "MS"),
    (re.compile(r"\b[0-9A-F]{32}(?:[0-9A-F]{24})?\b"), "ID"),
    (re.compile(r"(CommitLog Offset:|commitLogOffset=|physicOffset=) *\d+"), r"\1AT"),
    (re.compile(r"[\w./-]*/(?=ADDRESS|ID)"), ""),
    (re.compile(r"\brt=\d+ms"), "rt"),
    (re.compile(r"Consume TPS: [\d.]+"), "Consume TPS"),
    (re.compile(r"(@ID@)\d+"), r"\1AT"),
    # The driver names its producer by the cluster it is on.
    (re.compile(r"\b(driver-producer)[-\d]*"), r"\1"),
    # A client of 5.x commits for the first time 10 s after its start.
    (re.compile(r"trackType=(CONSUMED|NOT_CONSUME_YET)"), "trackType=READ"),
    # Both exceptions say where to read more, in the words of the day.
    (re.compile(r"^(See|For more information).*$"), ""),
    (re.compile(r"^\s*(at |\.\.\. \d+ more).*$"), ""),
)
_OLDER_MASKS: Final = (
    (re.compile(r"\bV\d_\d+_\d+\b"), "VERSION"),
    # Properties that a broker of 5.x adds to each message.
    (re.compile(r"\b(TRACE_ON|MSG_REGION|WAIT)=\w+, "), ""),
    (re.compile(r"\b(storeSize|physicSize)=\d+"), r"\1=SIZE"),
    # A client of 4.x, too, commits for the first time 10 s after its start.
    (re.compile(r"trackType=NOT_ONLINE, exceptionDesc=CODE:206 [^]]*"), _READ),
    # Progress of a retry topic is told by 4.x before there is any.
    (re.compile(r"^%RETRY%.* N/A$"), ""),
)
_SIZE: Final = re.compile(r"\b(storeSize|physicSize)=(\d+)")


def lines(text: str, names: Names) -> list[str]:
    """Everything, line by line."""
    masked = []
    for line in text.splitlines():
        for pattern, word in (*_MASKS, *(_OLDER_MASKS if names.older else ())):
            line = pattern.sub(word, line)  # noqa: PLW2901 - masked step by step
        # A record holds the name of its cluster, as a property.
        line = _SIZE.sub(  # noqa: PLW2901
            lambda found: f"{found[1]}={int(found[2]) - len(names.cluster)}", line
        )
        words = line.replace(names.cluster, "CLUSTER").split()
        if words:
            masked.append(" ".join(words))
    return masked


def any_order(text: str, names: Names) -> list[str]:
    """Everything, where the tool prints as its hash tables have it."""
    return sorted(lines(text, names))


def ours(text: str, names: Names) -> list[str]:
    """Only lines about the topic and group of the test."""
    words = (names.topic, names.group)
    return sorted(
        line for line in lines(text, names) if any(word in line for word in words)
    )


def forms(text: str, names: Names) -> list[str]:
    """Everything with its numbers masked: how it looks, not how much."""
    return [re.sub(r"\d+(\.\d+)?", "N", line) for line in lines(text, names)]


def producers(text: str, names: Names) -> list[str]:
    """Each kind of line about the test's clients once: other tests have some, too."""
    words = ("driver-producer", names.group)
    found = (line for line in lines(text, names) if any(word in line for word in words))
    return sorted({re.sub(r"^\d{4} ", "", line) for line in found})


def our_forms(text: str, names: Names) -> list[str]:
    """Lines about the test's own, with their numbers masked: rates are among them."""
    return [re.sub(r"\b\d+(\.\d+)?", "N", line) for line in ours(text, names)]


def brokers(text: str, names: Names) -> list[list[str]]:
    """Per broker its name, id, address and version, and how the other columns look."""
    rows = [line.split(" ") for line in lines(text, names) if "broker-" in line]
    return [
        [*row[:5], *(re.sub(r"\d+(\.\d+)?", "N", word) for word in row[5:])]
        for row in rows
    ]


def settings(*wanted: str) -> Rule:
    """The values of some settings or measurements, printed as `name = value`."""

    def rule(text: str, names: Names) -> dict[str, str]:
        table = dict(_pairs(text, names))
        return {name: table.get(name, "missing") for name in _known(wanted, names)}

    return rule


def forms_of(*wanted: str) -> Rule:
    """As `settings`, but how the values look."""

    def rule(text: str, names: Names) -> dict[str, str]:
        table = dict(_pairs(text, names))
        return {
            name: re.sub(r"\d+(\.\d+)?", "N", table.get(name, "missing"))
            for name in _known(wanted, names)
        }

    return rule


def answered(text: str, names: Names) -> bool:
    """No more than that the tool understood the answer."""
    return bool(text) and "NullPointerException" not in text


def _known(wanted: tuple[str, ...], names: Names) -> list[str]:
    return [name for name in wanted if not (names.older and name in _SINCE_5)]


def _pairs(text: str, names: Names) -> list[tuple[str, str]]:
    found = (re.match(r"(\S+?)\s*[:=]\s*(.*)$", line) for line in lines(text, names))
    return [(match[1], match[2]) for match in found if match]


# What later steps need of a text

Remember = Callable[[str], Mapping[str, str]]


def unique_key(text: str) -> dict[str, str]:
    """The id of the message that a query has listed."""
    (key,) = re.findall(r"^([0-9A-F]{32,56}) ", text, re.MULTILINE)
    return {"unique_key": key}


def offset_id(text: str) -> dict[str, str]:
    """The id made of the place of a message."""
    host, port = re.findall(r"Store Host: +([\d.]+):(\d+)", text)[0]
    (at,) = re.findall(r"CommitLog Offset: +(\d+)", text)
    address = bytes(map(int, host.split("."))) + int(port).to_bytes(4, "big")
    return {"offset_id": f"{address.hex().upper()}{int(at):016X}"}


@dataclass(frozen=True)
class Step:
    """One command, the rule for its output, and what to remember of it."""

    command: str
    rule: Rule = lines
    remember: Remember | None = None
    older_command: str = ""
    """The command as the tool of 4.x wants it, where that is not the same."""
    older_rule: Rule | None = None
    """The rule for tool and broker of 4.x, where they do something else."""

    def words(self, names: Names) -> list[str]:
        """Return the command line on one cluster."""
        older = self.older_command if names.older else ""
        return [names.fill(word) for word in (older or self.command).split(" ")]

    def judged(self, text: str, names: Names) -> object:
        """Return what the rule makes of the output."""
        older = self.older_rule if names.older else None
        return (older or self.rule)(text, names)

    @property
    def name(self) -> str:
        return self.command.split(" ", 1)[0]


_SINCE_5: Final = frozenset(
    (
        *("brokerActive", "ackThreadPoolQueueSize", "timerReadBehind"),
        *("timerOffsetBehind", "timerCongestNum", "serverLoadBalancerEnable"),
        "useServerSideResetOffset",
        # A broker of 4.x does not find it in a file that is mostly empty.
        "earliestMessageTimeStamp",
    )
)
_RUNTIME: Final = ("brokerActive", "brokerVersionDesc", "commitLogMinOffset")
_MEASURED: Final = (
    *("bootTimestamp", "runtime", "putMessageSizeTotal", "putMessageFailedTimes"),
    *("putMessageTimesTotal", "putMessageAverageSize", "commitLogMaxOffset"),
    *("commitLogDiskRatio", "commitLogDirCapacity", "earliestMessageTimeStamp"),
    *("msgPutTotalTodayNow", "msgGetTotalTodayNow", "dispatchBehindBytes"),
    *("sendThreadPoolQueueSize", "pullThreadPoolQueueSize", "ackThreadPoolQueueSize"),
    *("timerReadBehind", "timerOffsetBehind", "timerCongestNum"),
    "pageCacheLockTimeMills",
)
_BROKER: Final = (
    *("brokerName", "brokerId", "brokerRole", "brokerPermission", "brokerIP1"),
    *("autoCreateTopicEnable", "autoCreateSubscriptionGroup", "longPollingEnable"),
    *("defaultTopicQueueNums", "maxMessageSize", "regionId", "fileReservedTime"),
    *("notifyConsumerIdsChangedEnable", "serverLoadBalancerEnable"),
    "useServerSideResetOffset",
)

BEFORE: Final = (
    Step("clusterList", brokers),
    Step("clusterList -m", forms),
    Step("updateTopic -b {broker} -t {topic} -r 4 -w 4"),
    Step("updateTopic -c {cluster} -t {topic}-all -r 2 -w 2", any_order),
    Step("updateTopicPerm -b {broker} -t {topic} -p 4"),
    Step("topicRoute -t {topic}"),
    Step("updateTopicPerm -b {broker} -t {topic} -p 6"),
    Step("topicRoute -t {topic}-nowhere"),
    Step("topicClusterList -t {topic}"),
    Step("updateSubGroup -c {cluster} -g {group} -r 5", any_order),
    Step("getConsumerConfig -g {group}", any_order),
)
"""With no messages yet."""

DURING: Final = (
    Step("topicStatus -t {topic}"),
    Step("consumerConnection -g {group}"),
    Step("consumerConnection -g {group}-nobody"),
    Step("consumerStatus -g {group}"),
    Step("producerConnection -g {producer} -t {topic}", producers),
    Step("producer -b {broker}", producers),
    Step("topicList", ours),
    Step("topicList -c", ours),
    Step("allocateMQ -t {topic} -i 10.0.0.1,10.0.0.2,10.0.0.3", forms),
    Step("queryMsgByKey -t {topic} -k k3", lines, unique_key),
    Step("queryMsgByUniqueKey -t {topic} -i {unique_key}", lines, offset_id),
    Step(
        "queryMsgById -t {topic} -i {offset_id}",
        older_command="queryMsgById -i {offset_id}",
    ),
    Step("queryMsgByOffset -t {topic} -b broker-a -i 0 -o 1"),
    Step("queryCq -t {topic} -q 0 -i 0 -b {broker}"),
    Step("printMsg -t {topic}", any_order),
    Step("printMsgByQueue -t {topic} -a broker-a -i 0 -p true -d true"),
    Step("consumeMessage -t {topic} -b broker-a -i 0 -o 0 -c 2"),
    Step("sendMessage -t {topic} -p hello -k key9 -c tagx -b broker-a -i 2"),
    Step("checkMsgSendRT -t {topic} -a 2 -s 10", forms),
    Step("sendMsgStatus -b broker-a -c 2", forms),
    Step("statsAll -t {topic}", forms),
    Step("brokerStatus -b {broker}", settings(*_RUNTIME)),
    Step("brokerStatus -b {broker}", forms_of(*_MEASURED)),
    Step("haStatus -b {broker}", forms),
)
"""With a producer and one consumer that has read everything."""

AFTER: Final = (
    Step("consumerConnection -g {group}"),
    Step("consumerProgress -g {group}"),
    Step("consumerProgress", our_forms),
    Step("brokerConsumeStats -b {broker}", ours),
    Step(
        "cloneGroupOffset -s {group} -d {group}-copy -t {topic}",
        # A broker of 5.x takes no offsets of a group that it does not know.
        older_rule=answered,
    ),
    Step("consumerProgress -g {group}-copy"),
    # A broker of 4.x resets no offsets of who is not there, and leaves it to the tool.
    Step("skipAccumulatedMessage -g {group} -t {topic}", older_rule=answered),
    Step("consumerProgress -g {group}", forms),
    Step("resetOffsetByTime -g {group} -t {topic} -s 0", older_rule=answered),
    Step("consumerProgress -g {group}", forms),
    Step("setConsumeMode -b {broker} -t {topic} -g {group} -m PULL"),
    Step("getBrokerConfig -b {broker}", settings(*_BROKER)),
    Step("updateBrokerConfig -b {broker} -k fileReservedTime -v 48"),
    Step("getBrokerConfig -b {broker}", settings("fileReservedTime")),
    Step("getNamesrvConfig", settings("orderMessageEnable", "bindAddress")),
    Step("updateNamesrvConfig -k orderMessageEnable -v false", any_order),
    Step("updateKvConfig -s mqadmin -k {topic} -v 1"),
    Step("deleteKvConfig -s mqadmin -k {topic}"),
    Step("updateOrderConf -t {topic} -m put -v broker-a:4"),
    Step("updateOrderConf -t {topic} -m get"),
    Step("updateOrderConf -t {topic} -m delete"),
    Step("cleanExpiredCQ -b {broker}"),
    Step("cleanUnusedTopic -b {broker}"),
    Step("deleteExpiredCommitLog -b {broker}"),
    Step("wipeWritePerm -b broker-a", forms),
    Step("topicRoute -t {topic}"),
    Step("addWritePerm -b broker-a", forms),
    Step("topicRoute -t {topic}"),
    Step("deleteSubGroup -c {cluster} -g {group} -r true", any_order),
    Step("topicList", ours),
    Step("deleteTopic -c {cluster} -t {topic}", any_order),
    Step("topicRoute -t {topic}"),
)
"""With the consumer gone."""
