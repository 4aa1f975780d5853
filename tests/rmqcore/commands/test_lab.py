import json

import pytest

from rmqcore.__main__ import main
from rmqcore.labs import LABS


def test_the_labs_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lab", "--list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == list(LABS)


def test_a_lab_tells_its_steps_and_what_was_seen(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["lab", "f1", "--set", "messages=4"]) == 0
    output = capsys.readouterr().out
    assert output.startswith("F1: A clustering group")
    assert "c1 joins group" in output
    assert "seen      4 messages are consumed 4 times in all" in output
    assert "NOT SEEN" not in output


def test_a_result_is_one_json_object(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lab", "F1", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["seen"] is True
    assert result["evidence"]["produced"] == 10
    assert len(result["evidence"]["deliveries"]) == 10


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ([], "no lab is named; the known ones are F1, F2,"),
        (["F99"], "unknown lab 'F99'"),
        (["F1", "--set", "messages"], "'messages' is not of the form NAME=NUMBER"),
        (["F1", "--set", "messages=many"], "'messages=many' is not of the form"),
        (["F1", "--set", "messages=0"], "messages is 0, allowed 1 to 1000"),
        (["F1", "--nameserver", "127.0.0.1:1"], "127.0.0.1:1"),
    ],
)
def test_bad_input_is_named(
    arguments: list[str], reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["lab", *arguments]) == 2
    assert reason in capsys.readouterr().err
