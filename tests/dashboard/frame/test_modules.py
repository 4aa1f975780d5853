"""That pages name every module that their scripts import."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from dashboard.frame.modules import imported, script

ROOT = Path(__file__).resolve().parents[3]
STATIC = ROOT / "static"
NAMED = sorted(
    {
        name
        for path in (ROOT / "templates").rglob("*.html")
        for name in re.findall(r'module_script "([^"]+)"', path.read_text("utf-8"))
    }
)


def test_pages_name_modules() -> None:
    assert len(NAMED) > 15
    others = [
        path.name
        for path in (ROOT / "templates").rglob("*.html")
        if '<script type="module"' in path.read_text("utf-8")
    ]
    assert others == []


@pytest.mark.parametrize("name", NAMED)
def test_all_that_a_module_imports_is_loaded_with_it(name: str) -> None:
    found = imported(f"js/{name}")
    assert len(set(found)) == len(found)
    for each in (f"js/{name}", *found):
        path = STATIC / each
        text = re.sub(r"/\*.*?\*/|^\s*//.*?$", "", path.read_text("utf-8"), flags=re.S)
        for quoted in re.findall(
            r'\bfrom\s*"(\.[^"]+)"|^import "(\.[^"]+)"', text, re.M
        ):
            other = (path.parent / "".join(quoted)).resolve()
            assert str(other.relative_to(STATIC)) in {f"js/{name}", *found}
    drawn = script(name)
    assert drawn.count('<link rel="modulepreload" href="/static/') == len(found)
    assert drawn.endswith(f'/js/{name}"></script>')


def test_a_module_that_does_not_exist_is_named() -> None:
    with pytest.raises(LookupError, match="js/frame/no_such"):
        script("frame/no_such.js")
