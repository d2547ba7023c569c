"""Codes of reviewed rows: what says later that a row is of this model and unchanged, and whether it was an audited one.

::

    code = batch - answered - audited - handed on - seed - row - hash(model, these, what the model reads, role)

The role of a row, audited or handed on, is only in the hash. Who has the model can tell it, and a reviewer cannot.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

HANDED_ON, AUDITED = "handed on", "audited"
DIGITS = 9  # of a number: programs show and write fewer than 17


class Drawn(NamedTuple):
    """What the code of each row says about its batch.

    Attributes
    ----------
    batch : str
        A letter, the first eight digits of the model's fingerprint, and eight of the batch's content.
    answered, audited, handed_on, seed : int
        As in `Cases`, with the number of audited rows.
    """

    batch: str
    answered: int
    audited: int
    handed_on: int
    seed: int

    def code(self, model: str, row: int, cells: Sequence[Any], role: str) -> str:
        """Return the code of a row, by its number in the batch and the cells that the model reads."""
        start = f"{self.batch}-{self.answered}-{self.audited}-{self.handed_on}-{self.seed}-{row}"
        return f"{start}-{digest(model, start, role, *map(canonical, cells))}"


def drawn_of(code: str) -> tuple[Drawn, int] | None:
    """Return the batch and the number of the row that a code names; None if it is not a code."""
    batch, *numbers = code.split("-")
    if len(numbers) != 6 or not all(number.isascii() and number.isdecimal() for number in numbers[:5]):
        return None
    answered, audited, handed_on, seed, row = map(int, numbers[:5])
    return Drawn(batch, answered, audited, handed_on, seed), row


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
