from __future__ import annotations

import gettext
import io
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from babel.messages.extract import extract
from babel.messages.mofile import read_mo
from django.core.management import CommandError
from django.utils import translation
from django.utils.translation.template import templatize

from dashboard.management.commands.compile_catalogs import (
    catalog_sources,
    compile_catalog,
    read_catalog,
)
from dashboard.wording.words import WORDS, Counted

ROOT = Path(__file__).resolve().parents[3]
SOURCES = catalog_sources()
# Characters, and the full width of brackets and stops.
CHINESE = re.compile(r"[\u3000-\u303f\u4e00-\u9fff\uff00-\uffef]")
KEYWORDS: dict[str, Any] = {
    **dict.fromkeys(("_", "gettext", "gettext_lazy", "gettext_noop")),
    **dict.fromkeys(("ngettext", "ngettext_lazy"), (1, 2)),
}
HEAD = (
    'msgid ""\nmsgstr ""\n"Content-Type: text/plain; charset=UTF-8\\n"\n'
    '"Plural-Forms: nplurals=2; plural=n != 1;\\n"\n\n'
)


def read(text: str) -> gettext.GNUTranslations:
    return gettext.GNUTranslations(io.BytesIO(compile_catalog(HEAD + text, "here")))


def test_there_is_a_catalog() -> None:
    assert [path.parts[-3] for path in SOURCES] == ["zh_Hans"]


@pytest.fixture(params=SOURCES, ids=lambda path: path.parts[-3])
def source(request: pytest.FixtureRequest) -> Path:
    path: Path = request.param
    return path


@pytest.fixture
def catalog(source: Path) -> Any:
    return read_catalog(source.read_text("utf-8"), str(source))


def test_what_is_compiled_follows_its_source(source: Path) -> None:
    due = compile_catalog(source.read_text("utf-8"), str(source))
    assert words(source.with_suffix(".mo").read_bytes()) == words(due), (
        "run manage.py compile_catalogs"
    )


def words(compiled: bytes) -> list[tuple[Any, Any]]:
    """Return what is translated to what; not the head, which says when by what."""
    catalog = read_mo(io.BytesIO(compiled))
    return [(each.id, each.string) for each in catalog if each.id]


def test_nothing_is_left_untranslated(catalog: Any) -> None:
    assert not [each.id for each in catalog if each.id and not each.string]
    assert not [each.id for each in catalog if each.id and each.fuzzy]


def test_a_translation_fills_in_the_same_values(catalog: Any) -> None:
    place = re.compile(r"%\(\w+\)s|%\{[^}]+\}|\{\w+\}")
    assert len(catalog) > 300
    for message in catalog:
        # Chinese has one form, which stands for the English plural.
        said = message.id if isinstance(message.id, str) else message.id[1]
        whole = isinstance(message.string, str)
        translated = message.string if whole else message.string[0]
        assert sorted(place.findall(said)) == sorted(place.findall(translated))


def test_texts_of_several_lines_and_quotes_are_joined() -> None:
    found = read('msgid ""\n"say \\"a\\" "\n"and b"\nmsgstr "说\\n"\n"b"\n')
    assert found.gettext('say "a" and b') == "说\nb"


def test_plurals_are_compiled() -> None:
    found = read(
        'msgid "%(n)s day"\nmsgid_plural "%(n)s days"\n'
        'msgstr[0] "one"\nmsgstr[1] "more"\n'
    )
    assert found.ngettext("%(n)s day", "%(n)s days", 1) == "one"
    assert found.ngettext("%(n)s day", "%(n)s days", 2) == "more"


@pytest.mark.parametrize(
    "entry", ['msgid "a"\nmsgstr ""\n', '#, fuzzy\nmsgid "a"\nmsgstr "b"\n']
)
def test_what_is_not_translated_stays_as_it_was(entry: str) -> None:
    assert read(entry).gettext("a") == "a"


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("msgid broken", "missing msgstr"),
        ('"no keyword"', "but not in msgid"),
        ('msgid "a"\nmsgstr "A"\n\nmsgid "a"\nmsgstr "B"\n', '"a" is given twice'),
        ('msgid ""\n"a"\nmsgstr "A"\nmsgid ""\n"a"\nmsgstr ""\n', "is given twice"),
    ],
)
def test_what_cannot_be_read_or_repeats_is_refused(text: str, error: str) -> None:
    with pytest.raises(CommandError, match=f"here: .*{error}"):
        compile_catalog(text, "here")


def test_every_text_of_the_pages_is_in_the_catalogs(catalog: Any) -> None:
    missing = {
        f"{path.relative_to(ROOT)}: {text}"
        for path, text in (*texts_of_modules(), *texts_of_templates())
        if text not in catalog
    }
    assert not missing


def texts_of_modules() -> Iterator[tuple[Path, str]]:
    """Yield what modules of the dashboard let translate, also under another name."""
    for path in sorted((ROOT / "dashboard").rglob("*.py")):
        source = path.read_text("utf-8")
        if "gettext" not in source:
            continue
        renamed = dict(re.findall(r"import (\w*gettext\w*) as (\w+)", source))
        keywords = KEYWORDS | {new: KEYWORDS[old] for old, new in renamed.items()}
        for text in extracted(source, keywords):
            yield path, text


def texts_of_templates() -> Iterator[tuple[Path, str]]:
    for path in sorted((ROOT / "templates").rglob("*.html")):
        code = templatize(path.read_text("utf-8"), origin=str(path))
        # What is left of the markup is indented as no module may be.
        source = "\n".join(line.strip() for line in code.split("\n"))
        for text in extracted(source, KEYWORDS):
            yield path, text


def extracted(source: str, keywords: Any) -> Iterator[str]:
    file = io.BytesIO(source.encode())
    for _line, found, _comments, _context in extract("python", file, keywords):
        yield found if isinstance(found, str) else found[0]


@pytest.mark.parametrize("room", WORDS)
def test_every_word_of_documents_and_scripts_is_in_the_catalogs(room: str) -> None:
    with translation.override("zh-hans"):
        missing = {
            key
            for key, text in WORDS[room].items()
            if not CHINESE.search(
                text.form(1) if isinstance(text, Counted) else str(text)
            )
        }
    assert missing <= {"rate_to", "lag_to", "brokers", "name_servers", "refused"}
