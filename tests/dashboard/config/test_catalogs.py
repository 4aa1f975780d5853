from __future__ import annotations

import gettext
import io
import re
from pathlib import Path

import pytest
from django.core.management import CommandError
from django.utils import translation

from dashboard.management.commands.compile_catalogs import (
    catalog_sources,
    compile_catalog,
)
from dashboard.wording.words import WORDS

ROOT = Path(__file__).resolve().parents[3]
SOURCES = catalog_sources()
# Characters, and the full width of brackets and stops.
CHINESE = re.compile(r"[\u3000-\u303f\u4e00-\u9fff\uff00-\uffef]")
HEAD = (
    'msgid ""\nmsgstr ""\n"Content-Type: text/plain; charset=UTF-8\\n"\n'
    '"Plural-Forms: nplurals=2; plural=n != 1;\\n"\n\n'
)


def read(text: str) -> gettext.GNUTranslations:
    return gettext.GNUTranslations(io.BytesIO(compile_catalog(HEAD + text, "here")))


def test_there_is_a_catalog() -> None:
    assert [path.parts[-3] for path in SOURCES] == ["zh_Hans"]


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.parts[-3])
def test_what_is_compiled_follows_its_source(source: Path) -> None:
    expected = compile_catalog(source.read_text("utf-8"), str(source))
    assert source.with_suffix(".mo").read_bytes() == expected, (
        "run manage.py compile_catalogs"
    )


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.parts[-3])
def test_nothing_is_left_untranslated(source: Path) -> None:
    text = source.read_text("utf-8")
    assert not re.findall(r'^msgid "(.+)"\nmsgstr ""$', text, flags=re.MULTILINE)
    assert "fuzzy" not in text


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.parts[-3])
def test_a_translation_fills_in_the_same_values(source: Path) -> None:
    place = re.compile(r"%\(\w+\)s|%\{[^}]+\}|\{\w+\}")
    pairs = re.findall(
        r'^msgid "(.+)"\n(?:msgid_plural ".+"\n)?msgstr(?:\[0\])? "(.+)"$',
        source.read_text("utf-8"),
        flags=re.MULTILINE,
    )
    assert len(pairs) > 300
    for message, translated in pairs:
        assert sorted(place.findall(message)) == sorted(place.findall(translated))


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


@pytest.mark.parametrize("line", ["msgid broken", '"no keyword"'])
def test_a_line_that_cannot_be_read_is_named(line: str) -> None:
    with pytest.raises(CommandError, match="here: cannot read"):
        compile_catalog(line, "here")


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ('msgid "a"\nmsgstr "A"\nmsgid "b"\nmsgstr "B"\n', "no empty line before 'b'"),
        ('msgid "a"\nmsgstr "A"\n\nmsgid "a"\nmsgstr "B"\n', "'a' is there twice"),
    ],
)
def test_entries_that_ran_together_or_repeat_are_refused(text: str, error: str) -> None:
    with pytest.raises(CommandError, match=f"here: {error}"):
        compile_catalog(text, "here")


def test_every_word_of_the_templates_is_in_the_catalogs() -> None:
    known = set(re.findall(r'^msgid "(.+)"$', SOURCES[0].read_text("utf-8"), re.M))
    known |= joined_texts(SOURCES[0].read_text("utf-8"))
    missing = set()
    for path in sorted((ROOT / "templates").rglob("*.html")):
        texts = re.findall(r"{%\s*translate\s+(['\"])(.*?)\1", path.read_text())
        for _quote, text in texts:
            if text.replace('"', '\\"') not in known:
                missing.add(f"{path.name}: {text}")
    assert not missing


@pytest.mark.parametrize("room", WORDS)
def test_every_word_of_documents_and_scripts_is_in_the_catalogs(room: str) -> None:
    with translation.override("zh-hans"):
        missing = {
            key for key, text in WORDS[room].items() if not CHINESE.search(str(text))
        }
    assert missing <= {"rate_to", "lag_to", "brokers", "name_servers", "refused"}


def joined_texts(text: str) -> set[str]:
    """Return the messages that are written over several lines."""
    found = re.findall(r'^msgid ""\n((?:".*"\n)+)', text, re.M)
    return {"".join(re.findall(r'^"(.*)"$', lines, re.M)) for lines in found}
