"""The paper: its size and margins, fonts, colours, the line at the foot of each page.

Lengths are in millimetres, text sizes in points. Text for which the fonts have no glyph
is drawn as a box; it stays in the file as text all the same.
"""

from __future__ import annotations

from typing import Any, Final

from django.utils.translation import gettext as _
from fpdf import FPDF

from dashboard.reports.writers.fonts import BOLD, FOLDER, REGULAR
from dashboard.reports.writers.palette import palette

MARGIN: Final = 14.0
FOOT: Final = 14.0
FONT: Final = "report"
SMALL: Final = 7.5
BODY: Final = 9.0
HEAD: Final = 12.0
TITLE: Final = 18.0
_POINT: Final = 25.4 / 72
_LINE: Final = 1.35


class Sheet(FPDF):
    """Pages of one report."""

    def __init__(self, paper: str, title: str) -> None:
        super().__init__(orientation="portrait", unit="mm", format=paper)
        self._foot_text = title
        self.set_margins(MARGIN, MARGIN, MARGIN)
        self.c_margin = 0.0
        self.set_auto_page_break(True, FOOT + 4)
        self.add_font(FONT, "", FOLDER / REGULAR)
        self.add_font(FONT, "B", FOLDER / BOLD)
        # The bold face lacks rarer characters in names; the regular one has them.
        self.set_fallback_fonts([FONT], exact_match=False)
        self.set_title(title)
        self.set_creator("RocketScope")
        self.alias_nb_pages("{n}")
        self.add_page()

    def footer(self) -> None:
        """Write the report's name and the number of the page; fpdf2 calls this."""
        self.set_y(-FOOT)
        self.ink("ink-3", SMALL)
        self.cell(self.epw * 0.75, 5, self.shortened(self._foot_text, self.epw * 0.7))
        text = _("Page %(number)s of %(all)s") % {
            "number": self.page_no(),
            "all": "{n}",
        }
        self.cell(self.epw * 0.25, 5, text, align="R")

    def ink(self, color: str, size: float, *, bold: bool = False) -> None:
        """Set the text colour and size."""
        self.set_font(FONT, "B" if bold else "", size)
        self.set_text_color(palette()[color])

    def pen(self, color: str, width: float = 0.15) -> None:
        """Set the colour and width of lines."""
        self.set_draw_color(palette()[color])
        self.set_line_width(width)

    def ground(self, color: str) -> None:
        """Set the fill colour."""
        self.set_fill_color(palette()[color])

    def line_of(
        self, text: str, color: str, size: float, *, bold: bool = False
    ) -> None:
        """Write one or more lines over the whole width and move below them."""
        self.ink(color, size, bold=bold)
        height = size * _POINT * _LINE
        self.multi_cell(0, height, text, align="L", new_x="LMARGIN", new_y="NEXT")

    def label(
        self, x: float, y: float, text: str, *, align: str = "L", width: float = 40.0
    ) -> None:
        """Write a short text whose middle is at `y` and whose edge is at `x`."""
        left = {"L": x, "R": x - width, "C": x - width / 2}[align]
        height = self.font_size_pt * _POINT * _LINE
        self.set_xy(left, y - height / 2)
        self.cell(width, height, self.shortened(text, width), align=align)

    def shortened(self, text: str, width: float) -> str:
        """Return the text, with its middle left out if it is wider than that."""
        if self.get_string_width(text) <= width:
            return text
        kept = len(text) - 1
        while kept > 2:
            head = kept // 2
            shorter = f"{text[:head]}…{text[len(text) - (kept - head) :]}"
            if self.get_string_width(shorter) <= width:
                return shorter
            kept -= 1
        return text[:1] + "…"

    def room(self, height: float) -> None:
        """Begin a new page if less than that is left on this one."""
        if self.will_page_break(height):
            self.add_page()

    def gap(self, height: float) -> None:
        self.set_y(self.get_y() + height)


def new_sheet(paper: str, title: str) -> Any:
    """Return a sheet with its first page; `paper` is a4 or letter."""
    return Sheet(paper, title)
