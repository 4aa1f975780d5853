"""Make the fonts of PDF reports: a part of Noto Sans CJK SC, as TrueType.

The result is kept in the repository (`dashboard/reports/writers/fonts`), so nobody who
runs RocketScope needs this command. The regular face has Latin and every character of
GB 2312; the bold one, for headings, has Latin and the characters of RocketScope's own
texts. Outlines become quadratic, because every PDF reader can search and copy text in
such fonts.
"""

from __future__ import annotations

import re
from argparse import ArgumentParser
from pathlib import Path
from typing import Any, Final

from django.core.management.base import CommandError

from dashboard.management.base import OwnCommand
from dashboard.reports.writers.fonts import BOLD, FOLDER, REGULAR

from .compile_catalogs import catalog_sources

FAMILY: Final = "Noto Sans CJK SC"
_KEPT_NAMES: Final = [0, 1, 2, 3, 4, 5, 6, 13, 14]
_MOST_ERROR: Final = 1.0
"""Largest deviation of an outline, in units of 1/1000 em."""

_GB_2312_ROWS: Final = (*range(0xA1, 0xAA), *range(0xB0, 0xF8))


class Command(OwnCommand):
    help = "Make the fonts of PDF reports from Noto Sans CJK (SIL OFL 1.1)."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("regular", type=Path, help="NotoSansCJK-Regular.ttc")
        parser.add_argument("bold", type=Path, help="NotoSansCJK-Bold.ttc")

    def handle(self, *_args: Any, **options: Any) -> None:
        faces = (
            (options["regular"], REGULAR, latin() | gb_2312()),
            (options["bold"], BOLD, latin() | characters_of_our_words()),
        )
        for source, name, characters in faces:
            write_subset(source, FOLDER / name, characters)
            self.stdout.write(f"{name}: {(FOLDER / name).stat().st_size:,} bytes")


def latin() -> set[int]:
    """Return Latin letters and the signs that reports use."""
    signs = "‐‑‒–—‘’“”…•−×≥≤→★●○▲✓"
    return {*range(0x20, 0x7F), *range(0xA0, 0x180), *map(ord, signs)}


def gb_2312() -> set[int]:
    """Return every character of GB 2312, levels 1 and 2 and its signs."""
    found: set[int] = set()
    for row in _GB_2312_ROWS:
        text = b"".join(bytes([row, cell]) for cell in range(0xA1, 0xFF))
        found.update(map(ord, text.decode("gb2312", errors="ignore")))
    return found


def characters_of_our_words() -> set[int]:
    """Return the Chinese characters in the message catalogues."""
    text = "".join(source.read_text("utf-8") for source in catalog_sources())
    return set(map(ord, re.findall(r"[\u3000-\u9fff\uff00-\uffef]", text)))


def write_subset(source: Path, target: Path, characters: set[int]) -> None:
    """Write the glyphs of some characters from a collection's face as TrueType."""
    from fontTools import subset

    options = subset.Options(
        layout_features=[], hinting=False, name_IDs=_KEPT_NAMES, notdef_outline=True
    )
    options.drop_tables += ["VORG", "vhea", "vmtx", "BASE", "DSIG"]
    font = _face(source)
    subsetter = subset.Subsetter(options)
    subsetter.populate(unicodes=characters)
    subsetter.subset(font)
    _to_quadratic(font)
    font.save(target)


def _face(source: Path) -> Any:
    from fontTools.ttLib import TTCollection

    for font in TTCollection(str(source)).fonts:
        if font["name"].getDebugName(16) == FAMILY:
            return font
        if str(font["name"].getDebugName(4)).removesuffix(" Bold") == FAMILY:
            return font
    raise CommandError(f"{source} has no face of {FAMILY}")


def _to_quadratic(font: Any) -> None:
    """Turn the cubic outlines of a font into TrueType's quadratic ones, in place."""
    from fontTools.pens.cu2quPen import Cu2QuPen
    from fontTools.pens.ttGlyphPen import TTGlyphPen
    from fontTools.ttLib import newTable

    glyphs, order = font.getGlyphSet(), font.getGlyphOrder()
    table = newTable("glyf")
    table.glyphOrder, table.glyphs = order, {}
    for name in order:
        pen = TTGlyphPen(glyphs)
        glyphs[name].draw(Cu2QuPen(pen, _MOST_ERROR, reverse_direction=True))
        table.glyphs[name] = pen.glyph()
    del font["CFF "]
    font["loca"], font["glyf"] = newTable("loca"), table
    table.compile(font)
    _profile(font, len(order))
    font["post"].formatType = 3.0
    font.sfntVersion = "\000\001\000\000"


def _profile(font: Any, glyphs: int) -> None:
    from fontTools.ttLib import newTable

    profile = newTable("maxp")
    profile.tableVersion = 0x00010000
    profile.numGlyphs = glyphs
    profile.maxZones = 1
    for name in (
        "maxTwilightPoints",
        "maxStorage",
        "maxFunctionDefs",
        "maxInstructionDefs",
        "maxStackElements",
        "maxSizeOfInstructions",
        "maxComponentElements",
    ):
        setattr(profile, name, 0)
    font["maxp"] = profile
    profile.compile(font)
