"""Other classifiers as a careful user would tune them, with Chow's rule on their probabilities.

Parameters are those of least cross-validated log loss (of the plain SVM: of the least error rate). This file uses
nothing of the library that is judged.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from measure_split import Array, Codes, Split, answer, attempted, costs_of, split, table_of
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV, StratifiedKFold, train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC

FEW_ROWS, MOST_FOR_SVC = 5_000, 5_000
STOPPED = 2_000  # training rows from which boosting holds some out to stop early
TREES = 100
MOST_CATEGORIES = 250  # of a column that boosting reads as categories

Grid = dict[str, list[Any]]


def chow(probability: Array, table: Array) -> Codes:
    """The choice of least expected cost: a class or a reject."""
    return np.argmin(np.round(probability @ table, 12), axis=1)


def score(model: Any, X: Any, y: Any) -> float:
    """Minus the log loss, with probabilities of 0 as if half a tree had voted otherwise."""
    P = model.predict_proba(X)
    P = (TREES * P + 0.5 / P.shape[1]) / (TREES + 0.5)
    return -float(log_loss(y, P, labels=model.classes_))


def encoded(here: Split) -> Any:
    """Scaled numbers and one column of 0 and 1 for each category."""
    numbers = make_pipeline(SimpleImputer(strategy="median", add_indicator=True), StandardScaler())
    words = make_pipeline(
        SimpleImputer(missing_values=None, strategy="constant", fill_value="(missing)"),
        OneHotEncoder(handle_unknown="ignore", sparse_output=False),
    )
    parts = [("numbers", numbers, here.numeric), ("words", words, here.categorical)]
    return ColumnTransformer([part for part in parts if part[2]])


def folds(here: Split, rows: int) -> StratifiedKFold:
    """Five, or three of many rows."""
    return StratifiedKFold(5 if rows <= FEW_ROWS else 3, shuffle=True, random_state=here.seed)


def tuned(here: Split, model: Any, grid: Grid, *, few: bool, by: Any = score, rows: Any = None) -> Any:
    """The best of a grid, behind the encoding, fitted to all training rows or to some."""
    X, y = (here.X, here.y) if rows is None else (here.X.iloc[rows], here.y[rows])
    last = type(model).__name__.lower()
    named = {f"{last}__{name}": values[:1] if few else values for name, values in grid.items()}
    found = GridSearchCV(make_pipeline(encoded(here), model), named, scoring=by, cv=folds(here, len(y)), refit=True)
    return found.fit(X, y).best_estimator_


def calibrated(here: Split, model: Any, rows: Any = None) -> Any:
    """Platt's sigmoid on held-out scores, then a fit to all rows."""
    X, y = (here.X, here.y) if rows is None else (here.X.iloc[rows], here.y[rows])
    return CalibratedClassifierCV(model, method="sigmoid", cv=folds(here, len(y)), ensemble=False).fit(X, y)


def logistic(here: Split, few: bool) -> Any:
    """Logistic regression with a ridge penalty."""
    return tuned(here, LogisticRegression(max_iter=2000), {"C": np.logspace(-3, 2, 6).tolist()}, few=few)


def forest(here: Split, few: bool) -> Any:
    """A random forest, calibrated."""
    plain = RandomForestClassifier(TREES, random_state=here.seed)
    shares = ["sqrt", 0.4] if len(here.y) <= FEW_ROWS else ["sqrt"]
    best = tuned(here, plain, {"min_samples_leaf": [1, 3, 10], "max_features": shares}, few=few)
    return calibrated(here, best)


def boosting(here: Split, few: bool) -> Any:
    """Histogram boosting, which reads categories itself; it stops early, or few rows have the number of trees tried."""
    grid: Grid = {"learning_rate": [0.1, 0.03], "max_leaf_nodes": [31, 8]}
    own: dict[str, Any] = {"categorical_features": "from_dtype", "random_state": here.seed}
    if len(here.y) < STOPPED:
        grid["max_iter"] = [50, 200]
        own["early_stopping"] = False
    else:
        own |= {"max_iter": 600, "early_stopping": True, "n_iter_no_change": 15, "validation_fraction": 0.15}
    grid = {name: values[:1] if few else values for name, values in grid.items()}
    found = GridSearchCV(
        HistGradientBoostingClassifier(**own), grid, scoring=score, cv=folds(here, len(here.y)), refit=True
    )
    return found.fit(typed(here, here.X), here.y).best_estimator_


def typed(here: Split, X: Any) -> Any:
    """Texts as pandas' categories; of more than boosting takes, those that are rarest in training are missing."""
    kept = {name: here.X[name].value_counts().index[:MOST_CATEGORIES] for name in here.categorical}
    many = {name: X[name].where(X[name].isin(kept[name])) for name in kept if here.X[name].nunique() > MOST_CATEGORIES}
    return X.assign(**many).astype(dict.fromkeys(here.categorical, "category"))


def svc(here: Split, few: bool) -> Any:
    """A plain SVM tuned by its error rate, with Platt's sigmoid; of many rows, some."""
    rows = None
    if len(here.y) > MOST_FOR_SVC:
        every = np.arange(len(here.y))
        rows, _ = train_test_split(every, train_size=MOST_FOR_SVC, stratify=here.y, random_state=here.seed)
    d = encoded(here).fit_transform(here.X.iloc[:1000]).shape[1]
    grid: Grid = {"C": [1.0, 10.0, 100.0], "gamma": [0.25 / d, 1.0 / d, 4.0 / d]}
    best = tuned(here, SVC(cache_size=500), grid, few=few, by="accuracy", rows=rows)
    return calibrated(here, best, rows)


def neighbours(here: Split, few: bool) -> Any:
    """The nearest neighbours."""
    grid: Grid = {"n_neighbors": [5, 15, 45], "weights": ["uniform", "distance"]}
    return tuned(here, KNeighborsClassifier(), grid, few=few)


def bayes(here: Split, few: bool) -> Any:
    """Naive Bayes, calibrated."""
    best = tuned(here, GaussianNB(), {"var_smoothing": [1e-9, 1e-4, 1e-2, 1e-1]}, few=few)
    return calibrated(here, best)


RIVALS: dict[str, Callable[[Split, bool], Any]] = {
    "logistic": logistic,
    "forest": forest,
    "boosting": boosting,
    "SVC, Platt": svc,
    "neighbours": neighbours,
    "naive Bayes": bayes,
}


def rival(method: str, name: str, seed: int, few: bool = False) -> dict[str, Any]:
    """A method on one split, for all costs: its fit does not depend on them. `few`: the first candidate only."""
    here = split(name, seed)

    def run() -> dict[str, Any]:
        began = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model = RIVALS[method](here, few)
        seconds = time.process_time() - began
        P = model.predict_proba(typed(here, here.X_test) if method == "boosting" else here.X_test)
        return {costs: answer(chow(P, table_of(costs, len(here.classes))), seconds) for costs in costs_of(name)}

    return {"methods": {method: attempted(here, costs_of(name), run)}}
