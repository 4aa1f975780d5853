from __future__ import annotations

from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured

from dashboard.accounts.outside import GroupRight, ProxyHeaders
from dashboard.config.sign_in_settings import (
    check_second_factor,
    check_ways_in,
    group_rights,
    provider,
    proxy_headers,
)

PREFIX = "ROCKETSCOPE_OIDC_"
WHOLE = {
    "ISSUER": "https://login.example.com/realms/main",
    "CLIENT_ID": "rocketscope",
    "CLIENT_SECRET": "hush",
}


def given(monkeypatch: pytest.MonkeyPatch, **values: str) -> None:
    for name, value in values.items():
        monkeypatch.setenv(PREFIX + name, value)


def test_without_an_issuer_there_is_no_provider() -> None:
    assert provider() is None


def test_a_provider_has_defaults(monkeypatch: pytest.MonkeyPatch) -> None:
    given(monkeypatch, **WHOLE)
    found = provider()
    assert found is not None
    assert found.name == "login.example.com"
    assert found.scopes == ("openid", "profile", "email")
    assert found.groups_claim == "groups"
    assert "hush" not in repr(found)


def test_a_provider_is_read_as_it_is_given(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    authorities = tmp_path / "ca.pem"
    authorities.touch()
    more = {"NAME": "Example ID", "SCOPES": "openid, groups", "GROUPS_CLAIM": "a.b"}
    given(monkeypatch, **WHOLE, **more, CA=str(authorities))
    found = provider()
    assert found is not None
    assert (found.name, found.scopes) == ("Example ID", ("openid", "groups"))
    assert (found.groups_claim, found.authorities) == ("a.b", authorities)


@pytest.mark.parametrize("issuer", ["http://127.0.0.1:8080", "http://localhost/x"])
def test_loopback_needs_no_tls(monkeypatch: pytest.MonkeyPatch, issuer: str) -> None:
    given(monkeypatch, **WHOLE | {"ISSUER": issuer})
    assert provider() is not None


@pytest.mark.parametrize(
    ("wrong", "parts"),
    [
        ({"ISSUER": ""}, ["CLIENT_ID", "without ROCKETSCOPE_OIDC_ISSUER"]),
        ({"CLIENT_ID": ""}, ["CLIENT_ID is missing"]),
        ({"CLIENT_SECRET": ""}, ["CLIENT_SECRET is missing"]),
        ({"ISSUER": "http://login.example.com"}, ["'http://login", "https://"]),
        ({"ISSUER": "http://127.0.0.1.example.com"}, ["https://"]),
        ({"ISSUER": "login.example.com"}, ["ISSUER='login.example.com'", "address"]),
        ({"ISSUER": "https://x.example/?a=b"}, ["'https://x.example/?a=b'"]),
        ({"ISSUER": "https://x.example:y"}, ["'https://x.example:y'"]),
        ({"ISSUER": "https://me:hush@x.example"}, ["is not an address"]),
        ({"ISSUER": "https://x.example/" + "y" * 255}, ["273", "255"]),
        ({"SCOPES": "profile"}, ["SCOPES='profile'", "openid"]),
        ({"CA": "/no/such"}, ["CA='/no/such'", "file"]),
    ],
)
def test_a_wrong_provider_is_named(
    monkeypatch: pytest.MonkeyPatch, wrong: dict[str, str], parts: list[str]
) -> None:
    given(monkeypatch, **WHOLE | wrong)
    with pytest.raises(ImproperlyConfigured) as refused:
        provider()
    for part in [PREFIX, *parts]:
        assert part in str(refused.value)
    assert "hush" not in str(refused.value).replace("me:hush@", "")


HEADER = "ROCKETSCOPE_SIGN_IN_HEADER"


def test_without_a_header_no_proxy_signs_anybody_in() -> None:
    assert proxy_headers(["10.0.0.5"]) is None


def test_a_header_has_defaults(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(HEADER, "Remote-User")
    assert proxy_headers(["10.0.0.5"]) == ProxyHeaders("Remote-User", "Remote-Groups")
    monkeypatch.setenv(f"{HEADER}_GROUPS", "X-Groups")
    monkeypatch.setenv(f"{HEADER}_SECRET", "x" * 16)
    found = proxy_headers(["127.0.0.1"])
    assert found == ProxyHeaders("Remote-User", "X-Groups", "x" * 16)
    assert "x" * 16 not in repr(found)


@pytest.mark.parametrize(
    ("values", "proxies", "parts"),
    [
        ({"": "Remote_User"}, ["10.0.0.5"], ["'Remote_User'", "dashes"]),
        ({"": "A", "_GROUPS": "B C"}, ["10.0.0.5"], ["_GROUPS='B C'"]),
        ({"": "A"}, [], ["ROCKETSCOPE_TRUSTED_PROXIES"]),
        ({"": "A"}, ["10.0.0.5", "127.0.0.1"], ["_SECRET", "127.0.0.1"]),
        ({"": "A"}, ["::1"], ["_SECRET", "::1"]),
        ({"": "A"}, ["0.0.0.0/0"], ["_SECRET", "0.0.0.0/0"]),
        ({"": "A", "_SECRET": "hush"}, ["10.0.0.5"], ["4", "16"]),
        ({"_GROUPS": "B"}, ["10.0.0.5"], ["_GROUPS is not used without"]),
        ({"_SECRET": "B"}, ["10.0.0.5"], ["_SECRET is not used without"]),
    ],
)
def test_a_wrong_header_is_named(
    monkeypatch: pytest.MonkeyPatch,
    values: dict[str, str],
    proxies: list[str],
    parts: list[str],
) -> None:
    for name, value in values.items():
        monkeypatch.setenv(HEADER + name, value)
    with pytest.raises(ImproperlyConfigured) as refused:
        proxy_headers(proxies)
    for part in [HEADER, *parts]:
        assert part in str(refused.value)
    assert "hush" not in str(refused.value)


KEY = "ROCKETSCOPE_SIGN_IN_GROUPS"


def test_groups_have_rights(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(
        KEY,
        "admins: admin; urn:example:pay ments: operator on hangzhou/payments-*;"
        "\n/team/x:viewer  on  eu-1 ;; cn=ops,dc=example: operator",
    )
    assert group_rights(KEY) == (
        GroupRight("admins", "admin"),
        GroupRight("urn:example:pay ments", "operator", "hangzhou", "payments-*"),
        GroupRight("/team/x", "viewer", "eu-1"),
        GroupRight("cn=ops,dc=example", "operator"),
    )


@pytest.mark.parametrize(
    ("value", "parts"),
    [
        ("admins", ["'admins'", "group: role on cluster/pattern"]),
        (": admin", ["': admin'"]),
        ("admins:", ["'admins:'"]),
        ("admins: root", ["'root'", "viewer, operator, admin"]),
        ("a: viewer; b: operator at x", ["'b: operator at x'"]),
        ("a: viewer on", ["'a: viewer on'"]),
        ("a: viewer on x/", ["'a: viewer on x/'"]),
        ("a: viewer on -x", ["'a: viewer on -x'"]),
        ("a: admin on x/pay-*", ["'/pay-*'", "whole cluster"]),
        ("a: viewer;" * 201, ["201", "200"]),
    ],
)
def test_a_wrong_right_is_named(
    monkeypatch: pytest.MonkeyPatch, value: str, parts: list[str]
) -> None:
    monkeypatch.setenv(KEY, value)
    with pytest.raises(ImproperlyConfigured) as refused:
        group_rights(KEY)
    for part in [KEY, *parts]:
        assert part in str(refused.value)


@pytest.mark.parametrize(
    ("passwords", "rights", "other", "wrong"),
    [
        (True, False, False, ""),
        (True, True, True, ""),
        (False, True, True, ""),
        (False, False, False, "P=off: nobody could sign in; set up O"),
        (True, False, True, "R is empty: O would let nobody in"),
        (True, True, False, "R is not used without O"),
    ],
)
def test_there_is_a_way_in(
    passwords: bool, rights: bool, other: bool, wrong: str
) -> None:
    def check() -> None:
        check_ways_in(
            passwords=("P", passwords), rights=("R", rights), others={"O": other}
        )

    if wrong:
        with pytest.raises(ImproperlyConfigured, match=wrong):
            check()
    else:
        check()


def test_a_second_factor_is_required_of_nobody_without_passwords() -> None:
    for choice in ("off", "optional"):
        check_second_factor(("FACTOR", choice), passwords=("PASSWORDS", False))
    check_second_factor(("FACTOR", "required"), passwords=("PASSWORDS", True))
    with pytest.raises(ImproperlyConfigured, match="FACTOR=required is not used"):
        check_second_factor(("FACTOR", "required"), passwords=("PASSWORDS", False))
