"""A14 figure 8: error against reject rate, and the error-reject ratio for prices from 0.5 to 0.4."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from harness import Task
from measure_machines import (
    DISTANCE,
    SEARCH_PRICE,
    SEARCH_ROWS,
    TEST_ROWS,
    TRAIN_ROWS,
    of_set,
    rejected,
    settings,
    standard_error,
    sweep,
    wrong,
)
from numpy.typing import NDArray

from abstain.datasets import make_gaussians

PRICES = [k / 50 for k in range(25, 5, -1)]  # 0.50, 0.48, ... 0.12: the paper's range
HIGH, LOW = PRICES.index(0.5), PRICES.index(0.4)
REPETITIONS = {"synthetic": 60, "ecg": 60, "forest": 20, "ecg21": 20}
RULES = ["chow", "half"]

Array = NDArray[np.float64]


def tasks(fast: bool) -> list[Task]:
    """One per set and repetition."""
    return [
        Task(f"{name}-{k}", sweep, {"name": name, "repetition": k, "prices": PRICES, "rules": RULES})
        for name, count in ({"synthetic": 3} if fast else REPETITIONS).items()
        for k in range(count)
    ]


def summary(answers: Mapping[str, Any]) -> dict[str, Any]:
    """Curves, ratios and costs of each set; Bayes' rule where it is known."""
    names = list(dict.fromkeys(answer["set"] for answer in answers.values()))
    return {
        "prices": PRICES,
        "synthetic": {"distance": DISTANCE, "train": TRAIN_ROWS, "test": TEST_ROWS},
        "search": {"price": SEARCH_PRICE, "rows": SEARCH_ROWS},
        "settings": settings(answers, names),
        "bayes": bayes(),
        "sets": {name: of_one_set(of_set(answers, name, RULES), name) for name in names},
    }


def bayes() -> dict[str, Any]:
    """The exact curve of Chow's rule on the synthetic law, and its ratio."""
    law = make_gaussians(2, distance=DISTANCE, random_state=0).law
    rates = [law.rates(r, 1 - r) for r in PRICES]
    R, E = ([float(value) for value in values] for values in zip(*map(_rates, rates), strict=True))
    return {"reject": R, "error": E, "ratio": (E[LOW] - E[HIGH]) / (R[LOW] - R[HIGH])}


def _rates(joint: Array) -> tuple[float, float]:
    return joint[:, 1].sum(), joint[0, 2] + joint[1, 0]


def of_one_set(shares: dict[str, Array], name: str) -> dict[str, Any]:
    """Curves of both rules, their ratios, and paired differences."""
    R = {rule: rejected(own) for rule, own in shares.items()}
    E = {rule: wrong(own) for rule, own in shares.items()}
    cost = {rule: E[rule] + np.array(PRICES) * R[rule] for rule in RULES}
    quotients = {rule: quotient(*_steps(E[rule], R[rule])) for rule in RULES}
    among = {rule: quotient(shares[rule][:, LOW, 6], R[rule][:, LOW]) for rule in RULES}
    saved = cost["half"] - cost["chow"]
    return {
        "curves": {rule: _curve(R[rule], E[rule], name) for rule in RULES},
        "ratio": {rule: {"mean": q, "se": _se(u, name)} for rule, (q, u) in quotients.items()},
        "steeper": {
            "mean": quotients["chow"][0] - quotients["half"][0],
            "se": _se(quotients["chow"][1] - quotients["half"][1], name),
        },
        "wrong_among_rejected": {rule: {"mean": q, "se": _se(u, name)} for rule, (q, u) in among.items()},
        "saved": {"mean": saved.mean(axis=0).tolist(), "se": standard_error(saved, name).tolist()},
        "saved_dear": _mean_se(saved[:, HIGH : LOW + 1].mean(axis=1), name),
        "saved_all": _mean_se(saved.mean(axis=1), name),
        "equal_reject": equal_reject(R, E, name),
        "monotone": {rule: monotone(R[rule], E[rule]) for rule in RULES},
    }


def _steps(E: Array, R: Array) -> tuple[Array, Array]:
    return E[:, LOW] - E[:, HIGH], R[:, LOW] - R[:, HIGH]


def quotient(above: Array, below: Array) -> tuple[float, Array]:
    """Ratio of the means, and each repetition's part in its error (linearised): (above - ratio below) / mean below."""
    if below.mean() == 0:
        return float("nan"), np.full_like(below, np.nan)
    ratio = above.mean() / below.mean()
    return float(ratio), (above - ratio * below) / below.mean()


def equal_reject(R: dict[str, Array], E: dict[str, Array], name: str) -> dict[str, float]:
    """Error of Chow's rule minus that of delta_0 = 1/2 where both reject as many as the latter does at r = 0.4."""
    apart = []
    for k in range(len(R["chow"])):
        at, order = R["half"][k, LOW], np.argsort(R["chow"][k], kind="stable")
        if at <= R["chow"][k].max():
            apart.append(np.interp(at, R["chow"][k][order], E["chow"][k][order]) - E["half"][k, LOW])
    return {**_mean_se(np.array(apart), name), "repetitions": len(apart)}


def monotone(R: Array, E: Array) -> float:
    """Share of the steps to a lower price, over all repetitions, where R does not fall and E does not rise."""
    return float(((np.diff(R, axis=1) >= 0) & (np.diff(E, axis=1) <= 0)).mean())


def _curve(R: Array, E: Array, name: str) -> dict[str, list[float]]:
    means = {"reject": R.mean(axis=0).tolist(), "error": E.mean(axis=0).tolist()}
    return {**means, "error_se": standard_error(E, name).tolist(), "reject_se": standard_error(R, name).tolist()}


def _se(values: Array, name: str) -> float:
    return float(standard_error(values, name))


def _mean_se(values: Array, name: str) -> dict[str, float]:
    return {"mean": float(values.mean()), "se": _se(values, name)}
