"""Time of fit and predict with the default guard of novel rows over that of the classifier alone, CPU time."""

from __future__ import annotations

import argparse
import json
import os
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from classes import worked
from contenders import geometric_mean
from data import covtype_4v6, letter_halves
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from abstain import Costs, LinearRejectSVC, NoveltyRejector, RejectSVC, RejectSVCCV

PRICE = Costs(reject=0.2)
MALIGNANT = Costs(false_positive=1, false_negative=5, reject=0.3)
TRIAL: dict[str, Any] = {"rows": 1500, "test_rows": 500, "large_rows": 20_000, "repeats": 1}
ROUND = 0.5  # seconds of fits and predictions to choose the best of, at least


@dataclass(frozen=True)
class Case:
    """A classifier, the rows it learns from and those it decides."""

    name: str
    make: Callable[[], Any]
    X: NDArray[np.float64]
    y: NDArray[Any]
    X_new: NDArray[np.float64]


def scaled(make: Callable[[], Any]) -> Any:
    """A Pipeline that standardises the columns first."""
    return make_pipeline(StandardScaler(), make())


def wdbc() -> Iterator[Case]:
    """The README's table: 426 rows to learn from and 143 new ones."""
    X, y = load_breast_cancer(return_X_y=True)
    X, X_new, y, _ = train_test_split(X, y == 0, random_state=0)
    yield Case("RejectSVCCV, WDBC (README)", partial(scaled, partial(RejectSVCCV, MALIGNANT)), X, y, X_new)
    yield Case("RejectSVC, WDBC", partial(scaled, partial(RejectSVC, PRICE)), X, y, X_new)
    yield Case("LogisticRegression, WDBC", partial(scaled, LogisticRegression), X, y, X_new)
    yield Case("RandomForestClassifier, WDBC", partial(RandomForestClassifier, random_state=0), X, y, X_new)


def tables(rows: int, test_rows: int) -> Iterator[tuple[str, NDArray[Any], NDArray[Any], NDArray[Any]]]:
    """Letter and covtype, if they are there."""
    folder = os.environ.get("ABSTAIN_DATA")
    for load in (letter_halves, covtype_4v6) if folder else ():
        mixed = load(Path(str(folder))).shuffled(rows + test_rows)
        yield mixed.name, mixed.X[:rows], mixed.y[:rows], mixed.X[rows:]


def large(rows: int, test_rows: int) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Rows of two classes that a plane separates but for noise, 30 columns."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(rows + test_rows, 30))
    y = np.where(X @ rng.normal(size=30) / 5 + rng.normal(size=len(X)) > 0, 1, -1)
    return X[:rows], y[:rows], X[rows:]


def cases(rows: int, test_rows: int, large_rows: int) -> Iterator[Case]:
    """All of them."""
    yield from wdbc()
    for name, X, y, X_new in tables(rows, test_rows):
        yield Case(f"RejectSVC, {name}", partial(scaled, partial(RejectSVC, PRICE)), X, y, X_new)
        yield Case(f"RejectSVCCV, {name}", partial(scaled, partial(RejectSVCCV, PRICE)), X, y, X_new)
        yield Case(f"LogisticRegression, {name}", partial(scaled, LogisticRegression), X, y, X_new)
        yield Case(f"RandomForestClassifier, {name}", partial(RandomForestClassifier, random_state=0), X, y, X_new)
    X, y, X_new = large(large_rows, large_rows // 5)
    yield Case("LinearRejectSVC, generated", partial(scaled, partial(LinearRejectSVC, PRICE)), X, y, X_new)
    yield Case("LogisticRegression, generated", partial(scaled, LogisticRegression), X, y, X_new)


def measure(case: Case, repeats: int) -> dict[str, Any]:
    """Alone and guarded take turns, so that load on the machine affects both; the best of each counts."""
    ways = {"alone": case.make, "guarded": lambda: NoveltyRejector(case.make(), random_state=0)}
    fit: dict[str, list[float]] = {way: [] for way in ways}
    predict: dict[str, list[float]] = {way: [] for way in ways}
    with threadpool_limits(limits=1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        while min(map(len, fit.values())) < repeats or sum(map(sum, (*fit.values(), *predict.values()))) < ROUND:
            for way, make in ways.items():
                seconds, model = worked(make().fit, case.X, case.y)
                fit[way].append(seconds)
                predict[way].append(min(worked(model.predict, case.X_new)[0] for _ in range(repeats)))
    found: dict[str, Any] = {"name": case.name, "rows": len(case.y), "new_rows": len(case.X_new)}
    for what, times in (("fit", fit), ("predict", predict)):
        alone, guarded = (min(times[way]) for way in ways)
        found[what] = {"alone": alone, "guarded": guarded, "ratio": guarded / alone}
    return found


def run(rows: int = 10_000, test_rows: int = 4000, large_rows: int = 500_000, repeats: int = 3) -> dict[str, Any]:
    """All cases, and the geometric mean and the largest of the ratios."""
    measured = [measure(case, repeats) for case in cases(rows, test_rows, large_rows)]
    ratios = {what: [row[what]["ratio"] for row in measured] for what in ("fit", "predict")}
    return {
        "repeats": repeats,
        "cases": measured,
        "means": {what: geometric_mean(values) for what, values in ratios.items()},
        "largest": {what: max(values) for what, values in ratios.items()},
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000, help="training rows of letter and covtype")
    parser.add_argument("--test-rows", type=int, default=4000)
    parser.add_argument("--large-rows", type=int, default=500_000, help="training rows of the linear machine")
    parser.add_argument("--repeats", type=int, default=3)
    print(json.dumps(run(**vars(parser.parse_args())), indent=2))
