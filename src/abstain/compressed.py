"""X as the solvers read it: finite, aligned, and if it is sparse with indices that are safe to follow."""

from typing import Any

import numpy as np
from scipy.sparse import csr_array, csr_matrix, issparse
from sklearn.utils.validation import validate_data

from abstain.arguments import refuse_dask, refuse_lazy

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


def checked_rows(
    estimator: Any, X: Any, y: Any = "no_validation", *, dense: bool, reset: bool, single: bool = False
) -> Any:
    """X as the solvers read it: float64, finite, aligned and in C order, or CSR with sorted, valid indices.

    With `single`, float32 is left as it is.
    """
    refuse_dask(X, type(estimator).__name__)
    refuse_lazy(y, "y")
    accepted = False if dense else "csr"
    if issparse(X):
        check_indices(X)  # before anything converts it
    dtypes = (np.float64, np.float32) if single else (np.float64,)
    if not (_as_read(X, y, dtypes, sparse=not dense) and _same_columns(estimator, X, reset=reset)):
        checked = validate_data(estimator, X, y, reset=reset, accept_sparse=accepted, dtype=dtypes)
        X = checked[0] if isinstance(checked, tuple) else checked
    rows = X
    if not issparse(rows):
        return np.require(rows, requirements=["C", "A", "E"])  # validate_data does not align arrays
    if not rows.has_canonical_format:
        rows = rows.copy()  # sorting in place would change the caller's matrix
        rows.sum_duplicates()
    return rows


def _as_read(X: Any, y: Any, dtypes: tuple[type, ...], *, sparse: bool) -> bool:
    """Whether scikit-learn's checks, which take longer than a small fit, would return X and y as they are."""
    entries = X.data if sparse and type(X) in (csr_array, csr_matrix) else X
    if type(entries) is not np.ndarray or entries.dtype not in dtypes or X.ndim != 2 or 0 in X.shape:
        return False
    labelled = type(y) is np.ndarray and y.shape == X.shape[:1] and y.dtype.kind in "biuU"
    if not (labelled or (isinstance(y, str) and y == "no_validation")):
        return False
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.isfinite(entries.sum()))  # if not, the sum may have overflowed, or there is an error to raise


def _same_columns(estimator: Any, X: Any, *, reset: bool) -> bool:
    """Store the number of columns, or return whether it is known and the same; columns with names are not."""
    known = vars(estimator)
    if reset:
        known.pop("feature_names_in_", None)
        known["n_features_in_"] = X.shape[1]
        return True
    return "feature_names_in_" not in known and known.get("n_features_in_") == X.shape[1]
