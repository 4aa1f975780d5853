from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from django.contrib.staticfiles import finders
from django.templatetags.static import static
from django.test import Client

from dashboard.config.assets import without_comments

ROOT = Path(__file__).resolve().parents[3]


def test_files_may_be_kept_for_a_year_by_our_pages_only() -> None:
    answer = Client().get(static("css/tokens.css"))
    assert answer.status_code == 200
    assert "max-age=31536000" in answer["Cache-Control"]
    assert answer["Content-Type"].startswith("text/css")
    assert not answer.has_header("Access-Control-Allow-Origin")
    assert b"--accent" in answer.content


def test_a_file_that_has_not_changed_is_not_sent_again() -> None:
    address = static("js/frame/app.js")
    changed = Client().get(address)["Last-Modified"]
    again = Client().get(address, headers={"if-modified-since": changed})
    assert (again.status_code, again.content) == (304, b"")


@pytest.mark.parametrize("name", ["../settings.py", "css/nothing.css"])
def test_what_is_not_there_is_not_found(db: None, name: str) -> None:
    assert Client().get(f"{static('css/')}{name}").status_code == 404


@pytest.mark.parametrize("path", sorted((ROOT / "static" / "js").rglob("*.js")))
def test_modules_import_only_what_exists(path: Path) -> None:
    for line in path.read_text().splitlines():
        if not line.startswith(("import ", "} from ", "export ")) or '"' not in line:
            continue
        name = line.rpartition('from "')[2].rstrip('";')
        if name.startswith("."):
            assert (path.parent / name).resolve().is_file(), f"{path.name}: {name}"


def test_finders_see_our_files() -> None:
    assert finders.find("img/icons.svg")


OURS = sorted(
    path
    for kind in ("js", "css")
    for path in (ROOT / "static" / kind).rglob(f"*.{kind}")
)


@pytest.mark.parametrize("path", OURS, ids=lambda path: path.name)
def test_no_text_of_several_lines_looks_like_a_comment(path: Path) -> None:
    text = path.read_text()
    kept = without_comments(text.encode()).decode().splitlines(keepends=True)
    place, in_text = 0, False
    lines = text.splitlines(keepends=True)
    for line in kept:
        while lines[place] != line:
            assert not in_text, f"left out of a text: {lines[place]}"
            place += 1
        place += 1
        in_text ^= line.count("`") % 2 == 1


def test_code_beside_a_comment_stays() -> None:
    code = b"/** @type {X} */ (a);\n/* b */\n  // c\nd; // e\n"
    assert without_comments(code) == b"/** @type {X} */ (a);\nd; // e\n"


def test_comments_are_left_out_of_what_is_compressed() -> None:
    address = static("js/frame/app.js")
    answer = Client().get(address, headers={"accept-encoding": "gzip"})
    sent = gzip.decompress(answer.content)
    whole = (ROOT / "static" / "js" / "frame" / "app.js").read_bytes()
    assert sent == without_comments(whole) != whole
    assert Client().get(address).content == whole
