"""Java clients of the version under test, many in one JVM, driven by lines.

The program is `tests/interop/java/src/Driver.java`, compiled once per version against
the fetched jars. Waiting is for events that the clients print, never for time.
"""

from __future__ import annotations

import fcntl
import hashlib
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from .apache import BRIEF, java_command, make_home
from .jars import JAVA_DIRECTORY, cache_directory, rocketmq_jars, rocketmq_version
from .json_lines import Event, JsonLines

Queue = tuple[str, str, int]

_SOURCES: Final = sorted((JAVA_DIRECTORY / "src").glob("*.java"))
EAGER: Final = (
    *BRIEF,
    # Members that start together may divide by different lists; the next look at it
    # comes after 20 s, which is long for a test.
    "-Drocketmq.client.rebalance.waitInterval=2000",
    "-Drocketmq.client.rebalance.minInterval=200",
)
_PAST: Final = {
    "start": "started",
    "pull": "pulling",
    "stop": "stopped",
    "hold": "held",
    "release": "released",
    "produce": "produced",
}


class JavaDriver(JsonLines):
    """One JVM with Java producers, push consumers and lite pull consumers.

    Offsets of broadcasting consumers are in `home`/.rocketmq_offsets.
    """

    def __init__(
        self,
        nameserver: str,
        directory: Path,
        *,
        version: str | None = None,
        jvm_options: Sequence[str] = EAGER,
    ) -> None:
        version = version or rocketmq_version()
        self.home = directory
        directory.mkdir(parents=True, exist_ok=True)
        command = java_command(directory, version, compiled(version))
        super().__init__(
            [*command, *jvm_options, "Driver", nameserver], log=directory / "stderr"
        )
        self.wait_for(lambda event: event["event"] == "ready")

    def start_consumer(
        self, name: str, *, group: str, topic: str, **options: object
    ) -> str:
        """Start a push consumer and return its client id.

        Options: tag, mode, orderly, instance, from, delay_ms, threads, access_key and
        secret_key, strategy with config (`broker:id,…`) or rooms; with `exact` each
        change of its process queue table is an event `change`; with `pop` it takes
        messages by POP where the broker is set to that; with `quiet` it does not tell
        its messages, which for long runs are too many. `nameserver` names
        another cluster than the driver's, `tls` encrypts. Values hold no spaces (`+`
        in a tag expression stands for one).
        """
        started = self._command("start", name=name, group=group, topic=topic, **options)
        return str(started["client_id"])

    def start_pull_consumer(
        self, name: str, *, group: str, topic: str, **options: object
    ) -> str:
        """Start a lite pull consumer that polls, and return its client id.

        It subscribes the topic; with `assign` it is given the first so many queues.
        """
        started = self._command("pull", name=name, group=group, topic=topic, **options)
        return str(started["client_id"])

    def stop_consumer(self, name: str) -> None:
        """Stop a consumer gracefully: it persists, unlocks and unregisters."""
        self._command("stop", name=name)

    def hold(self, name: str) -> None:
        """Let a consumer's listener block until `release`."""
        self._command("hold", name=name)

    def release(self, name: str) -> None:
        """Let a held listener go on."""
        self._command("release", name=name)

    def produce(self, topic: str, count: int, **options: object) -> list[list[Any]]:
        """Send messages; return broker name, queue id and offset of each, in order.

        Options: tag, key (a prefix), first (number of the first), orderly, pad (bytes
        added to the body), delay_level; and nameserver, tls, access_key, secret_key:
        there is one producer for each cluster, made when first used.
        """
        produced = self._command("produce", topic=topic, count=count, **options)
        return list(produced["offsets"])

    def messages(self, name: str) -> list[Event]:
        """Return what a consumer's listener has been given so far."""
        return [event for event in self.events("message") if event["name"] == name]

    def queues(self, name: str) -> list[Queue]:
        """Return what a consumer's process queue table held when it last changed.

        The group's retry topic is left out: it has an owner too, but no test of ours.
        """
        allocations = [e for e in self.events("allocation") if e["name"] == name]
        if not allocations:
            return []
        return [
            (topic, broker, int(queue_id))
            for topic, broker, queue_id in allocations[-1]["queues"]
            if not topic.startswith("%RETRY%")
        ]

    def tell(self, verb: str, **options: object) -> None:
        """Give a command that is carried out beside others, without waiting for it."""
        words = (f"{key}={value}" for key, value in options.items())
        self.write(" ".join([verb, "background=1", *words]))

    def _command(self, verb: str, **options: object) -> Event:
        line = " ".join([verb, *(f"{key}={value}" for key, value in options.items())])
        before = len(self.events())
        self.write(line)
        answers = (_PAST[verb], "error")
        answer = self.wait_for(lambda e: e["event"] in answers, after=before)
        if answer["event"] == "error":
            raise RuntimeError(f"{line}: {answer['message']}\n{self.tail()}")
        return answer


class AdminTool(JsonLines):
    """One JVM that runs commands of Apache's admin tool, one after another.

    A command line that the tool cannot parse ends the JVM.
    """

    def __init__(self, directory: Path, *, version: str | None = None) -> None:
        version = version or rocketmq_version()
        make_home(directory, "logback_tools.xml")
        command = java_command(directory, version, compiled(version))
        super().__init__(
            [*command, *BRIEF, "AdminTool"],
            log=directory / "stderr",
            env={"ROCKETMQ_HOME": str(directory)},
            # Some commands leave files where they run.
            cwd=directory,
        )
        self.wait_for(lambda event: event["event"] == "ready")

    def run(self, *arguments: str) -> str:
        """Run one command and return all that it printed."""
        before = len(self.events())
        self.write("\t".join(arguments))
        answer = self.wait_for(lambda event: event["event"] == "output", after=before)
        return str(answer["text"])


def compiled(version: str) -> Path:
    """Return the folder with our Java classes, compiling when they are stale."""
    jars = rocketmq_jars(version)
    source = b"".join(path.read_bytes() for path in _SOURCES)
    digest = hashlib.sha256(source).hexdigest()[:16]
    classes = cache_directory() / f"driver-{version}-{digest}"
    with (cache_directory() / f"{classes.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (classes / "Driver.class").exists():
            options = ("-nowarn", "-proc:none", "-d", str(classes))
            subprocess.run(
                ["javac", *options, "-cp", f"{jars}/*", *map(str, _SOURCES)],
                check=True,
                capture_output=True,
            )
    return classes
