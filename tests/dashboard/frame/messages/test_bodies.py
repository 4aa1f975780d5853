"""The forms in which a body is shown, with masks and with decoders of others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from dashboard.frame.messages import decoders
from dashboard.frame.messages.bodies import MOST_SHOWN, hex_lines, view_body
from dashboard.frame.messages.masks import Masks
from tests.dashboard.messages.made import stored

NO_MASKS = Masks([])


def names(body: bytes, masks: Masks = NO_MASKS) -> list[str]:
    return [form.name for form in view_body(stored(body), masks).forms]


def test_json_is_shown_on_lines_and_as_it_is() -> None:
    view = view_body(stored(b'{"a":[1,"\xe4\xbb\x98"]}'), NO_MASKS)
    assert [form.name for form in view.forms] == ["JSON", "text", "hex"]
    assert view.forms[0].text == '{\n  "a": [\n    1,\n    "付"\n  ]\n}'
    assert view.forms[1].text == '{"a":[1,"付"]}'


@pytest.mark.parametrize(
    ("body", "forms"),
    [
        (b"plain", ["text", "hex"]),
        (b"\xff\x00", ["hex"]),
        (b"", ["text", "hex"]),
        (b"{not json", ["text", "hex"]),
        (b"[" * 100_000, ["text", "hex"]),
    ],
)
def test_a_body_has_the_forms_that_it_can_be_read_in(
    body: bytes, forms: list[str]
) -> None:
    assert names(body) == forms


def test_a_masked_body_is_shown_as_json_only() -> None:
    view = view_body(stored(b'{"card": "4111", "n": 1}'), Masks(["card"]))
    assert [form.name for form in view.forms] == ["JSON"]
    assert "4111" not in view.forms[0].text
    assert view.rules == ["card"]
    assert names(b'{"n": 1}', Masks(["card"])) == ["JSON", "text", "hex"]


def test_hexadecimal_has_offsets_and_letters() -> None:
    (first, second) = hex_lines(b"0123456789abcdef\xff")
    assert first.startswith("00000000  30 31 32")
    assert first.endswith("  0123456789abcdef")
    assert second == f"00000010  {'ff':<47}  ."


def test_a_long_body_is_cut_and_says_so() -> None:
    view = view_body(stored(b"x" * (MOST_SHOWN + 1)), NO_MASKS)
    assert view.cut
    assert max(len(form.text) for form in view.forms) <= MOST_SHOWN


def test_decoders_come_first_are_masked_and_may_fail(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def good(topic: str, body: bytes, _properties: Mapping[str, str]) -> Any:
        return {"topic": topic, "card": body.decode()}

    def passing(_topic: str, _body: bytes, _properties: Mapping[str, str]) -> Any:
        return None

    def broken(_topic: str, _body: bytes, _properties: Mapping[str, str]) -> Any:
        raise ValueError("no such schema")

    installed = {"avro": good, "other": passing, "proto": broken}
    monkeypatch.setattr(decoders, "installed", lambda: installed)
    view = view_body(stored(b"4111"), Masks(["card"]))
    assert [form.name for form in view.forms] == ["avro", "proto"]
    assert "orders" in view.forms[0].text
    assert "4111" not in view.forms[0].text
    assert view.forms[1].error == "ValueError: no such schema"


def test_without_packages_of_others_there_is_no_decoder() -> None:
    assert dict(decoders.installed()) == {}
