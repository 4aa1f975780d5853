"""The shipped board is one that Grafana loads, by Grafana's own types."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest

from tests.scripts import MODULES, install
from tests.support.launched import ROOT

BOARD: Final = ROOT / "deploy/grafana/rocketscope.json"
COLUMNS: Final = 24
# JSON has strings where Grafana's types have members of enumerations.
AS_TYPED: Final = """
import type {{ Dashboard }} from "@grafana/schema";
type Plain<T> = T extends string ? `${{T}}`
  : T extends (infer U)[] ? Plain<U>[]
  : T extends object ? {{ [K in keyof T]: Plain<T[K]> }} : T;
export const board: Plain<Dashboard> = {board};
"""

Check = Callable[[dict[str, Any]], subprocess.CompletedProcess[str]]


@pytest.fixture
def board() -> dict[str, Any]:
    made: dict[str, Any] = json.loads(BOARD.read_text("utf-8"))
    return made


@pytest.fixture
def check(tmp_path: Path) -> Check:
    """Compile a board as a value of Grafana's type of dashboards."""
    for tool in ("node", "npm"):
        if shutil.which(tool) is None:
            pytest.skip(f"{tool} is missing; it runs the compiler of TypeScript")
    assert install() == 0
    types = MODULES / "@grafana/schema/dist/types/index.d.ts"
    options = {
        "strict": True,
        "noEmit": True,
        "module": "preserve",
        "skipLibCheck": True,
        "types": [],
        "paths": {"@grafana/schema": [str(types)]},
    }
    project = tmp_path / "tsconfig.json"
    project.write_text(json.dumps({"compilerOptions": options, "files": ["board.ts"]}))

    def checked(board: dict[str, Any]) -> subprocess.CompletedProcess[str]:
        text = AS_TYPED.format(board=json.dumps(board))
        (tmp_path / "board.ts").write_text(text, "utf-8")
        return subprocess.run(
            [MODULES / ".bin/tsc", "--project", project],
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    return checked


def test_the_board_is_of_the_type_of_dashboards(
    board: dict[str, Any], check: Check
) -> None:
    checked = check(board)
    assert checked.returncode == 0, checked.stdout


def test_another_board_is_not(board: dict[str, Any], check: Check) -> None:
    board["panels"][1]["gridPos"]["w"] = "5"
    checked = check(board)
    assert checked.returncode != 0
    assert "Type 'string' is not assignable to type 'number'" in checked.stdout
    board["panels"][1]["gridPos"]["w"] = 5
    board["refrech"] = board.pop("refresh")
    assert '"refrech"' in check(board).stdout


def test_panels_have_numbers_of_their_own_and_do_not_overlap(
    board: dict[str, Any],
) -> None:
    panels = board["panels"]
    assert len({panel["id"] for panel in panels}) == len(panels)
    taken: set[tuple[int, int]] = set()
    for panel in panels:
        at = panel["gridPos"]
        cells = {
            (x, y)
            for x in range(at["x"], at["x"] + at["w"])
            for y in range(at["y"], at["y"] + at["h"])
        }
        assert not cells & taken, panel["title"]
        assert max(x for x, _y in cells) < COLUMNS, panel["title"]
        taken |= cells


def test_every_panel_asks_the_chosen_data_source(board: dict[str, Any]) -> None:
    sources = [
        target["datasource"]["uid"]
        for panel in board["panels"]
        for target in panel.get("targets", ())
    ]
    assert set(sources) == {"${datasource}"}
