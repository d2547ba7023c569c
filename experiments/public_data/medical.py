"""Four medical data sets (GRKC08 section 5): WDBC, Pima, Liver, Thyroid."""

from __future__ import annotations

from typing import Any

import numpy as np

from public_data.access import load_table
from public_data.bunch import in_scikit_learn_form
from public_data.checksums import verify
from public_data.sources import SOURCES
from public_data.table import Table

__all__ = ["load_liver", "load_pima", "load_thyroid", "load_wdbc"]

NUCLEUS = [
    "radius",
    "texture",
    "perimeter",
    "area",
    "smoothness",
    "compactness",
    "concavity",
    "concave_points",
    "symmetry",
    "fractal_dimension",
]
WDBC = [
    *(f"mean_{name}" for name in NUCLEUS),
    *(f"{name}_error" for name in NUCLEUS),
    *(f"worst_{name}" for name in NUCLEUS),
]
PIMA = ["pregnant", "glucose", "pressure", "triceps", "insulin", "mass", "pedigree", "age"]
LIVER = ["mcv", "alkphos", "sgpt", "sgot", "gammagt", "drinks"]
THYROID = ["t3_resin_uptake", "thyroxin", "triiodothyronine", "tsh", "max_tsh_diff"]


def load_wdbc(*, return_X_y: bool = False, as_frame: bool = False) -> Any:
    """Load Breast Cancer Wisconsin (Diagnostic): 569 rows, 30 features; benign 0, malignant 1.

    Without a data folder this is scikit-learn's copy, so nothing is downloaded.

    Parameters
    ----------
    return_X_y, as_frame : bool, default=False
        As in `load_letter`.

    Returns
    -------
    Bunch or (data, target)
        As returned by `load_letter`.

    Examples
    --------
    >>> from public_data import load_wdbc
    >>> wdbc = load_wdbc()
    >>> wdbc.data.shape, wdbc.target_names[1], int(wdbc.target.sum())
    ((569, 30), 'malignant', 212)
    """
    source = SOURCES["wdbc"]
    table = load_table(source, elsewhere=_wdbc_of_scikit_learn)
    return in_scikit_learn_form(
        source, table.data, table.target, WDBC, ["benign", "malignant"], return_X_y=return_X_y, as_frame=as_frame
    )


def _wdbc_of_scikit_learn() -> Table:
    from sklearn.datasets import load_breast_cancer

    data, target = load_breast_cancer(return_X_y=True)
    table = Table(data, 1 - target.astype(np.int64))
    verify("wdbc", table, "scikit-learn's load_breast_cancer", "install another version of scikit-learn")
    return table


def load_pima(*, return_X_y: bool = False, as_frame: bool = False) -> Any:
    """Load Pima Indians Diabetes: 768 rows, 8 features; no diabetes 0, diabetes 1.

    Zeros in glucose, pressure, triceps, insulin and mass are missing values.

    Parameters
    ----------
    return_X_y, as_frame : bool, default=False
        As in `load_letter`.

    Returns
    -------
    Bunch or (data, target)
        As returned by `load_letter`.
    """
    source = SOURCES["pima"]
    table = load_table(source)
    return in_scikit_learn_form(
        source, table.data, table.target, PIMA, ["no diabetes", "diabetes"], return_X_y=return_X_y, as_frame=as_frame
    )


def load_liver(*, return_X_y: bool = False, as_frame: bool = False) -> Any:
    """Load Liver Disorders (BUPA): 345 rows, 6 features; `selector` 1 is 0, `selector` 2 is 1.

    `selector` is not a diagnosis, although most of the literature uses it as one; see ``DESCR``.

    Parameters
    ----------
    return_X_y, as_frame : bool, default=False
        As in `load_letter`.

    Returns
    -------
    Bunch or (data, target)
        As returned by `load_letter`.
    """
    source = SOURCES["liver"]
    table = load_table(source)
    names = ["selector 1", "selector 2"]
    return in_scikit_learn_form(
        source, table.data, table.target - 1, LIVER, names, return_X_y=return_X_y, as_frame=as_frame
    )


def load_thyroid(*, binary: bool = True, return_X_y: bool = False, as_frame: bool = False) -> Any:
    """Load Thyroid Disease (new-thyroid): 215 rows, 5 features.

    Parameters
    ----------
    binary : bool, default=True
        Whether to merge hyper- and hypofunction: normal 0, either disorder 1. Otherwise normal 0, hyper 1, hypo 2.
    return_X_y, as_frame : bool, default=False
        As in `load_letter`.

    Returns
    -------
    Bunch or (data, target)
        As returned by `load_letter`.
    """
    source = SOURCES["thyroid"]
    table = load_table(source)
    target, names = table.target - 1, ["normal", "hyper", "hypo"]
    if binary:
        target, names = np.minimum(target, 1), ["normal", "hyper or hypo"]
    return in_scikit_learn_form(source, table.data, target, THYROID, names, return_X_y=return_X_y, as_frame=as_frame)
