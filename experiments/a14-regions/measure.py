"""A14 figures 4 and 5: the reject region for theta = 1 and theta = 1.4, and whom it spares.

theta = c_fn / c_fp, one reject price r for both classes: p_low = r / theta and p_high = 1 - r (c_fp = 1).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from harness import Task
from numpy.typing import NDArray
from public_data import load_mitbih
from sklearn.model_selection import StratifiedKFold, StratifiedShuffleSplit
from sklearn.preprocessing import StandardScaler

from abstain import Costs, RejectSVC, RejectSVCCV
from abstain.datasets import make_gaussians

DISTANCE = 2.0  # between the means of the synthetic classes, in standard deviations
DRAWN, TRAIN_ROWS, TEST_ROWS = {"synthetic": 200, "ecg": 400}, 400, 20_000
RECORDS, FEATURES = (214, 221), ("r_amp", "qrs_width")
# figure 4: the lines +-0.5 are delta_0 = 1/2, and Chow's rule too at this price; figure 5: p_high = 0.58, p_low = 0.30
FIGURES = {"4": (Costs(reject=0.24), "bartlett-wegkamp"), "5": (Costs(1.0, 1.4, 0.42), "chow")}
THETAS, PRICE = (1.0, 1.4), 0.42  # compared at the price of figure 5
CS, GAMMAS = (0.01, 0.1, 1.0, 10.0, 100.0), (1 / 32, 1 / 8, 1 / 2)  # smooth machines, on standardised features
REPETITIONS = {"synthetic": 40, "ecg": 40}

Rows = NDArray[np.float64]
Signs = NDArray[np.int64]


def tasks(fast: bool) -> list[Task]:
    """The two pictures, and the repetitions that count."""
    sets = {"synthetic": 3} if fast else REPETITIONS
    drawn = [Task(f"drawn-{name}", example, {"name": name}) for name in sets]
    counted = [
        Task(f"{name}-{k}", compare, {"name": name, "repetition": k})
        for name, count in sets.items()
        for k in range(count)
    ]
    return [*drawn, *counted]


def rows(name: str, repetition: int) -> tuple[Rows, Signs, Rows, Signs]:
    """Training and test rows in the units of the data; fresh ones of the synthetic law, halves of the beats."""
    if name == "synthetic":
        law = make_gaussians(2, distance=DISTANCE, random_state=0).law
        return *law.sample(TRAIN_ROWS, 2 * repetition), *law.sample(TEST_ROWS, 2 * repetition + 1)
    beats = load_mitbih(records=list(RECORDS))
    columns = [list(beats.feature_names).index(feature) for feature in FEATURES]
    X, y = beats.data[:, columns], beats.target
    train, test = next(StratifiedShuffleSplit(1, test_size=0.5, random_state=repetition).split(X, y))
    return X[train], y[train], X[test], y[test]


def machine(X: Rows, y: Signs, costs: Costs, rule: str) -> RejectSVC:
    """C and gamma by cross-validation of the mean cost on these rows, then fitted to them."""
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    return RejectSVCCV(costs, rule=rule, Cs=CS, gammas=GAMMAS, cv=folds, cuts="bayes").fit(X, y)


def example(name: str) -> dict[str, Any]:
    """What figures 4 and 5 show: few enough rows to be seen, and the machine of each figure as an expansion."""
    X, y, *_ = rows(name, 0)
    X, y = X[: DRAWN[name]].round(4), y[: DRAWN[name]]
    scaler = StandardScaler().fit(X)
    found: dict[str, Any] = {"X": X.tolist(), "y": y.tolist()}
    found |= {"mean": scaler.mean_.tolist(), "scale": scaler.scale_.tolist(), "figures": {}}
    for figure, (costs, rule) in FIGURES.items():
        fitted = machine(scaler.transform(X), y, costs, rule)
        found["figures"][figure] = {
            "C": fitted.C_,
            "gamma": fitted.gamma_,
            "thresholds": [fitted.thresholds_.lower, fitted.thresholds_.upper],
            "cut": costs.cut,
            "support": fitted.support_.tolist(),
            "beta": fitted.dual_coef_[0].tolist(),
            "bias": float(fitted.intercept_[0]),
            "choice": fitted.thresholds_.decide(fitted.decision_function(scaler.transform(X))).tolist(),
        }
    return found


def compare(name: str, repetition: int) -> dict[str, Any]:
    """By theta at one price: what becomes of the rows that f > 0 would get wrong."""
    X, y, X_test, y_test = rows(name, repetition)
    scaler = StandardScaler().fit(X)
    X, X_test = scaler.transform(X), scaler.transform(X_test)
    found = []
    for theta in THETAS:
        fitted = machine(X, y, Costs(1.0, theta, PRICE), "chow")
        score = fitted.decision_function(X_test)
        found.append(fates(y_test, score, fitted.thresholds_.decide(score)))
    return {"set": name, "rows": [int(np.sum(y_test == 0)), int(np.sum(y_test == 1))], "by_theta": found}


def fates(y: Signs, score: Rows, choice: NDArray[np.int8]) -> dict[str, float]:
    """Of positives with f <= 0 and of negatives with f > 0, the share rejected; and the rates of what is left."""
    missed, alarmed, n = (y == 1) & (score <= 0), (y == 0) & (score > 0), len(y)
    return {
        "missed_rejected": float(np.mean(choice[missed] == 0)) if missed.any() else 0.0,
        "alarmed_rejected": float(np.mean(choice[alarmed] == 0)) if alarmed.any() else 0.0,
        "false_negative": float(np.sum((y == 1) & (choice < 0)) / n),
        "false_positive": float(np.sum((y == 0) & (choice > 0)) / n),
        "reject": float(np.mean(choice == 0)),
    }


def summary(answers: Mapping[str, Any]) -> dict[str, Any]:
    """Means and paired differences between the two thetas; the drawn machines as they are."""
    drawn = {key.removeprefix("drawn-"): answer for key, answer in answers.items() if key.startswith("drawn-")}
    return {
        "thetas": THETAS,
        "price": PRICE,
        "synthetic": {"distance": DISTANCE, "train": TRAIN_ROWS, "test": TEST_ROWS},
        "features": FEATURES,
        "grid": {"C": CS, "gamma": GAMMAS},
        "bayes": [bayes(theta) for theta in THETAS],
        "sets": {name: differences([a for a in answers.values() if a.get("set") == name], name) for name in drawn},
        "drawn": drawn,
    }


def bayes(theta: float) -> dict[str, float]:
    """The same shares for Bayes' rule on the synthetic law, exactly."""
    law = make_gaussians(2, distance=DISTANCE, random_state=0).law
    joint, forced = law.rates(PRICE / theta, 1 - PRICE), law.rates(0.5, 0.5)
    return {
        "missed_rejected": float(1 - joint[1, 0] / forced[1, 0]),
        "alarmed_rejected": float(1 - joint[0, 2] / forced[0, 2]),
        "false_negative": float(joint[1, 0]),
        "false_positive": float(joint[0, 2]),
        "reject": float(joint[:, 1].sum()),
    }


def differences(found: list[dict[str, Any]], name: str) -> dict[str, Any]:
    """Means for each theta, the second minus the first, and standard errors.

    Halves of one set overlap: Nadeau and Bengio's correction adds test rows / training rows = 1 to 1 / repetitions.
    """
    spread = 1 / len(found) + (0.0 if name == "synthetic" else 1.0)
    result: dict[str, Any] = {"repetitions": len(found), "rows": found[0]["rows"]}
    for key in found[0]["by_theta"][0]:
        values = np.array([[one[key] for one in answer["by_theta"]] for answer in found])
        both = np.column_stack([values, values[:, 1] - values[:, 0]])
        se = np.sqrt(both.var(axis=0, ddof=1) * spread)
        result[key] = {"mean": both.mean(axis=0).tolist(), "se": se.tolist()}
    return result
