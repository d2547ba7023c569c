"""PBMC 68k: cell types from the expression of genes, a table of 700 cells."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from public_data.access import load_table
from public_data.bunch import in_scikit_learn_form
from public_data.folder import VARIABLE, data_folder, file_in_folder
from public_data.sources import SOURCES
from public_data.table import Table

__all__ = ["load_cells"]

TYPES = [
    "CD14+ Monocyte",
    "CD19+ B",
    "CD34+",
    "CD4+/CD25 T Reg",
    "CD4+/CD45RA+/CD25- Naive T",
    "CD4+/CD45RO+ Memory",
    "CD56+ NK",
    "CD8+ Cytotoxic T",
    "CD8+/CD45RA+ Naive Cytotoxic",
    "Dendritic",
]


def load_cells(*, return_X_y: bool = False, as_frame: bool = False) -> Any:
    """Load PBMC 68k, reduced: 700 blood cells, the log-normalised expression of 765 genes, ten cell types.

    The types are those of sorted cells with the most similar expression, so they are not free of error. From 8 cells
    (naive T) to 240 (dendritic) have a type. It is read from a data folder only.

    Parameters
    ----------
    return_X_y, as_frame : bool, default=False
        As in `load_letter`.

    Returns
    -------
    Bunch or (data, target)
        As returned by `load_letter`.
    """
    source = SOURCES["pbmc68k"]
    table = load_table(source, read_file=_read, elsewhere=_no_public_file)
    folder = data_folder()
    genes = _genes(file_in_folder(folder, source)) if folder is not None else []
    return in_scikit_learn_form(
        source, table.data, table.target, genes, TYPES, return_X_y=return_X_y, as_frame=as_frame
    )


def _read(path: Path) -> Table:
    from scipy.sparse import csr_array

    with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:  # NumPy does not close a damaged file
        rows, columns = (int(size) for size in arrays["shape"])
        X = csr_array((arrays["data"], arrays["indices"], arrays["indptr"]), shape=(rows, columns))
        target = [TYPES.index(name) for name in arrays["cell_type"].tolist()]
        return Table(X.toarray().astype(np.float64), np.array(target, dtype=np.int64))


def _genes(path: Path) -> list[str]:
    with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
        return [str(name) for name in arrays["genes"]]


def _no_public_file() -> Table:
    raise FileNotFoundError(
        f"the cells of PBMC 68k are read from a data folder only; set {VARIABLE} to one that contains "
        f"{SOURCES['pbmc68k'].file!r}: data, indices, indptr and shape of scanpy's pbmc68k_reduced().raw.X, genes, its "
        "var_names, and cell_type, its bulk_labels."
    )
