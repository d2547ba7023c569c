"""Splits, costs and answers, which all methods share.

A choice is a class, 0 to K - 1, or K for a reject; costs are tables of K rows (truth) and K + 1 columns (choice). Of
two classes the second is the positive one.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from measure_reading import Frame
from measure_sets import ALL, judgement_of, rows_of
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split

Array = NDArray[np.float64]
Codes = NDArray[np.int64]

TEST_SHARE = 0.4
TWO = {"1:1:0.2": (1.0, 1.0, 0.2), "1:5:0.4": (1.0, 5.0, 0.4), "5:1:0.4": (5.0, 1.0, 0.4)}  # fp : fn : reject
MORE = {"0.1": 0.1, "0.2": 0.2, "0.3": 0.3}  # of a reject; an error costs 1


def costs_of(name: str) -> tuple[str, ...]:
    """The names of the costs of a set."""
    return tuple(TWO if len(ALL[name].classes) == 2 else MORE)


def table_of(costs: str, n_classes: int) -> Array:
    """The cost of each choice (columns) for each true class (rows)."""
    if n_classes == 2:
        c_fp, c_fn, reject = TWO[costs]
        return np.array([[0.0, c_fp, reject], [c_fn, 0.0, reject]])
    return np.column_stack([1.0 - np.eye(n_classes), np.full(n_classes, MORE[costs])])


@dataclass(frozen=True, eq=False)
class Split:
    """Training and test rows as tables, the classes of both as codes, and their names; the positive class is last."""

    X: Frame
    y: Codes
    X_test: Frame
    y_test: Codes
    rows: Codes
    classes: tuple[str, ...]
    seed: int

    @property
    def categorical(self) -> list[str]:
        """Columns of text."""
        return [name for name in self.X.columns if self.X[name].dtype == object]

    @property
    def numeric(self) -> list[str]:
        """The other columns."""
        return [name for name in self.X.columns if self.X[name].dtype != object]

    @property
    def labels(self) -> Any:
        """The classes of the training rows by name."""
        return np.array(self.classes, dtype=object)[self.y]

    def codes(self, labels: Any) -> Codes:
        """Return choices from names; any name that is not a class is a reject."""
        place = {name: at for at, name in enumerate(self.classes)}
        return np.array([place.get(str(label), len(self.classes)) for label in labels])


def split(name: str, seed: int) -> Split:
    """Stratified 60/40, of at most the rows of its judgement."""
    (X, labels), positive = rows_of(name), ALL[name].positive
    classes = tuple(sorted(set(labels.tolist()), key=lambda label: (label == positive, label)))
    y = np.array([classes.index(label) for label in labels])
    rows = np.arange(len(y))
    if len(y) > (most := judgement_of(name).most_rows):
        rows, _ = train_test_split(rows, train_size=most, stratify=y, random_state=seed)
    train, test = train_test_split(rows, test_size=TEST_SHARE, stratify=y[rows], random_state=seed)
    parts = [X.iloc[part].reset_index(drop=True) for part in (train, test)]
    return Split(parts[0], y[train], parts[1], y[test], test, classes, seed)


def packed(choice: Codes) -> str:
    """Choices as one character each."""
    return "".join(chr(48 + c) for c in choice.tolist())


def unpacked(text: str) -> Codes:
    """The choices of `packed`."""
    return np.frombuffer(text.encode(), dtype=np.uint8).astype(np.int64) - 48


def truth(name: str, seed: int) -> dict[str, Any]:
    """The test rows by place and their classes; the answers without a machine: a reject, and the best single class."""
    here = split(name, seed)
    K, n = len(here.classes), len(here.y_test)
    single = {
        costs: int(np.argmin(table_of(costs, K)[:, :-1][here.y].mean(axis=0))) for costs in costs_of(name)
    }  # on training rows
    return {
        "truth": packed(here.y_test),
        "rows": here.rows.tolist(),
        "trained": len(here.y),
        "methods": {
            "rejecting all": {costs: answer(np.full(n, K), 0.0) for costs in single},
            "one answer for all": {costs: answer(np.full(n, best), 0.0) for costs, best in single.items()},
        },
    }


def answer(choice: Codes, seconds: float, **facts: Any) -> dict[str, Any]:
    """What is kept of a method at one of the costs."""
    return {"choice": packed(choice), "seconds": seconds, **facts}


def attempted(here: Split, costs: Sequence[str], run: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """The answers of a method at some costs; if it fails, it rejects every row, and what it said is kept.

    A run of thousands of fits should not end at one that fails, and a method should not gain by failing.
    """
    began = time.process_time()
    try:
        return run()
    except Exception as failed:  # noqa: BLE001 (whatever it is, it is kept)
        every = np.full(len(here.y_test), len(here.classes))
        said = f"{type(failed).__name__}: {failed}"[:500]
        return {name: answer(every, time.process_time() - began, error=said) for name in costs}
