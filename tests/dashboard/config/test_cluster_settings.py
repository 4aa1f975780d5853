from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured

from dashboard.config.cluster_settings import clusters, wants_embedded
from dashboard.gateway.settings import ClientTls
from tests.support.certificates import loopback_certificate

KEY = "ROCKETSCOPE_THING"
EMBEDDED = "ROCKETSCOPE_OWN"
TLS = "ROCKETSCOPE_CLUSTER_A_TLS"
Set = Callable[[str], None]


@pytest.fixture
def given(monkeypatch: pytest.MonkeyPatch) -> Set:
    return lambda value: monkeypatch.setenv(KEY, value)


class TestClusters:
    def test_names_and_servers_are_read(self, given: Set) -> None:
        given("prod=10.0.0.1:9876;10.0.0.2:9876, test=127.0.0.1:9876")
        found = clusters(KEY, EMBEDDED)
        assert list(found) == ["prod", "test"]
        assert found["prod"].name_servers == ("10.0.0.1:9876", "10.0.0.2:9876")
        assert not any(cluster.embedded for cluster in found.values())

    def test_the_embedded_one_has_a_key_of_its_own(
        self, given: Set, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        given("prod=10.0.0.1:9876")
        monkeypatch.setenv(EMBEDDED, "127.0.0.1:9876")
        found = clusters(KEY, EMBEDDED)
        assert found["embedded"].name_servers == ("127.0.0.1:9876",)
        assert [found[name].embedded for name in ("prod", "embedded")] == [False, True]

    def test_the_word_alone_asks_for_the_embedded_one_beside_others(
        self, given: Set
    ) -> None:
        given("prod=10.0.0.1:9876,embedded")
        assert list(clusters(KEY, EMBEDDED)) == ["prod"]
        assert wants_embedded(KEY)
        given("prod=10.0.0.1:9876")
        assert not wants_embedded(KEY)
        given("")
        assert wants_embedded(KEY)

    def test_each_cluster_has_keys_of_its_own(
        self, given: Set, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        given("eu-1=h:1")
        monkeypatch.setenv("ROCKETSCOPE_CLUSTER_EU_1_ACCESS_KEY", "me")
        monkeypatch.setenv("ROCKETSCOPE_CLUSTER_EU_1_SECRET_KEY", "hush")
        monkeypatch.setenv("ROCKETSCOPE_CLUSTER_EU_1_TLS", "on")
        cluster = clusters(KEY, EMBEDDED)["eu-1"]
        assert (cluster.access_key, cluster.secret_key) == ("me", "hush")
        assert cluster.tls == ClientTls()

    def test_only_the_embedded_cluster_is_written_to_by_default(
        self, given: Set, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        given("prod=h:1,lab-1=h:2")
        monkeypatch.setenv(EMBEDDED, "[::1]:3")
        monkeypatch.setenv("ROCKETSCOPE_CLUSTER_LAB_1_WRITES", "on")
        found = clusters(KEY, EMBEDDED)
        read_only = {name: each.read_only for name, each in found.items()}
        assert read_only == {"embedded": False, "prod": True, "lab-1": False}
        assert found["lab-1"].writes_key == "ROCKETSCOPE_CLUSTER_LAB_1_WRITES"

    def test_the_embedded_cluster_cannot_be_read_only(
        self, given: Set, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv(EMBEDDED, "localhost:3")
        monkeypatch.setenv("ROCKETSCOPE_CLUSTER_EMBEDDED_WRITES", "off")
        with pytest.raises(ImproperlyConfigured, match="EMBEDDED_WRITES"):
            clusters(KEY, EMBEDDED)

    def test_half_a_pair_of_keys_is_refused(
        self, given: Set, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        given("a=h:1")
        monkeypatch.setenv("ROCKETSCOPE_CLUSTER_A_ACCESS_KEY", "me")
        with pytest.raises(ImproperlyConfigured, match="set both or none"):
            clusters(KEY, EMBEDDED)

    @pytest.mark.parametrize(
        ("value", "part"),
        [
            ("prod", "'prod' is not name=host:port"),
            ("/x=h:1", "'/x=h:1'"),
            ("embedded=10.0.0.1:9876", "'embedded' is kept"),
            ("a=", "'a' has no name server"),
            ("a=h", "'h' is not host:port"),
            ("a=h:1,a=h:2", "'a' is given twice"),
            ("a-b=h:1,A.b=h:2", "'a-b' and 'A.b' would share their settings"),
            (f"{'a' * 64}=h:1", "1 to 63"),
        ],
    )
    def test_what_cannot_be_read_is_named(
        self, given: Set, value: str, part: str
    ) -> None:
        given(value)
        with pytest.raises(ImproperlyConfigured, match=KEY) as refused:
            clusters(KEY, EMBEDDED)
        assert part in str(refused.value)


class TestTls:
    @pytest.fixture(autouse=True)
    def one_cluster(self, given: Set) -> None:
        given("a=h:1")

    def test_it_is_verified_unless_that_is_turned_off(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        assert clusters(KEY, EMBEDDED)["a"].encryption == "off"
        monkeypatch.setenv(TLS, "on")
        assert clusters(KEY, EMBEDDED)["a"].encryption == "verified"
        monkeypatch.setenv(f"{TLS}_VERIFY", "off")
        assert clusters(KEY, EMBEDDED)["a"].encryption == "unverified"

    def test_every_part_is_read(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        certificate, key, _ = loopback_certificate(tmp_path)
        parts = {
            "": "on",
            "_CA": certificate,
            "_SERVER_NAME": "mq.example",
            "_FINGERPRINT": f"{'AB:' * 31}AB, {'c' * 64}",
            "_CERTIFICATE": certificate,
            "_KEY": key,
        }
        for name, value in parts.items():
            monkeypatch.setenv(f"{TLS}{name}", str(value))
        assert clusters(KEY, EMBEDDED)["a"].tls == ClientTls(
            ca=certificate,
            server_name="mq.example",
            fingerprints=("ab" * 32, "c" * 64),
            certificate=certificate,
            key=key,
        )

    @pytest.mark.parametrize(
        ("given_parts", "parts"),
        [
            ({"_CA": "/no/ca"}, ["_CA='/no/ca' is not used unless", "_TLS=on"]),
            ({"_VERIFY": "off"}, ["_VERIFY=off is not used unless"]),
            ({"": "1", "_CA": "/no/ca"}, ["_CA='/no/ca': ", "No such file"]),
            ({"": "1", "_FINGERPRINT": "ab:c"}, ["_FINGERPRINT='ab:c'", "64 hexa"]),
            ({"": "1", "_SERVER_NAME": "a b"}, ["_SERVER_NAME='a b'", "neither"]),
            ({"": "1", "_KEY": "/no/key"}, ["_KEY='/no/key'", "_TLS_CERTIFICATE"]),
            ({"": "1", "_CERTIFICATE": "/no/c"}, ["_CERTIFICATE='/no/c': ", "/no/c"]),
            ({"": "1", "_CA": "/no/c", "_VERIFY": "0"}, ["_VERIFY=off", "TLS_CA"]),
            ({"": "perhaps"}, ["'perhaps'"]),
        ],
    )
    def test_what_cannot_be_used_is_named_with_its_key(
        self,
        given_parts: dict[str, str],
        parts: list[str],
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        for name, value in given_parts.items():
            monkeypatch.setenv(f"{TLS}{name}", value)
        with pytest.raises(ImproperlyConfigured, match=TLS) as refused:
            clusters(KEY, EMBEDDED)
        for part in parts:
            assert part in str(refused.value)
