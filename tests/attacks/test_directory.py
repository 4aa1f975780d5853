"""Signing in by a real LDAP directory, OpenLDAP's, also with what nobody should try."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import trustme
from django.core.cache import cache
from django.test import Client

from dashboard.accounts import directory as directory_module
from dashboard.accounts.directory import DirectoryAwayError, identify
from dashboard.accounts.outside import GroupRight
from dashboard.accounts.throttle import LIMIT
from dashboard.models import AuditEntry, Role, Session, User
from tests.support import ldap_packages
from tests.support.slapd import GROUPS, PEOPLE, SUFFIX, Slapd, missing_program, slapd

pytestmark = pytest.mark.skipif(
    missing_program() is not None, reason=f"a real directory: {missing_program()}"
)

OURS = {"username": "root", "password": "correct horse battery"}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Slapd]:
    missing = ldap_packages.missing()
    if missing:
        pytest.skip(f"a real directory: {missing}")
    with slapd(tmp_path_factory.mktemp("slapd")) as running:
        yield running


@pytest.fixture
def running(server: Slapd, settings: Any) -> Iterator[Slapd]:
    cache.clear()
    settings.ROCKETSCOPE_LDAP = server.directory
    settings.ROCKETSCOPE_SIGN_IN_GROUPS = (
        GroupRight("admins", "admin"),
        GroupRight("staff", "viewer"),
        GroupRight(f"cn=payments,{GROUPS}", "operator", "hangzhou", "payments-*"),
    )
    yield server
    server.clear()
    cache.clear()


@pytest.fixture
def olgas_password(running: Slapd, db: None) -> str:
    return running.add_person("olga")


def sign_in(name: str, password: str, client: Client | None = None) -> Any:
    given = {"username": name, "password": password}
    return (client or Client()).post("/sign-in/", given)


def is_in(client: Client) -> bool:
    return client.get("/account/").status_code == 200


def test_groups_give_the_roles(running: Slapd, olgas_password: str) -> None:
    running.group("admins", "olga")
    running.group("payments", "olga")
    client = Client()
    assert sign_in("olga", olgas_password, client).status_code == 302
    assert is_in(client)
    user = User.objects.get(username="olga")
    assert user.role == Role.ADMIN
    assert [str(each) for each in user.grants.all()] == [
        "operator on hangzhou, groups payments-*"
    ]
    assert not user.has_usable_password()
    entry = AuditEntry.objects.get(action="sign_in")
    assert (entry.actor_name, entry.target) == ("olga", "olga")
    assert entry.details == {"issuer": f"ldap:///{PEOPLE}"}
    account = client.get("/account/").content.decode()
    assert 'type="password"' not in account


def test_a_user_is_found_again_whatever_the_entry_is_called(
    running: Slapd, olgas_password: str
) -> None:
    running.group("staff", "olga")
    sign_in("OLGA", olgas_password)
    running.change(
        f"dn: uid=olga,{PEOPLE}\nchangetype: modrdn\nnewrdn: uid=olga.new\n"
        "deleteoldrdn: 1\n"
    )
    running.added[0] = f"uid=olga.new,{PEOPLE}"
    running.remove(f"cn=staff,{GROUPS}")
    running.group("admins", "olga.new")
    assert sign_in("olga.new", olgas_password).status_code == 302
    user = User.objects.get()
    assert (user.username, user.role) == ("olga", Role.ADMIN)


def test_a_name_that_is_given_again_is_somebody_else(
    running: Slapd, olgas_password: str
) -> None:
    running.group("staff", "olga")
    sign_in("olga", olgas_password)
    running.remove(f"uid=olga,{PEOPLE}")
    sign_in("olga", running.add_person("olga"))
    assert set(User.objects.values_list("username", flat=True)) == {"olga", "olga-2"}


def test_whoever_loses_their_groups_gets_in_nowhere(
    running: Slapd, olgas_password: str
) -> None:
    running.group("staff", "olga")
    client = Client()
    sign_in("olga", olgas_password, client)
    assert is_in(client)
    running.remove(f"cn=staff,{GROUPS}")
    running.group("others", "olga")
    answer = sign_in("olga", olgas_password)
    assert "none of your groups has a right" in answer.content.decode()
    assert User.objects.get().role == ""
    assert not Session.objects.exists()
    assert not is_in(client)
    refused = AuditEntry.objects.get(action="sign_in", outcome="refused")
    assert refused.target == "olga"


@pytest.mark.parametrize("nested", [False, True])
def test_groups_in_groups_count_where_that_is_set(
    running: Slapd, olgas_password: str, settings: Any, nested: bool
) -> None:
    running.group("team", "olga")
    running.group("staff", f"cn=team,{GROUPS}")
    settings.ROCKETSCOPE_LDAP = replace(running.directory, nested_groups=nested)
    assert (sign_in("olga", olgas_password).status_code == 302) is nested


def test_groups_of_unix(running: Slapd, olgas_password: str, settings: Any) -> None:
    running.posix_group("staff", 1000)
    running.posix_group("admins", 2000, "olga")
    settings.ROCKETSCOPE_LDAP = replace(running.directory, group_type="posixGroup")
    assert sign_in("olga", olgas_password).status_code == 302
    assert User.objects.get().role == Role.ADMIN


@pytest.mark.parametrize(
    "name",
    [
        *("*", "ol*", "olga)(uid=*", "*)(|(uid=*", "olga)(&", "(olga", "\\6flga"),
        *("olga\0", "\0", f"uid=olga,{PEOPLE}", "olga,ou=people", "%(user)s", "{user}"),
        *("%s", "нет", "o" * 3000),
    ],
)
def test_no_name_is_more_than_a_name(
    running: Slapd, olgas_password: str, name: str
) -> None:
    running.group("admins", "olga")
    assert identify(running.directory, name, olgas_password) is None
    assert sign_in(name, olgas_password).status_code == 200
    assert not User.objects.exists()


def test_a_filter_may_find_people_by_several_names(
    running: Slapd, olgas_password: str
) -> None:
    both = replace(running.directory, user_filter="(|(uid={user})(mail={user}))")
    found = identify(both, "olga@example.com", olgas_password)
    assert found is not None
    assert found.name == "olga"
    odd = replace(running.directory, user_filter="(&(uid={user})(!(cn=100%)))")
    assert identify(odd, "olga", olgas_password) is not None


def test_a_filter_that_finds_two_people_finds_nobody(
    running: Slapd, olgas_password: str
) -> None:
    running.add_person("paul")
    either = replace(running.directory, user_filter="(|(uid={user})(uid=paul))")
    assert identify(either, "olga", olgas_password) is None


@pytest.mark.parametrize("password", ["", " ", "wrong", "olga", "\0", "x" * 5000])
def test_no_other_password_counts(
    running: Slapd, olgas_password: str, password: str
) -> None:
    running.group("admins", "olga")
    assert identify(running.directory, "olga", password) is None
    client = Client()
    assert sign_in("olga", password, client).status_code == 200
    assert not is_in(client)
    assert not User.objects.exists()


def test_whoever_has_no_password_there_is_refused(
    running: Slapd, olgas_password: str
) -> None:
    running.change(f"dn: uid=olga,{PEOPLE}\nchangetype: modify\ndelete: userPassword\n")
    assert identify(running.directory, "olga", olgas_password) is None


def test_wrong_passwords_bring_a_pause(running: Slapd, olgas_password: str) -> None:
    running.group("staff", "olga")
    for _ in range(LIMIT):
        sign_in("olga", "wrong")
    answer = sign_in("olga", olgas_password)
    assert f"{LIMIT} wrong passwords" in answer.content.decode()
    entry = AuditEntry.objects.get(action="sign_in")
    assert (entry.outcome, entry.target, entry.times) == ("refused", "olga", LIMIT)


def test_somebody_of_that_name_here_is_another(
    running: Slapd, olgas_password: str
) -> None:
    running.group("admins", "olga")
    ours = User.objects.create_user("olga", password="another horse", role="viewer")
    assert sign_in("olga", "another horse").status_code == 302
    assert sign_in("olga", olgas_password).status_code == 302
    ours.refresh_from_db()
    assert ours.role == Role.VIEWER
    assert User.objects.get(username="olga-2").role == Role.ADMIN


def test_whom_an_admin_has_disabled_is_refused(
    running: Slapd, olgas_password: str
) -> None:
    running.group("staff", "olga")
    sign_in("olga", olgas_password)
    User.objects.update(is_active=False)
    answer = sign_in("olga", olgas_password)
    assert "disabled your account" in answer.content.decode()


def test_without_passwords_of_ours_the_directory_still_signs_in(
    running: Slapd, olgas_password: str, settings: Any
) -> None:
    settings.ROCKETSCOPE_SIGN_IN_PASSWORDS = False
    running.group("staff", "olga")
    User.objects.create_user(**OURS, role=Role.ADMIN)
    assert sign_in(name="root", password=OURS["password"]).status_code == 200
    assert sign_in("olga", olgas_password).status_code == 302


@pytest.mark.parametrize("way", ["ldaps", "StartTLS"])
def test_its_certificate_has_to_be_of_the_authority(
    running: Slapd, olgas_password: str, tmp_path: Path, way: str
) -> None:
    url = running.tls_url if way == "ldaps" else running.directory.urls[0]
    trusted = replace(
        running.directory,
        urls=(url,),
        start_tls=way == "StartTLS",
        authorities=running.authority,
    )
    assert identify(trusted, "olga", olgas_password) is not None
    trustme.CA().cert_pem.write_to_path(tmp_path / "other.pem")
    for other in (tmp_path / "other.pem", None):
        with pytest.raises(DirectoryAwayError):
            identify(replace(trusted, authorities=other), "olga", olgas_password)
    assert identify(trusted, "olga", olgas_password) is not None


@pytest.mark.parametrize(
    "wrong",
    [
        {"urls": ("ldap://127.0.0.1:9",)},
        {"bind_password": "wrong"},
        {"bind_dn": f"cn=nobody,{SUFFIX}"},
        {"bind_dn": "", "bind_password": ""},
        {"user_base": f"ou=nowhere,{SUFFIX}"},
        {"group_base": f"ou=nowhere,{SUFFIX}"},
        {"user_filter": "(uid={user}"},
    ],
)
def test_a_directory_that_cannot_be_asked_is_no_wrong_password(
    running: Slapd,
    olgas_password: str,
    settings: Any,
    caplog: pytest.LogCaptureFixture,
    wrong: dict[str, Any],
) -> None:
    running.group("staff", "olga")
    settings.ROCKETSCOPE_LDAP = replace(running.directory, **wrong)
    answer = sign_in("olga", olgas_password)
    assert "Example directory does not answer" in answer.content.decode()
    assert "the directory cannot be asked" in caplog.text
    assert olgas_password not in caplog.text
    assert not User.objects.exists()


def test_an_admin_of_ours_signs_in_while_it_is_away(
    running: Slapd, db: None, settings: Any
) -> None:
    settings.ROCKETSCOPE_LDAP = replace(running.directory, urls=("ldap://127.0.0.1:9",))
    User.objects.create_user(**OURS, role=Role.ADMIN)
    assert sign_in("root", OURS["password"]).status_code == 302
    for _ in range(LIMIT):
        sign_in("root", "wrong")
    answer = sign_in("root", OURS["password"])
    assert f"{LIMIT} wrong passwords" in answer.content.decode()


def test_another_server_is_asked_while_the_first_is_away(
    running: Slapd, olgas_password: str
) -> None:
    urls = ("ldap://127.0.0.1:9", *running.directory.urls)
    both = replace(running.directory, urls=urls)
    assert identify(both, "olga", olgas_password) is not None


def test_one_that_never_answers_is_not_waited_for(
    running: Slapd, olgas_password: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert directory_module.CONNECT_SECONDS + directory_module.ANSWER_SECONDS < 10
    monkeypatch.setattr(directory_module, "ANSWER_SECONDS", 0.05)
    os.kill(running.process.pid, signal.SIGSTOP)
    try:
        with pytest.raises(DirectoryAwayError):
            identify(running.directory, "olga", olgas_password)
    finally:
        os.kill(running.process.pid, signal.SIGCONT)


def test_a_search_that_is_cut_short_takes_no_rights_away(
    running: Slapd, olgas_password: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from django_auth_ldap.backend import _LDAPUserGroups
    from ldap import SIZELIMIT_EXCEEDED

    running.group("staff", "olga")
    sign_in("olga", olgas_password)

    def cut(_self: object) -> None:
        raise SIZELIMIT_EXCEEDED({"desc": "Size limit exceeded"})

    monkeypatch.setattr(_LDAPUserGroups, "_get_group_infos", cut)
    assert "does not answer" in sign_in("olga", olgas_password).content.decode()
    assert User.objects.get().role == Role.VIEWER
    assert Session.objects.exists()


def test_more_people_than_places_are_told_at_once(
    running: Slapd, olgas_password: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    places = directory_module.threading.BoundedSemaphore(1)
    monkeypatch.setattr(directory_module, "_places", places)
    with places, pytest.raises(DirectoryAwayError, match="waiting"):
        identify(running.directory, "olga", olgas_password)
    assert identify(running.directory, "olga", olgas_password) is not None
