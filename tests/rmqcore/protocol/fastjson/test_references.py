import pytest

from rmqcore.errors import BodyError
from rmqcore.protocol.fastjson import loads
from rmqcore.protocol.fastjson.references import resolve_references
from tests.rmqcore.protocol.captured import java_text


def test_the_reference_that_java_wrote_is_replaced() -> None:
    value = loads(java_text("BrokerStatsData(315)"))
    day = {"avgpt": 0.2, "sum": 1, "tps": 0.1}
    assert value == {"statsDay": day, "statsHour": day, "statsMinute": day}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"a":{"b":1},"c":{"$ref":"$.a"}}', {"a": {"b": 1}, "c": {"b": 1}}),
        ('{"a":{"b":7},"c":[{"$ref":"$.a.b"}]}', {"a": {"b": 7}, "c": [7]}),
        (
            '{"a":[[1,{"x":2}]],"c":{"$ref":"$.a[0][1]"}}',
            {"a": [[1, {"x": 2}]], "c": {"x": 2}},
        ),
        (
            '{"a":{0:{"x":2}},"c":{"$ref":"$.a[0]"}}',
            {"a": {0: {"x": 2}}, "c": {"x": 2}},
        ),
        (
            r'{"%R%g":{"x":1},"c":{"$ref":"$.\\%R\\%g"}}',
            {"%R%g": {"x": 1}, "c": {"x": 1}},
        ),
        (r'{"a.b":{"x":1},"c":{"$ref":"$.a\\.b"}}', {"a.b": {"x": 1}, "c": {"x": 1}}),
        ('[{"x":1},{"$ref":"$[0]"}]', [{"x": 1}, {"x": 1}]),
        ("'$ref'", "$ref"),
        ('{"$ref":"$.a","other":1}', {"$ref": "$.a", "other": 1}),
        ('{"a":{"$ref":5}}', {"a": {"$ref": 5}}),
    ],
)
def test_references_are_replaced_by_what_they_name(text: str, expected: object) -> None:
    assert loads(text) == expected


@pytest.mark.parametrize(
    ("path", "expected"),
    [("$", None), ("@", None), ("..", None), ("$.a", None), ("$.a.b", None)],
)
def test_a_reference_to_what_is_around_it_becomes_none(
    path: str, expected: None
) -> None:
    value = loads(f'{{"a":{{"b":{{"c":{{"$ref":"{path}"}}}}}}}}')
    assert value == {"a": {"b": {"c": expected}}}


def test_the_parent_of_a_member_of_the_whole_is_the_whole() -> None:
    assert loads('{"a":{"$ref":".."}}') == {"a": None}


def test_objects_are_shared_not_copied() -> None:
    value = loads('{"a":{"b":1},"c":{"$ref":"$.a"}}')
    assert value["a"] is value["c"]


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("$.z", "names nothing"),
        ("$.a[0]", "names nothing"),
        ("$.l[5]", "names nothing"),
        ("$.n.x", "names nothing"),
        ("$[0]", "names nothing"),
        ("$.", "broken at 1"),
        ("$.a..b", "broken at 3"),
        ("$x", "broken at 1"),
        ("a.b", "unknown form"),
        ("", "unknown form"),
    ],
)
def test_a_reference_that_names_nothing_is_told(path: str, message: str) -> None:
    with pytest.raises(BodyError, match=f"reference .*{message}"):
        loads(f'{{"a":{{}},"l":[1],"n":5,"c":{{"$ref":"{path}"}}}}')


def test_two_objects_that_name_each_other_are_refused() -> None:
    text = '{"a":{"x":{"$ref":"$.b"}},"b":{"x":{"$ref":"$.a"}}}'
    with pytest.raises(BodyError, match="levels by references"):
        loads(text)


def test_growth_by_references_is_bounded() -> None:
    rows = ['"r0":[1,1,1,1,1,1,1,1,1,1]']
    rows += [
        f'"r{i}":[' + ",".join([f'{{"$ref":"$.r{i - 1}"}}'] * 10) + "]"
        for i in range(1, 8)
    ]
    with pytest.raises(BodyError, match=r"grows to .* values"):
        loads("{" + ",".join(rows) + "}")


def test_depth_by_references_is_bounded() -> None:
    deep = "[" * 60 + "]" * 60
    chained = "[" * 60 + '{"$ref":"$.a"}' + "]" * 60
    with pytest.raises(BodyError, match="and 121 levels by references"):
        loads(f'{{"a":{deep},"b":{chained}}}')


def test_depth_of_the_text_is_bounded() -> None:
    with pytest.raises(BodyError, match="nested more than 100 levels"):
        loads('{"a":{"$ref":"$"},"b":' + "[" * 101 + "]" * 101 + "}")


def test_a_scalar_has_no_references() -> None:
    assert resolve_references(5) == 5
