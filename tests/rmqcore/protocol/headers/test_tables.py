from dataclasses import fields

import pytest

from rmqcore.protocol import headers
from rmqcore.protocol.codes import RequestCode
from rmqcore.protocol.headers import (
    HEADERLESS_CODES,
    REQUEST_HEADERS,
    RESPONSE_HEADERS,
    SHORT_NAMED_CODES,
    UNSPOKEN_CODES,
    Header,
    RequestHeader,
    TopicRequestHeader,
)
from rmqcore.protocol.headers.codec import wire_fields

HEADER_CLASSES = {
    value
    for name in headers.__all__
    if isinstance(value := getattr(headers, name), type) and issubclass(value, Header)
} - {Header, RequestHeader, TopicRequestHeader}


def test_every_code_stands_in_exactly_one_table() -> None:
    tables = [set(REQUEST_HEADERS), HEADERLESS_CODES, UNSPOKEN_CODES]
    assert sum(map(len, tables)) == len(RequestCode)
    assert set().union(*tables) == set(RequestCode)


def test_every_header_class_is_used_by_a_table() -> None:
    used = {*REQUEST_HEADERS.values(), *RESPONSE_HEADERS.values()}
    assert used == HEADER_CLASSES


def test_requests_and_responses_are_kept_apart() -> None:
    assert all(issubclass(cls, RequestHeader) for cls in REQUEST_HEADERS.values())
    assert not any(issubclass(cls, RequestHeader) for cls in RESPONSE_HEADERS.values())
    assert set(RESPONSE_HEADERS) <= set(REQUEST_HEADERS) | HEADERLESS_CODES


@pytest.mark.parametrize("cls", sorted(HEADER_CLASSES, key=lambda cls: cls.__name__))
def test_every_header_class_has_a_plan_with_names_of_its_own(cls: type[Header]) -> None:
    plan = wire_fields(cls)
    assert [field.attribute for field in plan] == [item.name for item in fields(cls)]
    assert len({field.name for field in plan}) == len(plan)


@pytest.mark.parametrize("code", sorted(SHORT_NAMED_CODES))
def test_short_named_codes_have_short_names(code: int) -> None:
    names = {field.name for field in wire_fields(REQUEST_HEADERS[code], True)}
    assert {chr(letter) for letter in range(ord("a"), ord("n") + 1)} <= names


def test_the_public_names_are_sorted_and_exist() -> None:
    assert all(hasattr(headers, name) for name in headers.__all__)
    assert len(set(headers.__all__)) == len(headers.__all__)
