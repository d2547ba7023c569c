"""GRKC08's table 1: three rules that reject, on four medical data sets, over random splits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from harness import Task
from harness.paid import paid
from harness.rules import fixed, symmetric
from harness.search import Array, Chosen, Search, Signs
from harness.trials import over_splits
from public_data import load_liver, load_pima, load_thyroid, load_wdbc
from scipy.optimize import brentq
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from abstain import Costs, RejectSVC, Thresholds
from abstain.losses.margin_loss import MarginLoss
from abstain.losses.tangent_hinge import double_hinge, hinge

LOADERS = {"wdbc": load_wdbc, "liver": load_liver, "thyroid": load_thyroid, "pima": load_pima}
RULES = ("naive", "bartlett-wegkamp", "double hinge")
MEASURES = ("loss", "rejected", "errors", "wrong_of_decided")
PRICE, LOWER_PRICES = 0.45, (0.3, 0.15)
TEST_SHARE, FOLDS = 0.2, 5
PAPER_TRIALS, TRIALS, BATCH = 10, 100, 10
CS = np.logspace(-2, 4, 13)
WIDTHS = 4.0 ** np.arange(-4, 3)  # times 1 / the number of features
FEW = {"Cs": CS[4:9:2], "widths": WIDTHS[2:5]}  # of the --fast run


def entropy(p: float) -> float:
    """H(p) = -p log p - (1 - p) log(1 - p)."""
    return float(-p * np.log(p) - (1 - p) * np.log1p(-p))


def chow_threshold(r: float) -> float:
    """GRKC08's threshold in the units of BW08's loss: (r / H(r)) log((1 - r) / r)."""
    return r / entropy(r) * float(np.log((1 - r) / r))


def equal_rules() -> float:
    """The price at which it is 1/2, so that both rules are the same."""
    return float(brentq(lambda r: chow_threshold(r) - 0.5, 0.05, 0.45, xtol=1e-12))


def split(X: Array, y: Any, seed: int) -> tuple[Array, Signs, Array, Signs]:
    """Stratified 80/20, standardised by the mean and deviation of the training rows."""
    sign = np.where(np.asarray(y) > 0, 1, -1).astype(np.int8)
    parts = train_test_split(X, sign, test_size=TEST_SHARE, stratify=sign, random_state=seed)
    scaler = StandardScaler().fit(parts[0])
    return scaler.transform(parts[0]), parts[2], scaler.transform(parts[1]), parts[3]


def searches(X: Array, sign: Signs, loss: MarginLoss, seed: int, *, Cs: Array, widths: Array) -> Search:
    """Held-out scores of the machine with this loss for the whole grid."""
    return Search.of(X, sign, loss, Cs, widths / X.shape[1], folds=FOLDS, seed=seed)


def choices(plain: Search, twice: Search, costs: Costs) -> dict[str, Chosen]:
    """What cross-validation chooses for each rule.

    The search of the double hinge serves both of its rules: BW08's machine with C_psi = C r^2 / H(r) is the double
    hinge's with C, its score f_psi = f r / H(r), so |f_psi| > 1/2 is |f| > H(r) / (2 r).
    """
    r = costs.reject_positive
    half = entropy(r) / (2 * r)
    return {
        "naive": plain.choose(symmetric(), costs, cross_fit=False),
        "bartlett-wegkamp": twice.choose(fixed(Thresholds(-half, half)), costs, cross_fit=False),
        "double hinge": twice.choose(fixed(costs.score_thresholds()), costs, cross_fit=False),
    }


def judged(choice: Signs, sign: Signs, costs: Costs) -> dict[str, float]:
    """Mean loss, share rejected, share decided wrongly, and the latter among the decided."""
    wrong, decided = (choice != 0) & (choice != sign), choice != 0
    return {
        "loss": float(paid(costs, sign, choice).mean()),
        "rejected": float(1 - decided.mean()),
        "errors": float(wrong.mean()),
        "wrong_of_decided": float(wrong.sum() / max(decided.sum(), 1)),
    }


def trials(data: str, seeds: list[int], prices: list[float], *, few: bool = False) -> list[dict[str, Any]]:
    """The three rules on these splits at these prices: one row for each split, price and rule."""
    X, y = LOADERS[data](return_X_y=True)
    grid = FEW if few else {"Cs": CS, "widths": WIDTHS}
    rows = []
    for seed in seeds:
        X_train, s_train, X_test, s_test = split(X, y, seed)
        plain = searches(X_train, s_train, hinge(), seed, **grid)
        for price in prices:
            costs = Costs(reject=price)
            twice = searches(X_train, s_train, double_hinge(costs), seed, **grid)
            for rule, chosen in choices(plain, twice, costs).items():
                machine = RejectSVC(None if rule == "naive" else costs, C=chosen.C, gamma=chosen.gamma)
                choice = chosen.decide(machine.fit(X_train, s_train).decision_function(X_test))
                facts = {"data": data, "seed": seed, "price": price, "rule": rule, "C": chosen.C, "gamma": chosen.gamma}
                rows.append({**facts, **judged(choice, s_test, costs)})
    return rows


def tasks(fast: bool) -> list[Task]:
    """Ten splits of a data set each."""
    if fast:
        return [Task("wdbc/0", trials, {"data": "wdbc", "seeds": [0, 1, 2], "prices": [PRICE, 0.3], "few": True})]
    prices = [PRICE, *LOWER_PRICES]
    return [
        Task(f"{data}/{at}", trials, {"data": data, "seeds": list(range(at, at + BATCH)), "prices": prices})
        for data in LOADERS
        for at in range(0, TRIALS, BATCH)
    ]


def summary(answers: Mapping[str, Any]) -> dict[str, Any]:
    """Means by data set, price and rule, and paired differences to the double hinge; for 10 trials and for all."""
    rows = [row for answer in answers.values() for row in answer]
    data = [name for name in LOADERS if any(row["data"] == name for row in rows)]
    prices = sorted({row["price"] for row in rows}, reverse=True)
    shapes = {name: LOADERS[name]().data.shape for name in data}
    return {
        "price": PRICE,
        "prices": prices,
        "shapes": {name: [int(k) for k in shape] for name, shape in shapes.items()},
        "grid": {"Cs": CS.tolist(), "widths": WIDTHS.tolist(), "folds": FOLDS},
        "thresholds": {str(r): chow_threshold(r) for r in prices},
        "equal_rules_at": equal_rules(),
        "ten": {name: table(rows, name, PRICE, PAPER_TRIALS) for name in data},
        "all": {str(r): {name: table(rows, name, r, TRIALS) for name in data} for r in prices},
        "at_edge": edges(rows),
    }


def table(rows: list[dict[str, Any]], data: str, price: float, first: int) -> dict[str, Any]:
    """One data set's lines of the table from its first so many trials."""
    values = {
        rule: {
            measure: np.array(
                [
                    row[measure]
                    for row in sorted(rows, key=lambda row: row["seed"])
                    if (row["data"], row["price"], row["rule"]) == (data, price, rule) and row["seed"] < first
                ]
            )
            for measure in MEASURES
        }
        for rule in RULES
    }
    pairs = len(LOADERS) * (len(RULES) - 1)
    means = {rule: {m: over_splits(v, TEST_SHARE) for m, v in values[rule].items()} for rule in RULES}
    paired = {
        rule: {
            m: over_splits(v - values["double hinge"][m], TEST_SHARE, statements=pairs) for m, v in values[rule].items()
        }
        for rule in RULES[:-1]
    }
    return {"rules": means, "minus_double_hinge": paired}


def edges(rows: list[dict[str, Any]]) -> dict[str, float]:
    """How often each rule chose a C or a width at an end of the grid, at the paper's price."""
    found = {}
    for rule in RULES:
        of_rule = [row for row in rows if row["rule"] == rule and row["price"] == PRICE]
        at_end = [row["C"] in (CS[0], CS[-1]) or _width_at_end(row) for row in of_rule]
        found[rule] = float(np.mean(at_end))
    return found


def _width_at_end(row: dict[str, Any]) -> bool:
    ends = WIDTHS[[0, -1]] / LOADERS[row["data"]]().data.shape[1]
    return bool(np.isclose(row["gamma"], ends).any())
