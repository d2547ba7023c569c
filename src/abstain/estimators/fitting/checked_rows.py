"""X as the solvers read it, without scikit-learn's checks where X is as they would return it."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_array, csr_matrix, issparse
from sklearn.utils.validation import validate_data

from abstain.arguments import refuse_dask
from abstain.compressed import check_indices


def checked_rows(
    estimator: Any, X: Any, y: Any = "no_validation", *, dense: bool, reset: bool, single: bool = False
) -> Any:
    """X as the solvers read it: float64, finite, aligned and in C order, or CSR with sorted, valid indices.

    With `single`, float32 is left as it is.
    """
    refuse_dask(X, type(estimator).__name__)
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
