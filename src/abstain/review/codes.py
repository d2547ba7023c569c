"""Codes of reviewed rows: what says later that a row is of this model and unchanged, and whether it was an audited one.

::

    code = batch - answered - over capacity - audited - handed on - seed - row - columns - cells - hash
    hash = hash(model, all of these, role)

The columns and cells are hashes of what the model reads. The role of a row, audited or handed on, is only in the last
hash. Who has the model can tell it, and a reviewer cannot.
"""

import hashlib
import math
from collections.abc import Mapping
from typing import Any, NamedTuple

HANDED_ON, AUDITED = "handed on", "audited"
DIGITS = 9  # of a number: programs show and write fewer than 17


class Drawn(NamedTuple):
    """A batch, its rows that are answered, of them over capacity and audited, those that are handed on, and the seed.

    The batch is a letter, the first eight digits of the model's fingerprint, and eight of the batch's content.
    """

    batch: str
    answered: int
    over: int
    audited: int
    handed_on: int
    seed: int


def code_of(drawn: Drawn, row: int, model: str, cells: Mapping[str, Any], role: str) -> str:
    """Return the code of a row, by its number in the batch and the cells that the model reads."""
    start = "-".join([*map(str, (*drawn, row)), *_hashes(cells)])
    return f"{start}-{digest(model, start, role)}"


def recognised(code: str, model: str, cells: Mapping[str, Any]) -> tuple[Drawn, bool] | None:
    """Return the batch of a row and whether it is an audited one; None if its code is not that of these cells."""
    start, _, found = code.rpartition("-")
    for role in (AUDITED, HANDED_ON):
        if found == digest(model, start, role):  # so the rest is what we wrote
            batch, *counts = start.split("-")[:-3]
            return (Drawn(batch, *map(int, counts)), role == AUDITED) if unchanged(code, cells) else None
    return None


def unchanged(code: str, cells: Mapping[str, Any]) -> bool | None:
    """Return whether the cells are those of the code; None if it is of other columns, which cannot be compared."""
    columns, content, *_ = [*code.split("-")[-3:], "", ""]
    own = _hashes(cells)
    return content == own[1] if columns == own[0] else None if content else False


def _hashes(cells: Mapping[str, Any]) -> tuple[str, str]:
    """Return short hashes of the columns that are read, in any order, and of their cells."""
    return digest(*sorted(cells))[:5], digest(*(canonical(cells[name]) for name in sorted(cells)))[:9]


def digest(*texts: str) -> str:
    """Return a hash of texts in 16 hexadecimal digits; it begins with a letter, so that no program reads a number."""
    hashed = hashlib.blake2b("\0".join(texts).encode("utf-8", "replace"), digest_size=8)
    return f"h{hashed.hexdigest()}"


def canonical(cell: Any) -> str:
    """Return a cell as a text that does not depend on the program that saved it."""
    if cell is None or (isinstance(cell, float) and math.isnan(cell)):
        return ""
    if isinstance(cell, int | float):
        return f"{cell + 0.0:.{DIGITS}g}"
    return str(cell).strip().lstrip("'")
