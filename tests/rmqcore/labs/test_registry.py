from string import Formatter

import pytest

from rmqcore.errors import ArgumentError
from rmqcore.labs import LABS, Lab, lab_named
from rmqcore.labs.steps import EVERYWHERE


def test_every_lab_there_should_be() -> None:
    wanted = ["F1", "F2", "F2b", "F3", "F3b", "F4", "F4b", "F5", "F6", "F7", "F8"]
    assert list(LABS) == wanted
    assert [lab.name for lab in LABS.values()] == wanted


def test_case_does_not_matter() -> None:
    assert lab_named("f2B") is LABS["F2b"]


def test_an_unknown_lab_is_named_with_those_there_are() -> None:
    with pytest.raises(
        ArgumentError, match="unknown lab 'F9'; the known ones are F1, F2, F2b"
    ):
        lab_named("F9")


@pytest.mark.parametrize("lab", LABS.values(), ids=tuple(LABS))
def test_texts_are_sentences_with_named_params_only(lab: Lab) -> None:
    assert not lab.texts.keys() & EVERYWHERE.keys()
    for text in lab.texts.values():
        assert text.endswith(".")
        names = [name for _, name, _, _ in Formatter().parse(text) if name is not None]
        assert all(name.isidentifier() for name in names)


@pytest.mark.parametrize("lab", LABS.values(), ids=tuple(LABS))
def test_a_parameter_that_is_not_there_or_out_of_range_is_named(lab: Lab) -> None:
    with pytest.raises(ArgumentError, match=f"{lab.name} has no 'speed', it has"):
        lab.parameters_of({"speed": 1})
    name = next(iter(lab.parameters.__dataclass_fields__))  # type: ignore[attr-defined]
    with pytest.raises(ArgumentError, match=f"{name} is 100000, allowed"):
        lab.parameters_of({name: 100_000})
