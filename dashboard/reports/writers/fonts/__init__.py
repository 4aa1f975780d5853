"""The fonts of PDF reports: parts of Noto Sans CJK SC; see `README.md`."""

from __future__ import annotations

from pathlib import Path
from typing import Final

FOLDER: Final = Path(__file__).resolve().parent
REGULAR: Final = "NotoSansSC-Regular-subset.ttf"
BOLD: Final = "NotoSansSC-Bold-subset.ttf"
