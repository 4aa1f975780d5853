from __future__ import annotations

import stat
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import pytest
from django.core.exceptions import ImproperlyConfigured

from dashboard.config import environment

KEY = "ROCKETSCOPE_THING"
Set = Callable[[str], None]


@pytest.fixture
def given(monkeypatch: pytest.MonkeyPatch) -> Set:
    return lambda value: monkeypatch.setenv(KEY, value)


@pytest.mark.parametrize("value", ["", "   "])
def test_an_empty_value_gives_the_default(given: Set, value: str) -> None:
    given(value)
    assert environment.text(KEY, "x") == "x"
    assert environment.integer(KEY, 7, low=1, high=9) == 7
    assert environment.flag(KEY, default=True)
    assert environment.words(KEY, "a, b") == ["a", "b"]


@pytest.mark.parametrize(
    ("value", "meant"), [("1", True), ("Yes", True), ("off", False), ("FALSE", False)]
)
def test_a_switch_is_read(given: Set, value: str, meant: bool) -> None:
    given(value)
    assert environment.flag(KEY, default=not meant) is meant


@pytest.mark.parametrize(
    ("read", "value", "parts"),
    [
        (environment.flag, "maybe", ["'maybe'", "true", "off"]),
        (
            lambda key: environment.integer(key, 1, low=1, high=9),
            "12",
            ["12", "1 and 9"],
        ),
        (
            lambda key: environment.integer(key, 1, low=1, high=9),
            "x",
            ["'x'", "1 and 9"],
        ),
        (lambda key: environment.choice(key, "a", ["a", "b"]), "c", ["'c'", "a, b"]),
        (lambda key: environment.host_port(key, ""), "host", ["'host'", "host:port"]),
        (lambda key: environment.host_port(key, ""), "h:0", ["0", "1 and 65535"]),
        (lambda key: environment.host_port(key, ""), "h:70000", ["70000", "65535"]),
        (environment.redis_url, "http://x", ["http://x", "redis://"]),
        (lambda key: environment.time_zone(key, "UTC"), "Mars/Base", ["Mars/Base"]),
        (lambda key: environment.time_zone(key, "UTC"), "../etc", ["../etc"]),
    ],
)
def test_a_wrong_value_is_named_with_its_key_and_limit(
    given: Set, read: Callable[[str], Any], value: str, parts: list[str]
) -> None:
    given(value)
    with pytest.raises(ImproperlyConfigured) as refused:
        read(KEY)
    for part in [KEY, *parts]:
        assert part in str(refused.value)


class TestLake:
    def test_a_folder_and_a_bucket_are_taken_as_they_are(self, given: Set) -> None:
        for value in ("/srv/lake", "s3://bucket/lake"):
            given(value)
            assert environment.lake(KEY, "") == value

    def test_an_address_with_keys_is_refused_without_telling_them(
        self, given: Set
    ) -> None:
        given("s3://me:hush@bucket/lake")
        with pytest.raises(
            ImproperlyConfigured, match=f"{KEY}: s3://bucket"
        ) as refused:
            environment.lake(KEY, "")
        assert "hush" not in str(refused.value)

    def test_half_a_pair_of_keys_is_refused(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("ROCKETSCOPE_S3_SECRET_KEY", "hush")
        with pytest.raises(ImproperlyConfigured, match="set both or none"):
            environment.s3()


class TestRising:
    READ: ClassVar = {"defaults": {f"{KEY}_A": 7, f"{KEY}_B": 30}, "low": 2}

    def read(self) -> tuple[int, ...]:
        return environment.rising(**self.READ, high=99, reason="B outlives A")

    def test_defaults_and_given_numbers(self, monkeypatch: pytest.MonkeyPatch) -> None:
        assert self.read() == (7, 30)
        monkeypatch.setenv(f"{KEY}_A", "30")
        assert self.read() == (30, 30)

    @pytest.mark.parametrize(
        ("name", "value", "parts"),
        [
            ("A", "31", [f"{KEY}_B=30", f"{KEY}_A=31", "B outlives A"]),
            ("B", "6", [f"{KEY}_B=6", f"{KEY}_A=7", "B outlives A"]),
            ("B", "100", [f"{KEY}_B=100", "between 2 and 99"]),
            ("A", "a week", [f"{KEY}_A='a week'", "between 2 and 99"]),
        ],
    )
    def test_a_wrong_one_is_named_with_its_limit(
        self, monkeypatch: pytest.MonkeyPatch, name: str, value: str, parts: list[str]
    ) -> None:
        monkeypatch.setenv(f"{KEY}_{name}", value)
        with pytest.raises(ImproperlyConfigured) as refused:
            self.read()
        for part in parts:
            assert part in str(refused.value)


def test_addresses_of_both_kinds_are_split(given: Set) -> None:
    given("127.0.0.1:8300")
    assert environment.host_port(KEY, "") == ("127.0.0.1", 8300)
    given("[::1]:80")
    assert environment.host_port(KEY, "") == ("::1", 80)


def test_addresses_and_networks_are_read(given: Set) -> None:
    given("10.0.0.5, 10.1.0.0/16, fd00::/8")
    assert environment.networks(KEY) == ["10.0.0.5", "10.1.0.0/16", "fd00::/8"]
    given("proxy.example")
    with pytest.raises(ImproperlyConfigured, match=r"'proxy.example' is neither"):
        environment.networks(KEY)


class TestDatabase:
    def test_nothing_given_is_sqlite_with_wal(self, tmp_path: Path) -> None:
        read = environment.database(KEY, sqlite_path=tmp_path / "db")
        options: Any = read["OPTIONS"]
        assert read["NAME"] == str(tmp_path / "db")
        assert options["transaction_mode"] == "IMMEDIATE"
        assert "journal_mode=WAL" in options["init_command"]
        assert options["timeout"] > 0

    def test_postgresql_is_read_from_its_url(self, given: Set, tmp_path: Path) -> None:
        given("postgresql://me:p%40ss@db.example:5433/scope")
        read = environment.database(KEY, sqlite_path=tmp_path)
        assert read["ENGINE"] == "django.db.backends.postgresql"
        assert (read["USER"], read["PASSWORD"]) == ("me", "p@ss")
        assert (read["HOST"], read["PORT"], read["NAME"]) == (
            "db.example",
            "5433",
            "scope",
        )

    @pytest.mark.parametrize(
        ("place", "host", "port"),
        [
            ("%2Frun%2FPostgreSQL", "/run/PostgreSQL", ""),
            ("me@%2Frun%2FPostgreSQL:5433", "/run/PostgreSQL", "5433"),
            ("me@[2001:db8::1]:5433", "2001:db8::1", "5433"),
            ("", "", ""),
        ],
    )
    def test_a_host_may_be_a_folder(
        self, given: Set, tmp_path: Path, place: str, host: str, port: str
    ) -> None:
        given(f"postgresql://{place}/scope")
        read = environment.database(KEY, sqlite_path=tmp_path)
        assert (read["HOST"], read["PORT"]) == (host, port)

    def test_parameters_reach_the_driver(self, given: Set, tmp_path: Path) -> None:
        given("postgresql://h/x?sslmode=verify-full&sslrootcert=%2Fetc%2Fca.pem")
        read = environment.database(KEY, sqlite_path=tmp_path)
        assert read["OPTIONS"] == {
            "sslmode": "verify-full",
            "sslrootcert": "/etc/ca.pem",
        }

    @pytest.mark.parametrize(
        ("value", "part"),
        [
            ("postgresql://h/x?sslmod=require", "no parameter 'sslmod'"),
            ("postgresql://h/x?sslmode=yes", "'yes' is not one of disable, allow"),
            ("postgresql://h/x?password=hush", "before the question mark"),
            ("sqlite:///x?mode=ro", "SQLite has no parameters, found 'mode=ro'"),
        ],
    )
    def test_a_wrong_parameter_is_named(
        self, given: Set, tmp_path: Path, value: str, part: str
    ) -> None:
        given(value)
        with pytest.raises(ImproperlyConfigured, match=KEY) as refused:
            environment.database(KEY, sqlite_path=tmp_path)
        assert part in str(refused.value)
        assert "hush" not in str(refused.value)

    @pytest.mark.parametrize(
        "value",
        ["mysql://me:hush@h/x", "postgresql://me:hush@h", "postgresql://me:hush@h:x/y"],
    )
    def test_a_refusal_does_not_tell_the_password(
        self, given: Set, tmp_path: Path, value: str
    ) -> None:
        given(value)
        with pytest.raises(ImproperlyConfigured, match=KEY) as refused:
            environment.database(KEY, sqlite_path=tmp_path)
        assert "hush" not in str(refused.value)


class TestSecret:
    def test_it_is_made_once_and_kept(self, tmp_path: Path) -> None:
        path = tmp_path / "var" / "secret_key"
        made = environment.secret(KEY, path=path)
        assert len(made) >= 50
        assert environment.secret(KEY, path=path) == made
        assert stat.S_IMODE(path.stat().st_mode) == 0o600

    def test_the_environment_wins(self, given: Set, tmp_path: Path) -> None:
        given("from-the-environment")
        path = tmp_path / "secret_key"
        assert environment.secret(KEY, path=path) == "from-the-environment"
        assert not path.exists()

    def test_all_who_race_get_the_same(self, tmp_path: Path) -> None:
        path, found = tmp_path / "secret_key", set()
        start = threading.Barrier(8)

        def race() -> None:
            start.wait()
            found.add(environment.secret(KEY, path=path))

        threads = [threading.Thread(target=race) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert found == {path.read_text()}

    def test_a_kept_one_that_is_too_short_is_refused(self, tmp_path: Path) -> None:
        path = tmp_path / "secret_key"
        path.write_text("short")
        with pytest.raises(ImproperlyConfigured, match=r"5 characters, at least 32"):
            environment.secret(KEY, path=path)
