"""Compile the catalogues of words, without the gettext tools.

The compiled files are kept in the repository, because `./rocketscope up` must not need
msgfmt; a test fails when one is older than its source. After changing words:
`manage.py makemessages -l zh_Hans --no-location` (this needs xgettext), fill in what
is new, then this command.
"""

from __future__ import annotations

import ast
import re
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

_MAGIC: Final = 0x950412DE
_STRING: Final = re.compile(r'^(msgid_plural|msgid|msgstr(?:\[\d+\])?)?\s*(".*")$')


class Command(BaseCommand):
    help = "Compile every django.po into the django.mo beside it."

    def handle(self, *_args: Any, **_options: Any) -> None:
        for source in catalog_sources():
            compiled = compile_catalog(source.read_text("utf-8"), str(source))
            source.with_suffix(".mo").write_bytes(compiled)
            self.stdout.write(str(source.with_suffix(".mo")))


def catalog_sources() -> list[Path]:
    folders = [Path(folder) for folder in settings.LOCALE_PATHS]
    return sorted(path for folder in folders for path in folder.rglob("django.po"))


def compile_catalog(text: str, name: str) -> bytes:
    """Return the bytes of a .mo file; untranslated and fuzzy entries are left out."""
    messages: dict[bytes, bytes] = {}
    for entry in re.split(r"\n\s*\n", text):
        if "fuzzy" in "".join(re.findall(r"^#,.*$", entry, flags=re.MULTILINE)):
            continue
        pairs = list(_fields(entry, name))
        fields = dict(pairs)
        if "msgid" not in fields:
            continue
        if len(fields) < len(pairs):
            message = fields["msgid"]
            raise CommandError(f"{name}: no empty line before {message!r}")
        key = "\0".join(filter(None, (fields["msgid"], fields.get("msgid_plural"))))
        forms = [value for field, value in fields.items() if field.startswith("msgstr")]
        if key.encode() in messages:
            raise CommandError(f"{name}: {key!r} is there twice")
        if all(forms):
            messages[key.encode()] = "\0".join(forms).encode()
    return _packed(sorted(messages.items()))


def _fields(entry: str, name: str) -> Iterator[tuple[str, str]]:
    """Yield keyword and joined text of one entry, in its order."""
    keyword, parts = "", list[str]()
    for line in entry.splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        found = _STRING.match(line.strip())
        if found is None or not (found[1] or keyword):
            raise CommandError(f"{name}: cannot read {line!r}")
        if found[1]:
            if keyword:
                yield keyword, "".join(parts)
            keyword, parts = found[1], []
        parts.append(str(ast.literal_eval(found[2])))
    if keyword:
        yield keyword, "".join(parts)


def _packed(messages: list[tuple[bytes, bytes]]) -> bytes:
    """Lay out header, both tables of (length, offset), then all strings with NUL."""
    count = len(messages)
    strings, table = b"", list[tuple[int, int]]()
    start = 28 + 16 * count
    for text in [key for key, _ in messages] + [value for _, value in messages]:
        table.append((len(text), start + len(strings)))
        strings += text + b"\0"
    header = struct.pack("<7I", _MAGIC, 0, count, 28, 28 + 8 * count, 0, start)
    return header + b"".join(struct.pack("<2I", *row) for row in table) + strings
