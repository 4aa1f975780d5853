"""Fields that no browser would send, to every address that takes a form."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias
from urllib.parse import urlencode

import pytest
from django.test import Client

from dashboard.live import arrival
from dashboard.models import Cluster, Role, SavedView, User
from tests.attacks.forms import (
    FORMS,
    URLENCODED,
    fields_of,
    posted,
    posted_bytes,
    sender,
    sent_by_pages,
)
from tests.attacks.routes import Route, is_turned_away, path_of
from tests.attacks.surroundings import leave_out_what_surrounds_a_page
from tests.attacks.test_malformed import HUGE, MARKUP, assert_safe
from tests.dashboard.conftest import SignIn, Write
from tests.dashboard.missing import broker_missing, overview_missing

# In one process, which reads the forms of all pages once.
pytestmark = pytest.mark.xdist_group("forms")

ALONE = (
    "a\0b",
    HUGE,
    '{"\\ud800": "\\u0000\\ud800"}',
    "[" * 20_000,
    "9999-12-31T23:59",
)
"""What one field gets while all others fit."""
TOGETHER = (
    *ALONE,
    "x" * 10_000,
    "NaN",
    "",
    "\0",
    MARKUP,
    "-1",
    "1e999",
    "1" * 5_000,
    "null",
    "[]",
    '"x"',
    '{"a": {"b": NaN}}',
    "0000-00-00T99:99",
    "\r\nSet-Cookie: a=b",
    ["1", "\0", "x"],
)
"""What all fields get at once."""
ENCODED = ("%ED%A0%80", "%FF%FE", "%", "%00%D8")
CHARSETS = {
    "utf-7": b"+2AA-",
    "unicode_escape": b"\\ud800",
    "utf-16": b"\x00\xd8",
    "hex": b"zz",
    "rot13": b"x",
    "idna": b"\xff",
}
PARTS = "multipart/form-data; boundary=x"
BODIES = {
    "nothing": (b"", "multipart/form-data"),
    "no boundary": (b"--x\r\n", "multipart/form-data; boundary="),
    "half": (b"--x\r\nContent-Disposition: form-data; name=", PARTS),
    "base64": (
        b"--x\r\nContent-Disposition: form-data; name=a\r\n"
        b"Content-Transfer-Encoding: base64\r\n\r\n!\r\n--x--\r\n",
        PARTS,
    ),
    "a file": (
        b'--x\r\nContent-Disposition: form-data; name="name"; filename="../../x\0"\r\n'
        b"\r\n\xff\r\n--x--\r\n",
        PARTS,
    ),
    "many": (b"a=&" * 5_000, URLENCODED),
    "large": (b"a=" + b"x" * 3_000_000, URLENCODED),
    "JSON": (b'{"a":', "application/json"),
    "no kind": (b"\xff\x00", ""),
    "a strange kind": (b"x", "\xff/\xff; charset=\xff"),
}
SHARE = 4
"""Bodies that only try how bodies are read each go to one form in so many, in turn."""
Form: TypeAlias = tuple[Client, str, dict[str, str], int]
Sent: TypeAlias = tuple[str, str, bytes | str, str]

OF_A_MESSAGE = {"message_body", "message_resend"}
"""Forms of one message: without a broker that has it, their views answer 404."""

_sent: dict[str, dict[str, str]] = {}
"""What the forms of pages send; they are read once."""


@pytest.fixture
def admin(
    nobody_there: None, one_of_each: None, sign_in: SignIn, write: Write
) -> Client:
    """An admin where each form has something to act on."""
    write(overview_missing(), broker_missing())
    Cluster.objects.update(embedded=True)
    Client().force_login(User.objects.get(username="one"))
    sign_in(Role.ADMIN)  # a session to be ended
    client = sign_in(Role.ADMIN)
    owner = User.objects.get(username=Role.ADMIN.value)
    SavedView.objects.create(pk=1, table="groups", name="x", owner=owner)
    return client


@pytest.fixture
def form(
    admin: Client,
    settings: Any,
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
) -> Form:
    """Who sends a form, where to, and with which fields."""
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    monkeypatch.setattr(arrival, "WAIT_SECONDS", 0)  # no collector runs
    _sent.update(_sent or sent_by_pages(admin))
    route: Route = request.param
    client, path = sender(route, admin), path_of(route)
    sent = _sent.get(route.name, {})
    fields = fields_of(client, path, sent, monkeypatch)
    return client, path, fields, FORMS.index(route)


each_form = pytest.mark.parametrize(
    "form", FORMS, indirect=True, ids=lambda route: route.name
)


@each_form
def test_no_field_of_a_form_is_an_error_of_ours(
    form: Form, monkeypatch: pytest.MonkeyPatch
) -> None:
    client, path, fields, number = form
    first = posted(client, path, fields)
    assert first.status_code not in {403, 405}, "the view is not reached"
    assert first.status_code != 404 or first.resolver_match.url_name in OF_A_MESSAGE
    assert not is_turned_away(first)
    wrong = []
    sent: set[tuple[str, bytes, str]] = set()
    asked = list(bodies(path, fields, number))
    # What surrounds a page draws the query of its address, too.
    for what, address, body, kind in sorted(asked, key=lambda each: each[1] == path):
        if address == path:
            leave_out_what_surrounds_a_page(monkeypatch)
        whole = body.encode() if isinstance(body, str) else body
        if (address, whole, kind) in sent:
            continue  # such as all values for no fields
        sent.add((address, whole, kind))
        answer = posted_bytes(client, address, whole, kind)
        # A refusal, the form again, or that it was taken.
        if answer.status_code not in {200, 204, 302} and answer.status_code // 100 != 4:
            wrong.append((what, answer.status_code))
        assert_safe(answer)
    assert wrong == []


def bodies(path: str, fields: dict[str, str], number: int) -> Iterator[Sent]:
    """Yield what each body is called, where it goes, the body and its kind.

    `number` is the form's: neighbours are sent different parts of what only tries how
    bodies are read, which is the same for all forms.
    """
    for what, values in odd_values(fields):
        yield what, path, urlencode(values, doseq=True), URLENCODED
    read_before = [*odd_encodings(path, fields), *bytes_of_any_kind(path, fields)]
    yield from read_before[number % SHARE :: SHARE]


def odd_encodings(path: str, fields: dict[str, str]) -> Iterator[Sent]:
    for value in ENCODED:
        body = f"{'&'.join(f'{name}={value}' for name in fields)}&{value}={value}"
        yield value, path, body, URLENCODED


def odd_values(fields: dict[str, str]) -> Iterator[tuple[str, dict[str, Any]]]:
    for name in fields:
        for value in ALONE:
            yield f"{name}={value[:40]!r}", {**fields, name: value}
        others = {key: value for key, value in fields.items() if key != name}
        yield f"no {name}", others
    for value in TOGETHER:
        yield f"all={value[:40]!r}", dict.fromkeys(fields, value)


def bytes_of_any_kind(path: str, fields: dict[str, str]) -> Iterator[Sent]:
    for name, (body, kind) in BODIES.items():
        yield name, path, body, kind
    for charset, value in CHARSETS.items():
        head = '--x\r\nContent-Disposition: form-data; name="{}"\r\n\r\n'
        parts = [head.format(name).encode() + value + b"\r\n" for name in fields]
        whole = b"".join([*parts, b"--x--\r\n"])
        for kind in (PARTS, URLENCODED):
            named = f"{kind}; charset={charset}"
            yield named, path, whole, named
    query = urlencode({"next": "+2AA-", "q": "+2AA-"})
    for charset in CHARSETS:
        kind = f"text/plain; charset={charset}"
        yield f"{kind} ?{query}", f"{path}?{query}", b"", kind
