"""A real Apache RocketMQ on loopback: one name server, any number of brokers.

Everything a cluster writes is inside the directory given; its processes are killed at
the end, never stopped gracefully (a broker takes ten seconds and more for that). The
readiness check speaks the wire protocol by hand, so that it judges rmqcore and does
not use it.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import struct
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from string import ascii_lowercase
from types import TracebackType
from typing import Any, Final

from .jars import JAVA_DIRECTORY, rocketmq_jars, rocketmq_version
from .ports import LOOPBACK, free_broker_ports, free_port
from .process import Process

START_SECONDS: Final = 90.0
_POLL_SECONDS: Final = 0.1
_CONF: Final = JAVA_DIRECTORY / "conf"
_JVM: Final = (
    "-XX:+UseSerialGC",
    "-XX:-UsePerfData",
    "-Xshare:auto",
    # The default makes a certificate at start, which takes seconds.
    "-Dtls.server.mode=disabled",
    # Where a server stands still for some seconds, as on a busy machine, Java would
    # close the connection. A name server would forget the broker that it is from until
    # it registers again; a heartbeat under way would register a member nevertheless,
    # for two minutes (see java_members).
    "-Dcom.rocketmq.remoting.client.closeSocketIfTimeout=false",
    # Written for Java 8, 4.x reaches into these by reflection.
    "--add-opens=java.base/java.lang=ALL-UNNAMED",
    "--add-opens=java.base/java.nio=ALL-UNNAMED",
    "--add-opens=java.base/jdk.internal.ref=ALL-UNNAMED",
)
BRIEF: Final = (
    "-XX:TieredStopAtLevel=1",
    "-XX:+UnlockDiagnosticVMOptions",
    "-XX:-BytecodeVerificationRemote",
)
"""For processes of tests, Spark's among them, which end soon.

The second compiler would not repay its work, and the classes of Apache's jars need not
be verified each time. Two brokers and twelve members take a quarter to a third less
processor time with the first; a tool that runs one command, and Spark's first queries,
take a sixth and a third less with the others. Brokers that are measured must not have
it: it makes them slower in the long run.
"""
BRIEF_SPARK: Final = " ".join(("-XX:+UseSerialGC", "-XX:-UsePerfData", *BRIEF))
"""JAVA_TOOL_OPTIONS of everything that starts Spark.

A cluster's workers start executors with their own environment, and each script that
starts a process first asks Java for the command. All of them live for seconds.
"""
_BROKER_HEAP: Final = ("-Xms256m", "-Xmx512m", "-XX:MaxDirectMemorySize=512m")
_SMALL_HEAP: Final = ("-Xms64m", "-Xmx128m", "-XX:MaxDirectMemorySize=128m")
_BROKER_SETTINGS: Final[Mapping[str, object]] = {
    "brokerId": 0,
    "brokerRole": "ASYNC_MASTER",
    "flushDiskType": "ASYNC_FLUSH",
    "brokerIP1": LOOPBACK,
    "brokerIP2": LOOPBACK,
    "bindAddress": LOOPBACK,
    "autoCreateTopicEnable": "true",
    "autoCreateSubscriptionGroup": "true",
    "enablePropertyFilter": "true",
    "mappedFileSizeCommitLog": 64 * 1024 * 1024,
    "mappedFileSizeConsumeQueue": 1_200_000,
    "mappedFileSizeTimerLog": 4 * 1024 * 1024,
    # Each flush compares the timer wheel's 40 MB with its copy: a twentieth of a core.
    "timerFlushIntervalMs": 60_000,
    # A broker of 5.x waits for the first of these without sleeping: by default it keeps
    # a core busy for ten seconds, while the tests that started it need the machine.
    "transactionMetricFlushInterval": 500,
    # Each of these threads and queues looks every few milliseconds whether there is
    # something: a fifth of what a broker does while nobody asks it anything.
    "timerGetMessageThreadNum": 1,
    "timerPutMessageThreadNum": 1,
    "reviveQueueNum": 1,
    "maxHashSlotNum": 100_000,
    "maxIndexNum": 400_000,
    # A busy machine is no busy broker: 200 ms in a queue are nothing here.
    "waitTimeMillsInSendQueue": 60_000,
    # A developer's disk is often fuller than a production one may be.
    "diskMaxUsedSpaceRatio": 95,
    "diskSpaceCleanForciblyRatio": 97,
    "diskSpaceWarningLevelRatio": 98,
}

_PORT_TAKEN: Final = "Address already in use"
_ATTEMPTS: Final = 4


class PortTakenError(RuntimeError):
    """Somebody took a port between our choosing it and the broker's binding it."""


SeedStore = Callable[[str, Path], None]
"""Called with a broker's name and its store's `config` folder before it starts."""


@dataclass
class ApacheCluster:
    """Addresses and processes of one running cluster; a context manager."""

    version: str
    directory: Path
    name: str
    nameserver: str
    jvm_options: Sequence[str] = ()
    brokers: dict[str, str] = field(default_factory=dict)
    processes: dict[str, Process] = field(default_factory=dict)

    def __enter__(self) -> ApacheCluster:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.kill()

    def kill(self) -> None:
        """End every process of the cluster, brokers first."""
        for process in reversed(self.processes.values()):
            process.kill()

    def stored_config(self, file_name: str) -> dict[str, str]:
        """Return a file of each broker's `store/config` as text, by broker name."""
        return {
            name: (self.directory / name / "store" / "config" / file_name).read_text()
            for name in self.brokers
        }


def mqadmin(
    nameserver: str, directory: Path, *arguments: str, timeout: float = 60
) -> str:
    """Run a command of Apache's admin tool on any cluster; return its output."""
    home = make_home(directory / "mqadmin", "logback_tools.xml")
    return subprocess.run(
        [
            *_java(home, rocketmq_version(), *_SMALL_HEAP, *BRIEF),
            "org.apache.rocketmq.tools.command.MQAdminStartup",
            *arguments,
            "-n",
            nameserver,
        ],
        env={**os.environ, "ROCKETMQ_HOME": str(home)},
        capture_output=True,
        text=True,
        timeout=timeout,
        check=True,
    ).stdout


def start_cluster(
    directory: Path,
    *,
    brokers: int | Sequence[str] = 1,
    name: str = "interop",
    version: str | None = None,
    settings: Mapping[str, object] | None = None,
    seed: SeedStore | None = None,
    jvm_options: Sequence[str] = (),
) -> ApacheCluster:
    """Start a name server and `brokers` masters; return when all are registered.

    They have the names given, or are `broker-a`, `broker-b` and so on.

    `jvm_options` are for every process, after our own, which they override.

    A port that was free when chosen may be taken before it is bound: then everything
    is started anew on others, in a folder of its own.
    """
    for attempt in range(1, _ATTEMPTS + 1):
        cluster = ApacheCluster(
            version or rocketmq_version(),
            directory / str(attempt),
            name,
            f"{LOOPBACK}:{free_port()}",
            jvm_options,
        )
        try:
            _start_all(cluster, brokers, settings, seed)
        except PortTakenError:
            cluster.kill()
            if attempt == _ATTEMPTS:
                raise
        except BaseException:
            cluster.kill()
            raise
        else:
            return cluster
    raise AssertionError("the last attempt returns or raises")


def _start_all(
    cluster: ApacheCluster,
    brokers: int | Sequence[str],
    settings: Mapping[str, object] | None,
    seed: SeedStore | None,
) -> None:
    if isinstance(brokers, int):
        brokers = [f"broker-{letter}" for letter in ascii_lowercase[:brokers]]
    ports = free_broker_ports(len(brokers))
    _start_nameserver(cluster)
    for name, port in zip(brokers, ports, strict=True):
        start_broker(cluster, name, port, settings, seed)
    wait_until_registered(cluster)


def _start_nameserver(cluster: ApacheCluster) -> None:
    home = make_home(cluster.directory / "nameserver", "logback_namesrv.xml")
    settings = {
        "listenPort": cluster.nameserver.rpartition(":")[2],
        "bindAddress": LOOPBACK,
        "rocketmqHome": home,
        "kvConfigPath": home / "kvConfig.json",
        "configStorePath": home / "nameserver.properties",
    }
    cluster.processes["nameserver"] = Process(
        [
            *_java(home, cluster.version, *_SMALL_HEAP, *cluster.jvm_options),
            "org.apache.rocketmq.namesrv.NamesrvStartup",
            "-c",
            str(_write_settings(home / "nameserver.conf", settings)),
        ],
        log=home / "stdout",
        env={"ROCKETMQ_HOME": str(home)},
    )


def start_broker(
    cluster: ApacheCluster,
    name: str,
    port: int,
    settings: Mapping[str, object] | None = None,
    seed: SeedStore | None = None,
) -> None:
    """Start one broker of the cluster; it registers by itself a little later."""
    home = make_home(cluster.directory / name, "logback_broker.xml")
    store = home / "store"
    (store / "config").mkdir(parents=True, exist_ok=True)
    if seed is not None:
        seed(name, store / "config")
    merged = {
        **_BROKER_SETTINGS,
        "brokerClusterName": cluster.name,
        "brokerName": name,
        "namesrvAddr": cluster.nameserver,
        "listenPort": port,
        "haListenPort": port + 1,
        "rocketmqHome": home,
        "storePathRootDir": store,
        "storePathCommitLog": store / "commitlog",
        "storePathConsumeQueue": store / "consumequeue",
        "storePathIndex": store / "index",
        **(settings or {}),
    }
    cluster.brokers[name] = f"{LOOPBACK}:{port}"
    cluster.processes[name] = Process(
        [
            *_java(home, cluster.version, *_BROKER_HEAP, *cluster.jvm_options),
            "org.apache.rocketmq.broker.BrokerStartup",
            "-c",
            str(_write_settings(home / "broker.conf", merged)),
        ],
        log=home / "stdout",
        env={"ROCKETMQ_HOME": str(home)},
    )


def wait_until_registered(cluster: ApacheCluster) -> None:
    """Return once the name server lists every broker; raise when one has died."""
    deadline = time.monotonic() + START_SECONDS
    while not set(cluster.brokers) <= set(_registered(cluster.nameserver)):
        for name, process in cluster.processes.items():
            if not process.running:
                kind = PortTakenError if _PORT_TAKEN in process.tail() else RuntimeError
                raise kind(f"{name} died at start:\n{process.tail()}")
        if time.monotonic() > deadline:
            raise RuntimeError(f"not registered in {START_SECONDS} s: {cluster}")
        time.sleep(_POLL_SECONDS)


def _registered(nameserver: str) -> list[str]:
    """Ask the name server which brokers it knows; empty while it does not answer."""
    host, _, port = nameserver.rpartition(":")
    header = json.dumps(
        {"code": 106, "flag": 0, "language": "JAVA", "opaque": 1, "version": 0}
    ).encode()
    try:
        with socket.create_connection((host, int(port)), timeout=1) as peer:
            peer.sendall(struct.pack(">ii", len(header) + 4, len(header)) + header)
            stream = peer.makefile("rb")
            length, header_length = struct.unpack(">ii", stream.read(8))
            body = stream.read(length - 4)[header_length:]
    except (OSError, struct.error):
        return []
    names = body.decode().split('"brokerName":"')[1:]
    return [name.partition('"')[0] for name in names]


def java_command(home: Path, version: str, *classpath: Path) -> list[str]:
    """Return the start of a command line for a client JVM of that version."""
    return _java(home, version, *_SMALL_HEAP, extra=classpath)


def _java(
    home: Path, version: str, *heap: str, extra: tuple[Path, ...] = ()
) -> list[str]:
    parts = [*map(str, extra), str(_CONF), f"{rocketmq_jars(version)}/*"]
    # Logs and broadcasting offsets go to the home, never to the user's.
    own = (f"-Duser.home={home}", f"-XX:ErrorFile={home}/hs_err.log")
    return ["java", *_JVM, *heap, *own, "-cp", ":".join(parts)]


def make_home(home: Path, logback: str) -> Path:
    """Make the home of a process; 4.x wants a file for its logs of that name there."""
    (home / "conf").mkdir(parents=True, exist_ok=True)
    shutil.copy(_CONF / "logback-4.xml", home / "conf" / logback)
    return home


def _write_settings(path: Path, settings: Mapping[str, Any]) -> Path:
    path.write_text("".join(f"{key}={value}\n" for key, value in settings.items()))
    return path
