"""The two Statlog data sets that come with a cost matrix: German credit and heart disease."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from public_data.access import load_table
from public_data.bunch import in_scikit_learn_form
from public_data.sources import SOURCES

__all__ = ["load_german", "load_heart"]

GERMAN = [
    "status",
    "duration",
    "history",
    "purpose",
    "amount",
    "savings",
    "employment",
    "installment_rate",
    "personal_status",
    "debtors",
    "residence_since",
    "property",
    "age",
    "other_plans",
    "housing",
    "existing_credits",
    "job",
    "dependents",
    "telephone",
    "foreign_worker",
]
GERMAN_NUMBERS = ["duration", "amount", "installment_rate", "residence_since", "age", "existing_credits", "dependents"]
GERMAN_CODES = [name for name in GERMAN if name not in GERMAN_NUMBERS]
HEART = [
    "age",
    "sex",
    "chest_pain",
    "rest_bp",
    "chol",
    "fbs",
    "rest_ecg",
    "max_hr",
    "ex_angina",
    "oldpeak",
    "slope",
    "vessels",
    "thal",
]


def published_costs() -> NDArray[np.float64]:
    """Return the cost matrix that Statlog publishes with both sets: rows actual, columns predicted."""
    return np.array([[0.0, 1.0], [5.0, 0.0]])


def load_german(*, symbolic: bool = False, return_X_y: bool = False, as_frame: bool = False) -> Any:
    """Load Statlog German Credit: 1000 rows; good 0, bad 1, and its published cost matrix.

    Parameters
    ----------
    symbolic : bool, default=False
        False: the official numeric version, 24 columns. True: 20 columns, 13 of them codes such as ``"A11"``; ``data``
        is an object array of str and float, or with `as_frame` has categorical columns.
    return_X_y, as_frame : bool, default=False
        As in `load_letter`.

    Returns
    -------
    Bunch or (data, target)
        As returned by `load_letter`, with ``cost_matrix`` (2, 2): rows actual, columns predicted, both in the order of
        ``target_names``, as for ``Costs.from_matrix``; and ``categorical_features``, the names of the columns of codes.
    """
    source = SOURCES["german" if symbolic else "german_numeric"]
    table = load_table(source)
    return in_scikit_learn_form(
        source,
        _with_codes(table.data) if symbolic else table.data,
        table.target - 1,
        GERMAN if symbolic else [f"a{k:02d}" for k in range(1, 25)],
        ["good", "bad"],
        return_X_y=return_X_y,
        as_frame=as_frame,
        categorical=GERMAN_CODES if symbolic else (),
        cost_matrix=published_costs(),
        categorical_features=list(GERMAN_CODES) if symbolic else [],
    )


def _with_codes(data: NDArray[np.number]) -> NDArray[np.object_]:
    """Turn 121 back into "A121" in columns of codes."""
    mixed = data.astype(np.object_)
    for j, name in enumerate(GERMAN):
        if name in GERMAN_CODES:
            mixed[:, j] = [f"A{code:.0f}" for code in data[:, j]]
    return mixed


def load_heart(*, return_X_y: bool = False, as_frame: bool = False) -> Any:
    """Load Statlog Heart: 270 rows, 13 features; absence 0, presence 1, and its published cost matrix.

    Parameters
    ----------
    return_X_y, as_frame : bool, default=False
        As in `load_letter`.

    Returns
    -------
    Bunch or (data, target)
        As returned by `load_letter`, with ``cost_matrix`` as returned by `load_german`.
    """
    source = SOURCES["heart"]
    table = load_table(source)
    return in_scikit_learn_form(
        source,
        table.data,
        table.target - 1,
        HEART,
        ["absence", "presence"],
        return_X_y=return_X_y,
        as_frame=as_frame,
        cost_matrix=published_costs(),
    )
