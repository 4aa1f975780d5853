"""Apache's admin tool on one cluster: what tests ask of it, as values."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from pathlib import Path

from tests.support.java_driver import AdminTool

Queue = tuple[str, int]

ATTEMPTS = 5
NOT_ANSWERED = (
    *("RemotingTimeoutException", "RemotingConnectException"),
    *("RemotingSendRequestException", "InterruptedException"),
)

# Java's clients commit what they have consumed every five seconds.
_COMMIT_SECONDS = 6.0
_COMMITS = 5


class Mqadmin:
    """One JVM of the tool, for many commands on one cluster."""

    def __init__(
        self, running: AdminTool, nameserver: str, brokers: Mapping[str, str]
    ) -> None:
        self._running = running
        self._nameserver = nameserver
        self.brokers = brokers

    def say(self, *words: str) -> str:
        """Run a command; return what it printed.

        The tool waits five seconds for an answer, which a busy machine may need.
        """
        for _ in range(ATTEMPTS):
            text = self._running.run(*words, "-n", self._nameserver)
            if not any(each in text for each in NOT_ANSWERED):
                return text
        raise AssertionError(f"mqadmin {' '.join(words)}: {text}")

    def route(self, topic: str) -> dict[str, tuple[int, int, int]]:
        """Return queues for reading, for writing, and the permission, per broker."""
        found = re.findall(
            r'"brokerName":"([^"]+)",\s*"perm":(\d+),\s*"readQueueNums":(\d+),'
            r'\s*"topicSysFlag":\d+,\s*"writeQueueNums":(\d+)',
            self.say("topicRoute", "-t", topic),
        )
        return {
            broker: (int(reads), int(writes), int(perm))
            for broker, perm, reads, writes in found
        }

    def group(self, name: str) -> dict[str, dict[str, str]]:
        """Return a group's settings on every broker that has it."""
        found: dict[str, dict[str, str]] = {}
        text = self.say("getConsumerConfig", "-g", name)
        for line in text.splitlines():
            if head := re.fullmatch(r"=+[^=:]+:([^=]+)=+", line):
                table = found.setdefault(head[1], {})
            elif pair := re.fullmatch(r"(\w+) *= *(.*)", line):
                table[pair[1]] = pair[2]
        return found

    def setting(self, broker: str, name: str) -> str:
        """Return a setting of a running broker."""
        text = self.say("getBrokerConfig", "-b", self.brokers[broker])
        (value,) = re.findall(rf"^{name} *= *(.*)$", text, re.MULTILINE)
        return str(value).strip()

    def offsets(self, group: str, topic: str) -> dict[Queue, int]:
        """Return what a group has committed on a topic."""
        text = self.say("consumerProgress", "-g", group, "-t", topic)
        lines = re.findall(rf"^{topic} +(\S+) +(\d+) +\d+ +(\d+) ", text, re.MULTILINE)
        return {(broker, int(queue)): int(at) for broker, queue, at in lines}

    def ends(self, topic: str) -> dict[Queue, tuple[int, int]]:
        """Return the ends of the queues of a topic."""
        text = self.say("topicStatus", "-t", topic)
        lines = re.findall(r"^(\S+) +(\d+) +(\d+) +(\d+)", text, re.MULTILINE)
        return {
            (broker, int(queue)): (int(low), int(high))
            for broker, queue, low, high in lines
        }

    def with_key(self, topic: str, key: str) -> set[str]:
        """Return the unique keys of the messages of a topic that have a key."""
        text = self.say("queryMsgByKey", "-t", topic, "-k", key)
        return set(re.findall(r"^([0-9A-F]{32,}) ", text, re.MULTILINE))

    def left(self, folder: Path) -> dict[str, object]:
        """Return what a reader might leave: topics, groups and committed offsets."""
        groups: dict[str, str] = {}
        for broker, address in self.brokers.items():
            place = folder / broker
            self.say("exportMetadata", "-b", address, "-g", "-f", str(place))
            groups[broker] = (place / "subscriptionGroup.json").read_text("utf-8")
        names = set(re.findall(r'"groupName":"([^"]+)"', "".join(groups.values())))
        return {
            "topics": sorted(self.say("topicList").split()),
            "groups": groups,
            "offsets": {name: self._committed(name) for name in names},
            "moved": self.say("topicStatus", "-t", "OFFSET_MOVED_EVENT"),
        }

    def left_at_rest(self, folder: Path) -> dict[str, object]:
        """Return the same once members of earlier tests have committed everything."""
        found = self.left(folder)
        for _ in range(_COMMITS):
            time.sleep(_COMMIT_SECONDS)
            before, found = found, self.left(folder)
            if found == before:
                return found
        raise AssertionError(f"something is still being committed: {found}")

    def _committed(self, group: str) -> set[tuple[str, ...]]:
        text = self.say("consumerProgress", "-g", group)
        return set(re.findall(r"^(\S+) +(\S+) +(\d+) +\d+ +(\d+) ", text, re.M))
