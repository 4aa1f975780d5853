"""Secrets that end up in a process, or a message, that has no use for them."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from dashboard.alerting.delivery import Deliverer
from dashboard.jobs.child import child_environment
from dashboard.supervisor import plan
from dashboard.supervisor.child import Child, ChildSpec
from dashboard.supervisor.inheritance import inherited
from dashboard.supervisor.plan import Surroundings
from dashboard.supervisor.ports import answers
from dashboard.supervisor.redis_server import server_to_start
from tests.support.waiting import until

ROOT = Path(__file__).resolve().parents[2]
SLEEPER = (sys.executable, "-c", "import time; time.sleep(600)")
FOUND = Surroundings("127.0.0.1", 8300, Path("/v"), "redis://r:1/0", 9876, 1024)
SECRETS = {
    "ROCKETSCOPE_SECRET_KEY": "signs",
    "ROCKETSCOPE_METRICS_TOKEN": "metrics",
    "ROCKETSCOPE_DATABASE_URL": "database",
    "ROCKETSCOPE_REDIS_URL": "redis",
    "ROCKETSCOPE_S3_SECRET_KEY": "s3",
    "ROCKETSCOPE_CLUSTER_PROD_SECRET_KEY": "cluster",
    "ROCKETSCOPE_CLUSTER_PROD_TLS_KEY": "tls",
    "ROCKETSCOPE_OIDC_CLIENT_SECRET": "provider",
    # No secret, but refused without the one above.
    "ROCKETSCOPE_OIDC_ISSUER": "issuer",
    "ROCKETSCOPE_LDAP_BIND_PASSWORD": "directory",
    "ROCKETSCOPE_LDAP_URL": "directory's address",
    "ROCKETSCOPE_SIGN_IN_GROUPS": "groups",
    "ROCKETSCOPE_SIGN_IN_PASSWORDS": "passwords",
    "AWS_SECRET_ACCESS_KEY": "aws",
    "PGPASSWORD": "pg",
    "OTHER_PROGRAMS_TOKEN": "other",
}
CLUSTERS = {"cluster", "tls"}
DATABASE = {"database", "pg"}
NEEDS = {
    "state": set(),
    "cluster": set(),
    "traffic-1": set(),
    "traffic-2": set(),
    "web": set(SECRETS.values()),
    "collector": CLUSTERS | DATABASE | {"redis", "s3", "aws", "signs"},
    "fleet-1": CLUSTERS | DATABASE | {"redis", "aws", "other"},
    "fleet-2": CLUSTERS | DATABASE | {"redis", "aws", "other"},
    "analytics": DATABASE | {"redis", "s3", "aws"},
    "beat": {"redis"},
}


@pytest.fixture(autouse=True)
def secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in SECRETS.items():
        monkeypatch.setenv(name, value)
    for name in ("TZ", "LC_ALL", "https_proxy", "SSL_CERT_FILE", "JAVA_HOME"):
        monkeypatch.setenv(name, f"/{name}")


def planned() -> list[ChildSpec]:
    specs = [
        ChildSpec("state", ()),
        plan.embedded_cluster(FOUND),
        *plan.demo_traffic(FOUND),
        plan.web(FOUND),
        *plan.workers(),
        plan.analytics(),
    ]
    return [spec for spec in specs if spec is not None]


def environment_of(pid: int) -> dict[str, str]:
    lines = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    pairs = (line.decode().partition("=") for line in lines if line)
    return {name: value for name, _equals, value in pairs}


def test_every_planned_child_has_its_needs_told() -> None:
    assert {spec.name for spec in planned()} == set(NEEDS)


@pytest.mark.parametrize("name", NEEDS)
async def test_a_child_holds_the_secrets_it_needs(name: str, tmp_path: Path) -> None:
    (spec,) = [spec for spec in planned() if spec.name == name]
    child = Child(replace(spec, argv=SLEEPER, nice=0), tmp_path)
    await child.start()
    assert child.pid is not None
    found = environment_of(child.pid)
    await child.stop()
    assert {SECRETS[key] for key in SECRETS if key in found} == NEEDS[name]
    for key in ("PATH", "TZ", "LC_ALL", "https_proxy", "SSL_CERT_FILE", "JAVA_HOME"):
        assert key in found


async def test_valkey_holds_nothing_of_ours(tmp_path: Path) -> None:
    server = server_to_start(tmp_path / "state", memory_mb=64)
    assert server is not None
    child = Child(ChildSpec("state", server.argv), tmp_path)
    await child.start()
    await until(lambda: answers("127.0.0.1", server.port))
    assert child.pid is not None
    found = environment_of(child.pid)
    await child.stop()
    assert not [name for name in found if name.startswith("ROCKETSCOPE_")]
    assert not set(found.values()) & set(SECRETS.values())


def test_spark_knows_the_lake_and_no_database(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROCKETSCOPE_SPARK_MEMORY", "2g")
    found = child_environment()
    assert {SECRETS[key] for key in SECRETS if key in found} == {"s3", "aws"}
    assert found["ROCKETSCOPE_SPARK_MEMORY"] == "2g"
    assert "JAVA_HOME" in found


def test_the_sender_of_alerts_knows_the_database_and_no_cluster(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("ROCKETSCOPE_URL", "https://rocket.example")
    deliverer = Deliverer(SLEEPER)
    deliverer.wake()
    assert deliverer.pid is not None
    found = environment_of(deliverer.pid)
    deliverer.stop()
    held = {SECRETS[key] for key in SECRETS if key in found}
    assert held == {"signs", "database", "pg"}
    assert found["ROCKETSCOPE_URL"] == "https://rocket.example"


def test_settings_that_are_no_secret_reach_all_processes_of_ours() -> None:
    given = {"ROCKETSCOPE_TIME_ZONE": "UTC", "ROCKETSCOPE_ANY_NEW_DAYS": "3"}
    for name in ("web", "collector", "fleet-7", "analytics", "beat", "manage"):
        assert inherited(name, given) == given
    assert inherited("state", given) == {}
    assert inherited("unheard of", given) == {}


@pytest.mark.parametrize("line", ["hush", "a b=hush", "=hush", "hush\u2026=x"])
def test_a_malformed_line_of_settings_is_not_repeated(
    line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loader = importlib.machinery.SourceFileLoader("launcher", str(ROOT / "rocketscope"))
    spec = importlib.util.spec_from_loader("launcher", loader)
    assert spec is not None
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    launcher = importlib.util.module_from_spec(spec)
    loader.exec_module(launcher)
    monkeypatch.setattr(launcher, "ROOT", str(tmp_path))
    (tmp_path / ".env").write_text(f"# settings\n{line}\n", "utf-8")
    with pytest.raises(launcher.Stop) as told:
        launcher.load_dotenv()
    assert "line 2" in str(told.value)
    assert "hush" not in str(told.value)
