"""Text of the page: labels made readable, and formatted numbers.

This does not make text safe to embed; the renderer escapes everything returned here.
"""

import datetime as dt
import math
import unicodedata
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from abstain.html import percent

Facts = tuple[tuple[str, str], ...]
# Longest label and cell shown; longer ones keep both ends.
_LABEL, _CELL = 60, 200


def plain(value: Any, longest: int = _CELL) -> str:
    """The value as one line of valid text, with invisible characters made visible.

    If it is longer than `longest`, the middle is left out.
    """
    kept = str(value).encode("utf-8", "replace").decode("utf-8")  # lone surrogates cannot be encoded
    # control and format characters, such as direction marks; joiners are kept because some scripts need them
    unseen = {c for c in kept if unicodedata.category(c) in ("Cc", "Cf", "Zl", "Zp") and c not in "\u200c\u200d"}
    shown = "".join(f"⟨U+{ord(c):04X}⟩" if c in unseen else c for c in kept)
    if len(shown) <= longest:
        return shown or "(empty)"
    tail = longest // 4
    return f"{shown[: longest - tail - 1]}…{shown[-tail:]}"


def unique_names(labels: Iterable[Any]) -> tuple[str, ...]:
    """Labels as text, all numbered if shortening makes two of them equal."""
    names = tuple(plain(label, _LABEL) for label in labels)
    return names if len(set(names)) == len(names) else tuple(f"{at}: {name}" for at, name in enumerate(names, start=1))


def amount(value: float) -> str:
    """A cost or a score, with at most four significant digits and an exponent only if needed."""
    if not math.isfinite(value):
        return "n/a" if math.isnan(value) else ("∞" if value > 0 else "−∞")
    text = f"{value:.4g}".replace("e-0", "e-").replace("e+0", "e")
    return text.replace("-", "−")


def share(value: float) -> str:
    """A share in percent."""
    return "n/a" if math.isnan(value) else f"{percent(value)} %"


def cell(value: Any) -> str:
    """A fact or a cell of a table: numbers as amounts, anything else as text."""
    value = value.item() if isinstance(value, np.generic) else value
    return amount(value) if isinstance(value, float) else plain(value)


def today() -> str:
    """The day, as in 2026-01-31."""
    return dt.datetime.now().astimezone().date().isoformat()


def facts_of(facts: Mapping[str, Any] | None) -> Facts:
    """Names and values of facts as text."""
    return tuple((plain(name), cell(value)) for name, value in (facts or {}).items())
