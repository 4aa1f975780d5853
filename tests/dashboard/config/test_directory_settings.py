from __future__ import annotations

from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured

from dashboard.config import directory_settings
from dashboard.config.directory_settings import check_packages, directory

PREFIX = "ROCKETSCOPE_LDAP_"
WHOLE = {
    "URL": "ldaps://ldap.example.com",
    "USER_BASE": "ou=people,dc=example,dc=com",
    "GROUP_BASE": "ou=groups,dc=example,dc=com",
}


def given(monkeypatch: pytest.MonkeyPatch, **values: str) -> None:
    for name, value in values.items():
        monkeypatch.setenv(PREFIX + name, value)


def test_without_an_address_there_is_no_directory() -> None:
    assert directory() is None
    check_packages(None)


def test_a_directory_has_defaults(monkeypatch: pytest.MonkeyPatch) -> None:
    given(monkeypatch, **WHOLE)
    found = directory()
    assert found is not None
    assert (found.name, found.urls) == ("ldap.example.com", (WHOLE["URL"],))
    assert (found.user_filter, found.group_type) == ("(uid={user})", "groupOfNames")
    assert not found.start_tls
    assert not found.nested_groups
    assert found.issuer == "ldap:///ou=people,dc=example,dc=com"


def test_a_directory_is_read_as_it_is_given(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    authorities = tmp_path / "ca.pem"
    authorities.touch()
    more = {
        "URL": "ldap://a.example.com:1389, ldap://b.example.com",
        "NAME": "Example directory",
        "START_TLS": "on",
        "CA": str(authorities),
        "BIND_DN": "cn=reader,dc=example,dc=com",
        "BIND_PASSWORD": "hush",
        "USER_FILTER": "(&(objectClass=user)(|(uid={user})(mail={user})))",
        "GROUP_TYPE": "activeDirectory",
        "NESTED_GROUPS": "on",
    }
    given(monkeypatch, **WHOLE | more)
    found = directory()
    assert found is not None
    assert found.urls == ("ldap://a.example.com:1389", "ldap://b.example.com")
    assert (found.name, found.authorities) == ("Example directory", authorities)
    assert (found.bind_dn, found.bind_password) == (more["BIND_DN"], "hush")
    assert found.user_filter == more["USER_FILTER"]
    assert (found.group_type, found.nested_groups) == ("activeDirectory", True)
    assert "hush" not in repr(found)


@pytest.mark.parametrize("url", ["ldap://127.0.0.1:3389", "ldap://localhost"])
def test_loopback_needs_no_tls(monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    given(monkeypatch, **WHOLE | {"URL": url})
    assert directory() is not None


@pytest.mark.parametrize(
    ("wrong", "parts"),
    [
        ({"URL": ""}, ["USER_BASE is not used without ROCKETSCOPE_LDAP_URL"]),
        ({"URL": "ldap://ldap.example.com"}, ["'ldap://ldap.", "START_TLS=on"]),
        ({"URL": "ldap://127.0.0.1 ldap://x.example"}, ["'ldap://x.example'"]),
        ({"START_TLS": "on"}, ["START_TLS=on", "'ldaps://ldap.example.com'"]),
        ({"URL": "https://x.example"}, ["URL='https://x.example'", "ldaps://"]),
        ({"URL": "ldaps://x.example/dc=x"}, ["'ldaps://x.example/dc=x'"]),
        ({"URL": "ldaps://x.example:y"}, ["'ldaps://x.example:y'"]),
        ({"URL": "ldaps://"}, ["'ldaps://'"]),
        ({"URL": "ldap.example.com"}, ["'ldap.example.com'"]),
        ({"USER_BASE": ""}, ["USER_BASE=''", "ou=people"]),
        ({"GROUP_BASE": "groups"}, ["GROUP_BASE='groups'"]),
        ({"USER_BASE": "dc=" + "x" * 240}, ["USER_BASE has 243", "240"]),
        ({"USER_FILTER": "(uid=%s)"}, ["USER_FILTER='(uid=%s)'", "{user}"]),
        ({"USER_FILTER": "uid={user}"}, ["USER_FILTER='uid={user}'"]),
        ({"USER_FILTER": "(uid={user}))("}, ["USER_FILTER"]),
        ({"USER_FILTER": "(uid={user})(a=b)"}, ["USER_FILTER"]),
        ({"BIND_DN": "cn=x"}, ["BIND_PASSWORD is missing", "BIND_DN"]),
        ({"BIND_PASSWORD": "hush"}, ["BIND_DN is missing", "BIND_PASSWORD"]),
        ({"CA": "/no/such"}, ["CA='/no/such'", "file"]),
        ({"GROUP_TYPE": "x"}, ["GROUP_TYPE='x'", "groupOfNames"]),
        (
            {"GROUP_TYPE": "posixGroup", "NESTED_GROUPS": "on"},
            ["NESTED_GROUPS=on", "GROUP_TYPE=posixGroup"],
        ),
    ],
)
def test_a_wrong_directory_is_named(
    monkeypatch: pytest.MonkeyPatch, wrong: dict[str, str], parts: list[str]
) -> None:
    given(monkeypatch, **WHOLE | wrong)
    with pytest.raises(ImproperlyConfigured) as refused:
        directory()
    for part in [PREFIX, *parts]:
        assert part in str(refused.value)
    assert "hush" not in str(refused.value)


def test_packages_that_are_missing_are_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    given(monkeypatch, **WHOLE)
    found = directory()
    monkeypatch.setattr(directory_settings, "find_spec", lambda _name: None)
    with pytest.raises(ImproperlyConfigured) as refused:
        check_packages(found)
    assert "ROCKETSCOPE_LDAP_URL='ldaps://ldap.example.com'" in str(refused.value)
    monkeypatch.setattr(directory_settings, "find_spec", lambda _name: object())
    check_packages(found)
