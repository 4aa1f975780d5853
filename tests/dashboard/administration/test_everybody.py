"""What brokers say of users and accounts, side by side."""

from __future__ import annotations

from dashboard.administration.everybody import Row, side_by_side
from rmqcore.admin import AccessRule, AccessUser, PlainAccess, PlainAccount
from rmqcore.errors import ChannelClosedError

RULE = AccessRule("User:app", "Topic:orders", ("Pub", "Sub"), "Allow")


def account(
    name: str, *, admin: bool = False, **rules: tuple[str, ...]
) -> PlainAccount:
    topics, groups = rules.get("topics", ()), rules.get("groups", ())
    return PlainAccount(name, admin, None, None, "SUB", topics, groups)


def test_what_only_some_brokers_have_is_told() -> None:
    user = AccessUser("app", "Normal", "enable")
    found = side_by_side({"a": ((user,), (RULE,)), "b": ((user,), ())})
    assert found.users == (Row("app", "", "Normal, enable", ("a", "b"), ()),)
    assert found.rules == (
        Row("User:app", "Custom Topic:orders", "ALLOW Pub,Sub", ("a",), ("b",)),
    )


def test_accounts_of_files_are_compared_among_brokers_with_files() -> None:
    app = account("app", topics=("orders=PUB",), groups=("billing=DENY",))
    file = PlainAccess(("10.0.0.*",), (app,))
    root = account("operator", admin=True)
    found = side_by_side({"a": file, "b": PlainAccess((), (app, root)), "c": None})
    may = "topics DENY, groups SUB, orders=PUB, billing=DENY"
    assert found.accounts == (
        Row("app", "", may, ("a", "b"), ()),
        Row("operator", "", "admin", ("b",), ("a",)),
    )
    assert found.addresses == (Row("10.0.0.*", "", "", ("a",), ("b",)),)
    assert (found.old, found.open, found.told) == (("a", "b"), ("c",), ())


def test_a_silent_broker_is_not_taken_for_an_open_one() -> None:
    found = side_by_side({"a": ChannelClosedError("a:10911 is away")})
    assert found.silent == (("a", "a:10911 is away"),)
    assert found.open == ()
