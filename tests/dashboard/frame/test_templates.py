"""What holds for every template and style sheet, read as text."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
TEMPLATES = sorted((ROOT / "templates").rglob("*.html"))
# A report as one file is opened from disk: what it needs stands in it.
PAGES = [path for path in TEMPLATES if path.name != "file.html"]
SHEETS = sorted((ROOT / "static" / "css").rglob("*.css"))
SCRIPTS = [
    path
    for path in sorted((ROOT / "static" / "js").rglob("*.js"))
    if "vendor" not in path.parts
]


def name(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("path", PAGES, ids=name)
def test_a_template_has_no_inline_script_or_style(path: Path) -> None:
    text = path.read_text()
    assert not re.search(r"\sstyle=", text)
    assert "<style" not in text
    assert not re.search(r"\son[a-z]+=", text)
    for tag in re.findall(r"<script[^>]*>", text):
        assert "src=" in tag, tag


@pytest.mark.parametrize("path", TEMPLATES, ids=name)
def test_every_word_of_a_template_can_be_translated(path: Path) -> None:
    """Outside tags, comments and Django's own, no run of two letters is left."""
    text = re.sub(
        r"{%\s*blocktranslate.*?{%\s*endblocktranslate\s*%}",
        "",
        path.read_text(),
        flags=re.S,
    )
    text = re.sub(r"<(code|kbd|title)\b.*?</\1>", "", text, flags=re.S)
    text = re.sub(r"{#.*?#}|{%.*?%}|{{.*?}}|<!--.*?-->", "", text, flags=re.S)
    text = re.sub(r"<[^>]*>|&\w+;", "", text, flags=re.S)
    left = set(re.findall(r"[^\W\d_]{2,}", text))
    assert left <= {
        "RocketScope",
        "CONFIG",
        "EN",
        "中文",
        "中文English",
        "CSV",
        "JSON",
        "Java",
        "Python",
        "XLSX",
        "UTC",
        "TLS",
        "ms",
        "Gini",
        "BROADCASTING",
        "DingTalk",
        "Feishu",
        "Lark",
        "WeCom",
        "Slack",
        "ROCKETSCOPE",
        "CLUSTERS",
        "Esc",
    }


@pytest.mark.parametrize("path", SHEETS, ids=name)
def test_a_style_sheet_takes_its_colours_from_the_tokens(path: Path) -> None:
    text = re.sub(r"/\*.*?\*/", "", path.read_text(), flags=re.S)
    assert "!important" not in text
    if path.name == "tokens.css":
        return
    assert not re.search(r"#[0-9a-fA-F]{3,8}\b", text)
    assert not re.search(r"^\s*#[a-z]", text, flags=re.M), "a selector by id"
    known = set(
        re.findall(r"(--[\w-]+):", (ROOT / "static/css/tokens.css").read_text())
    )
    own = set(re.findall(r"(--[\w-]+):", text)) | {"--o", "--oi"}
    assert set(re.findall(r"var\((--[\w-]+)", text)) <= known | own


@pytest.mark.parametrize("path", SCRIPTS, ids=name)
def test_a_script_is_short_and_parses_nothing_as_html(path: Path) -> None:
    text = path.read_text()
    assert len(text.splitlines()) <= 180
    assert "innerHTML =" not in text
    assert "eval(" not in text
    assert text.startswith("/**"), "a module opens with what it is"
