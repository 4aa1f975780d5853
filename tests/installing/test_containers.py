"""The shipped image and composition: what they say, and that each line of it runs."""

from __future__ import annotations

import json
import re
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote, urlsplit

import pytest

from analytics import contracts as c
from dashboard.clock.ending import KILL_AFTER_SECONDS
from dashboard.config.settings import VERSION
from dashboard.supervisor import plan
from dashboard.supervisor.inheritance import inherited
from dashboard.supervisor.plan import Surroundings
from tests.analytics.lakes import two_epochs
from tests.support.containers import (
    SECRETS,
    SHIPPED,
    Containers,
    image_environment,
    image_list,
    instructions,
    services,
)
from tests.support.launched import ROOT
from tests.support.ports import free_port
from tests.support.postgresql import running_server
from tests.support.process import Process
from tests.support.valkey import valkey_binary
from tests.support.waiting import wait_until

FOUND: Final = Surroundings("0.0.0.0", 8300, Path("/v"), "redis://r:1/0", None, 1024)
PLANNED: Final = [plan.web(FOUND), *plan.workers(), plan.analytics()]
CELERY: Final = ("-m", "celery", "--app", "dashboard.config.celery:app")
STARTED: Final = (
    *("web-1", "web-2", "collector", "fleet-1", "fleet-2", "beat", "analytics"),
    *("spark-master", "spark-worker"),
)


def ours() -> dict[str, dict[str, Any]]:
    found = services()
    return {k: v for k, v in found.items() if v["image"].startswith("rocketscope:")}


def names_of(spec_name: str) -> tuple[str, ...]:
    return ("web-1", "web-2") if spec_name == "web" else (spec_name,)


@pytest.mark.parametrize("spec", PLANNED, ids=lambda spec: spec.name)
def test_a_container_runs_what_the_supervisor_starts(spec: plan.ChildSpec) -> None:
    wanted = ["python" if part == sys.executable else part for part in spec.argv]
    for name in names_of(spec.name):
        assert services()[name]["command"] == wanted


def test_every_service_is_known() -> None:
    planned = {name for spec in PLANNED for name in names_of(spec.name)}
    others = {"postgres", "valkey", "prepare", "spark-master", "spark-worker"}
    assert services().keys() == planned | others
    assert planned | {"spark-master", "spark-worker"} == set(STARTED)


@pytest.mark.parametrize("name", sorted(ours()))
def test_a_container_has_no_more_rights_than_it_needs(name: str) -> None:
    service = ours()[name]
    assert service["image"] == f"rocketscope:{VERSION}"
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert service["read_only"] is True
    assert "user" not in service, "the image's own is not root"
    assert service["stop_grace_period"] == f"{KILL_AFTER_SECONDS:g}s"


@pytest.mark.parametrize("spec", PLANNED, ids=lambda spec: spec.name)
def test_a_container_has_the_secrets_that_its_process_inherits(
    spec: plan.ChildSpec,
) -> None:
    secrets = ("ROCKETSCOPE_DATABASE_URL", "ROCKETSCOPE_REDIS_URL")
    cluster = "ROCKETSCOPE_CLUSTER_PROD_SECRET_KEY"
    needed = inherited(spec.name, dict.fromkeys((*secrets, cluster), "x")).keys()
    for name in names_of(spec.name):
        service = services()[name]
        assert set(service["environment"]) & set(secrets) == needed - {cluster}
        files = {each["path"] for each in service["env_file"]}
        assert files == {"settings.env"} | (
            {"clusters.env"} if cluster in needed else set()
        )


def test_only_pages_are_published_and_on_loopback_only() -> None:
    published = {k: v["ports"] for k, v in services().items() if "ports" in v}
    assert published == {
        "web-1": ["127.0.0.1:8300:8300"],
        "web-2": ["127.0.0.1:8301:8300"],
    }


def test_no_secret_is_in_the_files() -> None:
    image = (SHIPPED / "Containerfile").read_text("utf-8")
    assert not re.search(r"PASSWORD|TOKEN|SECRET|_KEY", image)
    assert not any(re.search("PASSWORD|KEY", key) for key in image_environment())
    for service in services().values():
        words = " ".join(map(str, service.get("command", ())))
        assert not any(secret in words.split() for secret in SECRETS.values())


def test_the_image_runs_as_a_user_without_rights() -> None:
    names = [name for name, _rest in instructions()]
    users = [rest for name, rest in instructions() if name == "USER"]
    assert users == ["rocketscope"]
    assert "RUN" not in names[names.index("USER") :]


def test_the_image_has_the_settings_of_all_processes() -> None:
    wanted = plan.environment(FOUND)
    del wanted["ROCKETSCOPE_REDIS_URL"]
    wanted["ROCKETSCOPE_VAR_DIR"] = "/var/lib/rocketscope"
    assert wanted.items() <= image_environment().items()


def test_the_image_alone_runs_everything() -> None:
    assert image_list("CMD") == ["rocketscope", "up", "--listen", "0.0.0.0:8300"]
    how, *check = services()["web-1"]["healthcheck"]["test"]
    assert how == "CMD"
    assert image_list("HEALTHCHECK") == check


def test_what_is_copied_into_the_image_reaches_its_builder() -> None:
    copied = {rest.split()[0] for name, rest in instructions() if name == "COPY"}
    ignored = (ROOT / ".dockerignore").read_text("utf-8").split()
    assert ignored == ["*", *(f"!{path}" for path in sorted(copied, reverse=True))]


@pytest.fixture(scope="module")
def containers(
    wheel: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Containers]:
    """Start all services, in the order in which they wait for each other."""
    folder = tmp_path_factory.mktemp("containers")
    name_server = free_port()
    with ExitStack() as stack:
        url = stack.enter_context(running_server())
        made = Containers(
            folder, url, {"ROCKETSCOPE_CLUSTERS": f"prod=127.0.0.1:{name_server}"}
        )
        made.build(wheel)
        made.stand_in_for_the_client_of_valkey(valkey_binary())
        stack.callback(made.stop)
        cluster = Process(
            [
                *(sys.executable, "-m", "rmqcore", "cluster"),
                *("--nameserver-port", str(name_server), "--brokers", "1"),
                *("--store", str(folder / "broker"), "--topic", "orders:8"),
            ],
            log=folder / "logs" / "cluster.log",
            cwd=ROOT,
        )
        stack.callback(cluster.kill)
        made.start("valkey")
        made.wait_until_healthy("valkey")
        prepared = made.start("prepare")
        assert prepared.wait(600) == 0, prepared.tail()
        for name in STARTED:
            made.start(name)
        for name in ("web-1", "web-2"):
            made.wait_until_healthy(name)
        yield made
        for name in STARTED:
            assert made.processes[name].running, made.processes[name].tail()


HEAVY: Final = [
    pytest.mark.embedded,
    pytest.mark.spark,
    pytest.mark.slow,
    pytest.mark.timeout(1800),
]


def heavy(test: Any) -> Any:
    for mark in HEAVY:
        test = mark(test)
    return test


@heavy
def test_the_database_answers_its_health_check(containers: Containers) -> None:
    parts = urlsplit(containers.postgresql_url)
    how, *words = services()["postgres"]["healthcheck"]["test"]
    assert how == "CMD"
    socket = {"PGHOST": unquote(parts.netloc.rpartition("@")[2].partition(":")[0])}
    port = {"PGPORT": parts.netloc.rpartition(":")[2]}
    assert (
        Process(words, log=containers.folder / "pg.log", env={**socket, **port}).wait(
            60
        )
        == 0
    )


@heavy
def test_workers_hear_each_other_and_beat(containers: Containers) -> None:
    wanted = {"collector", "fleet-1", "fleet-2", "analytics"}
    workers = [containers.processes[name] for name in sorted(wanted)]
    # Asking costs a start of Celery: it is for those who have said they listen, and
    # ends when all have answered.
    wait_until(lambda: all(map(name_of, workers)), "the workers say that they listen")
    named = ",".join(map(name_of, workers))
    asking = ("inspect", "ping", "--json", "--timeout", "5", "--destination", named)

    def heard() -> set[str]:
        done = containers.run("beat", "python", *CELERY, *asking)
        found = re.search(r"^\{.*\}$", done.stdout, re.MULTILINE)
        names = json.loads(found[0]) if found else ()
        return {name.partition("@")[0] for name in names}

    wait_until(lambda: heard() == wanted, "the workers")


def name_of(worker: Process) -> str:
    """Return what a worker of Celery calls itself once it listens, "" before."""
    found = re.search(r"(\S+@\S+) ready\.$", worker.log.read_text("utf-8"), re.M)
    return found[1] if found else ""


@pytest.fixture(scope="module")
def cookies(containers: Containers) -> urllib.request.OpenerDirector:
    """A browser that has signed in at the first web process, with a link made there."""
    address = containers.address("web-1")
    opened = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
    made = containers.run(
        "web-1", "rocketscope", "manage", "sign_in_link", "--base-url", address
    )
    assert made.returncode == 0, made.stderr
    link = made.stdout.split()[-1]
    with opened.open(link, timeout=60) as answer:
        token = re.search(r'csrfmiddlewaretoken" value="(\w+)"', answer.read().decode())
    assert token is not None
    form = f"csrfmiddlewaretoken={token[1]}".encode()
    sent = urllib.request.Request(link, form, {"Origin": address})
    with opened.open(sent, timeout=60) as answer:
        assert answer.status == 200
    return opened


@heavy
@pytest.mark.parametrize("name", ["web-1", "web-2"])
def test_a_web_process_is_ready_and_knows_the_cluster(
    containers: Containers, cookies: urllib.request.OpenerDirector, name: str
) -> None:
    # Both run the same line on the same database, and cookies know no ports: whoever
    # has signed in at one is signed in at the other.
    address = containers.address(name)
    with urllib.request.urlopen(f"{address}/readyz", timeout=60) as answer:
        assert answer.status == 200

    def shown() -> bool:
        with cookies.open(f"{address}/clusters/prod/topics/", timeout=60) as answer:
            return b"broker-a" in answer.read()

    wait_until(shown, "the collector's document of topics")


@heavy
def test_jobs_run_on_the_workers_of_spark(containers: Containers) -> None:
    two_epochs(containers.folder / "tmp" / "lake")
    work = containers.folder / "tmp" / "spark-work"
    done = containers.run(
        "analytics",
        *("python", "-m", "analytics", c.JOB_SKEW, "--step", "60"),
        *("--lake", "/tmp/lake", "--output", "/tmp/output"),
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert all(json.loads(done.stdout)["rows"].values())
    assert list(work.glob("app-*/*"))
