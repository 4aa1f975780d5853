"""Every setting that is read has a row in the docs, and every row is read."""

import re
from pathlib import Path

from dashboard.config.cluster_settings import TLS_KEYS

ROOT = Path(__file__).resolve().parent.parent.parent
KEY = re.compile(r"\bROCKETSCOPE_[A-Z][A-Z0-9_]*[A-Z]\b")
# Fixed figures and names that processes of one stack pass to each other.
NOT_SETTINGS = {
    "ROCKETSCOPE_SIGN_IN_LINK_MINUTES",
    "ROCKETSCOPE_REAL_JAVA",
    "ROCKETSCOPE_ROLLUP_DAYS",
    "ROCKETSCOPE_LAKE_S3",
    "ROCKETSCOPE_OIDC",
    "ROCKETSCOPE_LDAP",
    "ROCKETSCOPE_WANTS_EMBEDDED",
    "ROCKETSCOPE_ATTACHED_CLUSTER",
}


def documented() -> set[str]:
    rows = (ROOT / "docs" / "settings.md").read_text("utf-8")
    return set(re.findall(r"^\| `(ROCKETSCOPE_[A-Z0-9_<>]+)`", rows, re.MULTILINE))


def read() -> set[str]:
    found: set[str] = set()
    for room in ("dashboard", "analytics"):
        for source in (ROOT / room).rglob("*.py"):
            code = source.read_text("utf-8").replace("{PREFIX}", "ROCKETSCOPE_")
            found.update(KEY.findall(code))
    found = {key for key in found if not key.startswith("ROCKETSCOPE_CLUSTER_")}
    return found - NOT_SETTINGS


def test_docs_and_code_name_the_same_settings() -> None:
    per_cluster = {key for key in documented() if "<NAME>" in key}
    assert {key.rsplit(">_", 1)[1] for key in per_cluster} == {
        "ACCESS_KEY",
        "SECRET_KEY",
        "TLS",
        "TLS_VERIFY",
        *(f"TLS_{name}" for name in TLS_KEYS),
        "WRITES",
    }
    assert documented() - per_cluster == read()
