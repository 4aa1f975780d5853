import pytest

from rmqcore.protocol.fastjson import FrozenObject


def test_equal_members_make_equal_keys_in_any_order() -> None:
    one = FrozenObject({"a": 1, "b": [1, {"c": 2}]})
    other = FrozenObject({"b": [1, {"c": 2}], "a": 1})
    assert one == other
    assert hash(one) == hash(other)
    assert {one: "x"}[other] == "x"


def test_it_is_a_mapping_with_frozen_insides() -> None:
    key = FrozenObject({"a": 1, "b": [1, {"c": 2}]})
    assert dict(key) == {"a": 1, "b": (1, FrozenObject({"c": 2}))}
    assert len(key) == 2
    assert "a" in key
    assert key.get("z") is None
    assert repr(FrozenObject({"a": 1})) == "FrozenObject({'a': 1})"


def test_it_differs_from_a_plain_dict_and_cannot_be_changed() -> None:
    key = FrozenObject({"a": 1})
    assert key != {"a": 1}
    assert key != FrozenObject({"a": 2})
    with pytest.raises(TypeError):
        key["a"] = 2  # type: ignore[index]
