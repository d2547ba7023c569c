"""Check that the indices of sparse matrices are safe to follow."""

from __future__ import annotations

from typing import Any

import numpy as np

MOST_COLUMNS = np.iinfo(np.int32).max  # the core's columns are int32


def check_indices(X: Any, name: str = "X") -> None:
    """Raise a ValueError if following the indices of a sparse matrix would read outside its arrays.

    Only comparisons are used: SciPy's full check takes differences, which overflow for an entry of -2**63. Formats
    other than CSR, CSC, BSR and COO have no index arrays that compiled code follows unchecked.
    """
    if X.shape[1] > MOST_COLUMNS:
        raise ValueError(
            f"{name} has {X.shape[1]} columns; at most {MOST_COLUMNS} are supported for sparse rows. "
            "Drop or hash columns."
        )
    if X.format in ("csr", "csc", "bsr"):
        blocks = X.blocksize if X.format == "bsr" else (1, 1)
        rows, columns = (size // block for size, block in zip(X.shape, blocks, strict=True))
        major, minor = (columns, rows) if X.format == "csc" else (rows, columns)
        sound = _sound(np.asarray(X.indptr), np.asarray(X.indices), len(X.data), major, minor)
    elif X.format == "coo":
        sound = _within(X.row, X.shape[0]) and _within(X.col, X.shape[1]) and len(X.row) == len(X.col) == len(X.data)
    else:
        sound = True
    if not sound:
        raise ValueError(f"the indices of the sparse matrix {name} point outside it; build it again from its rows.")


def _sound(starts: Any, indices: Any, stored: int, major: int, minor: int) -> bool:
    return (
        starts.shape == (major + 1,)
        and starts[0] == 0
        and bool((starts[1:] >= starts[:-1]).all())
        and starts[-1] <= min(len(indices), stored)
        and _within(indices, minor)
    )


def _within(indices: Any, size: int) -> bool:
    return len(indices) == 0 or bool(indices.min() >= 0 and indices.max() < size)
