"""A14 figures 6 and 7: the reject rate against the price of rejecting, by four rules on the same machines."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness import Task
from measure_machines import (
    DISTANCE,
    EACH_PRICE,
    OWN_UNITS,
    RULES,
    SEARCH_PRICE,
    SEARCH_ROWS,
    TEST_ROWS,
    TRAIN_ROWS,
    of_set,
    rejected,
    settings,
    standard_error,
    sweep,
    threshold,
)

from abstain.datasets import make_gaussians

PRICES = [k / 50 for k in range(25, 0, -1)]  # 0.50, 0.48, ... 0.02
REPETITIONS = {
    "synthetic": 40,
    "ecg": 40,
    "ecg21": 10,
    f"synthetic{OWN_UNITS}": 10,
    f"synthetic{EACH_PRICE}": 10,
}
FAST_PRICES = [0.5, 0.4, 0.24, 0.12, 0.02]


def tasks(fast: bool) -> list[Task]:
    """One per set and repetition."""
    sets, prices = ({"synthetic": 2}, FAST_PRICES) if fast else (REPETITIONS, PRICES)
    return [
        Task(f"{name}-{k}", sweep, {"name": name, "repetition": k, "prices": prices, "rules": list(RULES)})
        for name, count in sets.items()
        for k in range(count)
    ]


def summary(answers: Mapping[str, Any]) -> dict[str, Any]:
    """Reject rates of each rule with standard errors, differences from Chow's, and Bayes' rule where it is known."""
    names = list(dict.fromkeys(answer["set"] for answer in answers.values()))
    count = len(next(iter(answers.values()))["outcomes"]["chow"])
    prices = PRICES if count == len(PRICES) else FAST_PRICES
    law = make_gaussians(2, distance=DISTANCE, random_state=0).law
    return {
        "prices": prices,
        "thresholds": {rule: [threshold(rule, r) for r in prices] for rule in RULES},
        "synthetic": {"distance": DISTANCE, "train": TRAIN_ROWS, "test": TEST_ROWS},
        "search": {"price": SEARCH_PRICE, "rows": SEARCH_ROWS},
        "settings": settings(answers, names),
        "bayes": [float(law.rates(r, 1 - r)[:, 1].sum()) for r in prices],
        "sets": {name: rates(answers, name) for name in names},
    }


def rates(answers: Mapping[str, Any], name: str) -> dict[str, Any]:
    """By rule: mean reject rate, its standard error, the mean difference from Chow's rule and its standard error."""
    rate = {rule: rejected(shares) for rule, shares in of_set(answers, name, list(RULES)).items()}
    found = {}
    for rule, values in rate.items():
        apart = values - rate["chow"]
        found[rule] = {
            "mean": values.mean(axis=0).tolist(),
            "se": standard_error(values, name).tolist(),
            "apart": apart.mean(axis=0).tolist(),
            "apart_se": standard_error(apart, name).tolist(),
        }
    return found
