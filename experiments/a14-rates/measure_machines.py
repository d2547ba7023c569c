"""The machines of A14 section 5: its data sets, C and gamma by cross-validation, one machine for each reject price.

Every machine is the double hinge's. Bartlett and Wegkamp's is the same one in other units (MATH.md 2), so a rule is
no more than a threshold on the same score f:

    Chow (GRKC08)           |f| > log((1 - r) / r)
    Bartlett-Wegkamp        |f| > delta_0 H(r) / r,     delta_0 = r, 1/2 or 1 - r
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from public_data import load_covtype, load_mitbih
from sklearn.model_selection import StratifiedKFold, StratifiedShuffleSplit
from sklearn.preprocessing import StandardScaler

from abstain import Costs, RejectSVC, RejectSVCCV, Thresholds, reject_price_sweep
from abstain.datasets import make_gaussians
from abstain.metrics import RejectTable

RULES = ("chow", "r", "half", "1-r")
RECORDS = (214, 221)  # of figures 7 and 8
DISTANCE = 2.0  # between the means of the synthetic classes, in standard deviations: Bayes error 15.9 %
TRAIN_ROWS, TEST_ROWS = 400, 20_000  # of each synthetic repetition
SEARCH_ROWS = 3000  # training rows that C and gamma are chosen on, where there are more
SEARCH_PRICE = 0.24  # where the rules of Chow and of Bartlett and Wegkamp coincide, so that the choice favours neither
OWN_UNITS = "-own-units"  # of a set's name: C held fixed in Bartlett and Wegkamp's units instead, C H(r) / r^2
EACH_PRICE = "-each-price"  # C and gamma chosen anew at each price
NUMERIC = 10  # the first columns of the forest data; the others are indicators

Rows = NDArray[np.float64]
Split = tuple[Rows, NDArray[np.int64], Rows, NDArray[np.int64]]


def entropy(p: float) -> float:
    """H(p) in nats."""
    return -p * math.log(p) - (1 - p) * math.log1p(-p)


def threshold(rule: str, r: float) -> float:
    """Above which |f| is decided, in the double hinge's units; at r = 1/2 as the formula says, too."""
    if rule == "chow":
        return math.log((1 - r) / r)
    delta = {"r": r, "half": 0.5, "1-r": 1 - r}[rule]
    return delta * entropy(r) / r


def split(name: str, repetition: int) -> Split:
    """Training and test rows: fresh ones of the synthetic law, halves of the others; scaled by the training rows."""
    if name == "synthetic":
        law = make_gaussians(2, distance=DISTANCE, random_state=0).law
        return *law.sample(TRAIN_ROWS, random_state=2 * repetition), *law.sample(TEST_ROWS, 2 * repetition + 1)
    if name == "forest":
        X, y = load_covtype(classes=(6, 4), return_X_y=True)  # Cottonwood is positive
    else:
        X, y = load_mitbih(records=list(RECORDS) if name == "ecg" else None, return_X_y=True)
    halves = StratifiedShuffleSplit(1, test_size=0.5, random_state=repetition)
    train, test = next(halves.split(X, y))
    columns = slice(NUMERIC if name == "forest" else None)
    X = X.copy()
    X[:, columns] = StandardScaler().fit(X[train][:, columns]).transform(X[:, columns])
    return X[train], y[train], X[test], y[test]


def search(X: Rows, y: ArrayLike, costs: Costs) -> tuple[float, float]:
    """C and gamma of the least cross-validated cost, on the first rows (they are in random order)."""
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    model = RejectSVCCV(costs, Cs=np.logspace(-2, 4, 7), gammas=5, cv=folds, cuts="bayes")
    model.fit(X[:SEARCH_ROWS], np.asarray(y)[:SEARCH_ROWS])
    return model.C_, model.gamma_


def outcomes(y: NDArray[np.int64], score: Rows, half_width: float) -> list[int]:
    """TN, rejected negatives, FP, FN, rejected positives, TP; and how many of the rejected sign(f) gets wrong."""
    sign = 2 * y - 1
    choice = Thresholds(-half_width, half_width).decide(score)
    spared = (choice == 0) & (np.where(score > 0, 1, -1) != sign)
    return [*map(int, RejectTable.of(sign, choice).counts.ravel()), int(spared.sum())]


def sweep(name: str, repetition: int, prices: list[float], rules: list[str]) -> dict[str, Any]:
    """One repetition: a machine for each price, and what each rule makes of its scores on the test rows."""
    X, y, X_test, y_test = split(name.removesuffix(OWN_UNITS).removesuffix(EACH_PRICE), repetition)
    C, gamma = search(X, y, Costs(reject=SEARCH_PRICE))
    if name.endswith(OWN_UNITS):
        units = [entropy(r) / r**2 for r in (*prices, SEARCH_PRICE)]
        pairs = [(C * unit / units[-1], gamma) for unit in units[:-1]]
        machines = [_machine(X, y, r, pair) for r, pair in zip(prices, pairs, strict=True)]
    elif name.endswith(EACH_PRICE):
        machines = [_machine(X, y, r, search(X, y, Costs(reject=r))) for r in prices]
    else:
        machines = reject_price_sweep(RejectSVC(Costs(), C=C, gamma=gamma), X, y, prices)
    scores = [machine.decision_function(X_test) for machine in machines]
    found = {
        rule: [outcomes(y_test, score, threshold(rule, r)) for r, score in zip(prices, scores, strict=True)]
        for rule in rules
    }
    gaps = [machine.duality_gap_ for machine in machines if machine.status_ != "optimal"]
    rows = np.bincount(y) + np.bincount(y_test)
    size = {"negatives": int(rows[0]), "positives": int(rows[1]), "features": X.shape[1]}
    return {"set": name, "size": size, "C": C, "gamma": gamma, "gaps": gaps, "outcomes": found}


def _machine(X: Rows, y: ArrayLike, r: float, pair: tuple[float, float]) -> RejectSVC:
    return RejectSVC(Costs(reject=r), C=pair[0], gamma=pair[1]).fit(X, y)


def of_set(answers: Any, name: str, rules: list[str]) -> dict[str, NDArray[np.float64]]:
    """Each rule's outcomes on one set as shares of the test rows, of shape (repetitions, prices, 7)."""
    found = [answer["outcomes"] for answer in answers.values() if answer["set"] == name]
    stacked = {rule: np.array([outcome[rule] for outcome in found], dtype=np.float64) for rule in rules}
    return {rule: array / array[..., :6].sum(axis=-1, keepdims=True) for rule, array in stacked.items()}


def rejected(shares: NDArray[np.float64]) -> NDArray[np.float64]:
    """R."""
    return shares[..., 1] + shares[..., 4]


def wrong(shares: NDArray[np.float64]) -> NDArray[np.float64]:
    """E."""
    return shares[..., 2] + shares[..., 3]


def standard_error(values: NDArray[np.float64], name: str) -> NDArray[np.float64]:
    """Of the mean over the repetitions, the first axis.

    Synthetic repetitions are independent. Halves of one set overlap: Nadeau and Bengio's correction (Machine Learning
    52, 2003) adds test rows / training rows = 1 to 1 / repetitions.
    """
    overlap = 0.0 if name.startswith("synthetic") else 1.0
    return np.sqrt(values.var(axis=0, ddof=1) * (1.0 / len(values) + overlap))


def settings(answers: Any, names: list[str]) -> dict[str, Any]:
    """Sizes of the sets, what cross-validation chose, and the gaps of fits that did not end optimal."""
    chosen = {}
    for name in names:
        own = [answer for answer in answers.values() if answer["set"] == name]
        C, gamma = (sorted(answer[key] for answer in own) for key in ("C", "gamma"))
        chosen[name] = {
            **own[0]["size"],
            "repetitions": len(own),
            "C": [C[0], C[len(C) // 2], C[-1]],
            "gamma": [gamma[0], gamma[len(gamma) // 2], gamma[-1]],
            "gaps": [gap for answer in own for gap in answer["gaps"]],
        }
    return chosen
