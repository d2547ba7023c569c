"""Codes of reviewed rows: what says later that a row is of this model and unchanged, and whether it was an audited one.

::

    code = batch - answered - audited - handed on - seed - row - hash(model, these, what the model reads, role)

The role of a row, audited or handed on, is only in the hash. Who has the model can tell it, and a reviewer cannot.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from typing import Any

HANDED_ON, AUDITED = "handed on", "audited"
DIGITS = 9  # of a number: programs show and write fewer than 17
Drawn = tuple[str, int, int, int, int]  # the batch, its answered, audited and handed-on rows, the seed


def code_of(drawn: Drawn, row: int, model: str, cells: Sequence[Any], role: str) -> str:
    """Return the code of a row, by its number in the batch and the cells that the model reads.

    The batch is a letter, the first eight digits of the model's fingerprint, and eight of the batch's content.
    """
    start = "-".join(map(str, (*drawn, row)))
    return f"{start}-{digest(model, start, role, *map(canonical, cells))}"


def recognised(code: str, model: str, cells: Sequence[Any]) -> tuple[Drawn, bool] | None:
    """Return the batch of a row and whether it is an audited one; None if its code is not that of these cells."""
    start, _, found = code.rpartition("-")
    for role in (AUDITED, HANDED_ON):
        if found == digest(model, start, role, *map(canonical, cells)):  # so the rest is what we wrote
            batch, answered, audited, handed_on, seed, _ = start.split("-")
            return (batch, int(answered), int(audited), int(handed_on), int(seed)), role == AUDITED
    return None


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
