from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from analytics import contracts as c
from analytics.__main__ import main
from tests.analytics.lakes import two_epochs

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["lag", "--output", "/out"], "--lake is missing"),
        (["lag", "--lake", "/lake"], "--output is missing"),
        (["lag", "--lake", "/l", "--output", "/o", "--since", "noon"], "'noon'"),
        (["lag", "--lake", "/l", "--output", "/o", "--step", "0"], "a step of 0 s"),
        (
            ["lag", "--lake", "/l", "--output", "/o", "--options", "/none.json"],
            "--options /none.json",
        ),
    ],
)
def test_wrong_arguments_are_said_in_a_sentence(
    capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    assert main(arguments) == 2
    assert message in capsys.readouterr().err


def test_options_must_be_an_object(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / "options.json"
    file.write_text("[]")
    arguments = ["skew", "--lake", "/l", "--output", "/o", "--options", str(file)]
    assert main(arguments) == 2
    assert "must be an object" in capsys.readouterr().err


def test_an_unknown_job_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ending:
        main(["sum"])
    assert ending.value.code == 2
    assert "'sum'" in capsys.readouterr().err


def test_an_empty_lake_is_said(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert main(["lag", "--lake", str(tmp_path), "--output", str(tmp_path)]) == 1
    assert "holds no sample" in capsys.readouterr().err


@pytest.mark.spark
@pytest.mark.timeout(1800)
def test_a_job_prints_its_summary(
    spark: SparkSession, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    two_epochs(tmp_path / "lake")
    output = tmp_path / "out"
    ending = main(
        [
            "skew",
            *("--lake", str(tmp_path / "lake"), "--output", str(output)),
            *("--since", "2026-03-13T00:01:00Z", "--group", "settlement"),
        ]
    )
    printed = capsys.readouterr()
    assert ending == 0
    summary = json.loads(printed.out)
    assert summary["rows"].keys() == {c.LOAD_BY_MEMBER, c.SKEW_BY_TIME, c.STRATEGIES}
    assert summary == json.loads((output / c.SUMMARY).read_text())
    assert "100% done" in printed.err
