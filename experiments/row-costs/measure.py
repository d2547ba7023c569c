"""German credit with costs that follow the amount of each loan: machines trained and decided row by row, or not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from harness import Task
from harness.paid import paid
from harness.trials import over_splits
from numpy.typing import NDArray
from public_data import load_german
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, StratifiedShuffleSplit, cross_val_predict

from abstain import RejectSVCCV
from abstain.costs.per_row import mean_costs, row_table
from abstain.costs.table import CostTable
from abstain.labels import Labels
from abstain.preprocessing import default_pipeline

SPLITS, TEST_SHARE, FOLDS = 40, 0.3, 5
REVIEWS = (150.0, 300.0)  # DM for a person's review of a loan
INTEREST = 0.2  # of the amount: what a good loan that is declined would have earned; a bad one loses the amount
CS, GAMMAS = 6, 4
LOGISTIC_CS = tuple(np.logspace(-4, 2, 13).tolist())
ROWS, BY_ROW, MEAN, LOGISTIC = "trained by row", "mean costs, decided by row", "mean costs", "logistic, decided by row"
METHODS = (ROWS, BY_ROW, MEAN, LOGISTIC)
BLIND = {"review all": 0, "approve all": -1, "decline all": 1}

Array = NDArray[np.float64]


def tasks(fast: bool) -> list[Task]:
    """A task for each split and cost of a review."""
    settings = [(seed, 300.0) for seed in range(2)] if fast else [(s, r) for r in REVIEWS for s in range(SPLITS)]
    return [Task(f"split{seed}-{review:g}", compared, {"seed": seed, "review": review}) for seed, review in settings]


def costs_of(amount: Array, review: float) -> CostTable:
    """The costs of each loan, in DM, with a bad loan as the positive class.

    ::

        decline a good loan: 0.2 amount     approve a bad one: amount     review: what a person costs

    Where that is more than a review can ever save, the loan is small: its reject cost is the largest that is allowed,
    and it is never reviewed.
    """
    declined, approved = INTEREST * amount, amount
    most = 1.0 / (1.0 / declined + 1.0 / approved)
    table = np.column_stack([declined, approved, np.minimum(review, most)])
    return row_table(table, Labels.named([0, 1], rejects=True))


@dataclass(frozen=True, eq=False)
class Split:
    """Training and test rows, scaled by the training rows, with their costs."""

    X: Array
    y: NDArray[np.int64]
    costs: CostTable
    X_test: Array
    y_test: NDArray[np.int64]
    costs_test: CostTable
    seed: int

    @classmethod
    def of(cls, seed: int, review: float) -> Split:
        """A random split with equal shares of bad loans."""
        german = load_german(symbolic=True, as_frame=True)
        rows, y = german.data, np.asarray(german.target)
        amount = rows["amount"].to_numpy(dtype=np.float64)
        train, test = next(StratifiedShuffleSplit(1, test_size=TEST_SHARE, random_state=seed).split(y, y))
        numeric = [name for name in rows.columns if name not in german.categorical_features]
        texts = rows.astype(dict.fromkeys(german.categorical_features, object))
        scale = default_pipeline(None, numeric, german.categorical_features)[:-1].fit(texts.iloc[train])
        halves = [np.asarray(scale.transform(texts.iloc[part]), dtype=np.float64) for part in (train, test)]
        costs = [costs_of(amount[part], review) for part in (train, test)]
        return cls(halves[0], y[train], costs[0], halves[1], y[test], costs[1], seed)

    @property
    def folds(self) -> StratifiedKFold:
        """The folds of every search on the training rows."""
        return StratifiedKFold(FOLDS, shuffle=True, random_state=self.seed)

    def judged(self, choice: NDArray[Any]) -> dict[str, float]:
        """Mean cost in DM, share of loans reviewed, and share of the reviewed in the amount lent."""
        sign, amount = np.where(self.y_test == 1, 1, -1), self.costs_test.false_negative
        return {
            "cost": float(paid(self.costs_test, sign, choice).mean()),
            "reviewed": float(np.mean(choice == 0)),
            "reviewed_amount": float(amount[choice == 0].sum() / amount.sum()),
        }


def compared(seed: int, review: float) -> dict[str, Any]:
    """All methods on one split."""
    split = Split.of(seed, review)
    found = {name: split.judged(choice) for name, choice in (svm(split) | {LOGISTIC: logistic(split)}).items()}
    found |= {name: split.judged(np.full(len(split.y_test), choice)) for name, choice in BLIND.items()}
    return {"seed": seed, "review": review, "methods": found}


def svm(split: Split) -> dict[str, NDArray[Any]]:
    """RejectSVCCV trained by each row's costs, and by their means."""
    grid: dict[str, Any] = {"Cs": CS, "gammas": GAMMAS, "cv": split.folds, "reject_label": -1}
    by_row = RejectSVCCV(**grid).fit(split.X, split.y, row_costs=split.costs)
    plain = RejectSVCCV(mean_costs(split.costs), **grid).fit(split.X, split.y)
    answers = {
        ROWS: by_row.predict(split.X_test, row_costs=split.costs_test),
        BY_ROW: plain.predict(split.X_test, row_costs=split.costs_test),
        MEAN: plain.predict(split.X_test),
    }
    return {name: np.select([labels == 0, labels == 1], [-1, 1]) for name, labels in answers.items()}


def logistic(split: Split) -> NDArray[Any]:
    """Chow's rule with each row's thresholds on logistic regression, its C by the out-of-fold mean cost."""
    sign, rule = np.where(split.y == 1, 1, -1), split.costs.levels()
    tried = []
    for C in LOGISTIC_CS:
        model = LogisticRegression(C=C, max_iter=1000)
        score = cross_val_predict(model, split.X, split.y, cv=split.folds, method="decision_function")
        tried.append(paid(split.costs, sign, rule.decide(score) - 1).mean())
    model = LogisticRegression(C=LOGISTIC_CS[int(np.argmin(tried))], max_iter=1000).fit(split.X, split.y)
    return split.costs_test.levels().decide(model.decision_function(split.X_test)) - 1


def summary(answers: Mapping[str, Any]) -> dict[str, Any]:
    """Means over the splits by cost of a review and method, and the paired differences from the machine by row."""
    reviews = sorted({answer["review"] for answer in answers.values()})
    statements = len(reviews) * (len(METHODS) - 1)
    return {
        "splits": len({answer["seed"] for answer in answers.values()}),
        "test_share": TEST_SHARE,
        "interest": INTEREST,
        "reviews": reviews,
        "statements": statements,
        "means": {
            f"{review:g}": _means([a["methods"] for a in answers.values() if a["review"] == review], statements)
            for review in reviews
        },
    }


def _means(runs: list[dict[str, Any]], statements: int) -> dict[str, Any]:
    def values(name: str, measure: str) -> Array:
        return np.array([run[name][measure] for run in runs])

    return {
        name: {
            "cost": over_splits(values(name, "cost"), TEST_SHARE),
            "reviewed": float(values(name, "reviewed").mean()),
            "reviewed_amount": float(values(name, "reviewed_amount").mean()),
            "more": over_splits(values(name, "cost") - values(ROWS, "cost"), TEST_SHARE, statements=statements),
        }
        for name in (*METHODS, *BLIND)
    }
