"""Compile the translation catalogues with Babel, which only development needs.

The compiled files are kept in the repository, because `./rocketscope up` must need
neither Babel nor msgfmt; a test fails when one is older than its source. After changing
words: `manage.py makemessages -l zh_Hans --no-location` (this needs xgettext), fill in
what is new, then run this command.
"""

from __future__ import annotations

import io
import re
from pathlib import Path
from typing import Any, Final

from django.conf import settings
from django.core.management.base import CommandError

from dashboard.management.base import OwnCommand

_MESSAGE: Final = re.compile(r'^msgid (".*"(?:\n".*")*)$', re.MULTILINE)


class Command(OwnCommand):
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
    """Return the bytes of a .mo file; untranslated and fuzzy entries are left out.

    Raises `CommandError` for a text that is not a catalogue or has a message twice.
    """
    from babel.messages.mofile import write_mo

    compiled = io.BytesIO()
    write_mo(compiled, read_catalog(text, name))
    return compiled.getvalue()


def read_catalog(text: str, name: str) -> Any:
    """Return a text as Babel's `Catalog`; raises `CommandError` as compiling does."""
    from babel.messages.pofile import PoFileError, read_po

    seen: set[str] = set()
    for message in _MESSAGE.findall(text):
        if message in seen:  # Babel would silently take the first
            said = message.replace("\n", " ")
            raise CommandError(f"{name}: msgid {said} is given twice")
        seen.add(message)
    try:
        return read_po(io.BytesIO(text.encode()), abort_invalid=True)
    except PoFileError as error:
        raise CommandError(f"{name}: {error}") from error
