"""Words of the page: labels made safe to read, numbers as a committee reads them.

Safe to read is not safe to embed: that is the renderer's business, which escapes everything that comes from here.
"""

from __future__ import annotations

import math
import unicodedata
from typing import Any

# How much of a label or a name is shown; what is longer keeps its two ends.
_LABEL, _CELL = 60, 200


def plain(value: Any, longest: int = _CELL) -> str:
    """The value as one line of text that any file can hold, nothing in it invisible.

    Of what is longer than `longest` the middle is left out.
    """
    kept = str(value).encode("utf-8", "replace").decode("utf-8")  # lone surrogates have no place in a file
    shown = "".join(f"⟨U+{ord(c):04X}⟩" if _invisible(c) else c for c in kept)
    if len(shown) <= longest:
        return shown or "(empty)"
    tail = longest // 4
    return f"{shown[: longest - tail - 1]}…{shown[-tail:]}"


def _invisible(c: str) -> bool:
    """Controls and formats, such as marks that turn the direction of what follows; joiners belong to some scripts."""
    return unicodedata.category(c) in ("Cc", "Cf", "Zl", "Zp") and c not in "\u200c\u200d"


def class_names(below: Any, above: Any) -> tuple[str, str]:
    """Both classes as text; told apart even where they differ in their middles only."""
    names = plain(below, _LABEL), plain(above, _LABEL)
    return names if names[0] != names[1] else (f"1: {names[0]}", f"2: {names[1]}")


def amount(value: float) -> str:
    """A price or a score: four significant digits at most, and no exponent where none is needed."""
    if not math.isfinite(value):
        return "undefined" if math.isnan(value) else ("∞" if value > 0 else "−∞")
    text = f"{value:.4g}".replace("e-0", "e-").replace("e+0", "e")
    return text.replace("-", "−")


def share(value: float) -> str:
    """A share as per cent."""
    return "undefined" if math.isnan(value) else f"{100 * value:.1f} %"


def cell(value: Any) -> str:
    """A fact or a cell of a table: numbers as amounts, anything else as text."""
    if isinstance(value, float):
        return amount(value)
    return plain(value)
