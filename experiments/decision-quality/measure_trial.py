"""What all methods share: costs, folds, the number of candidates, and how decisions are judged."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from harness.paid import paid
from measure_sets import Array, Signs, split
from sklearn.model_selection import StratifiedKFold

from abstain import Costs, Thresholds

COSTS = {"equal": Costs(1, 1, 0.2), "misses": Costs(1, 5, 0.4), "alarms": Costs(5, 1, 0.4)}
FOLDS, CANDIDATES = 5, 24


@dataclass(frozen=True, eq=False)
class Trial:
    """One split of a set: standardised rows, their signs, and the folds of the training rows."""

    X: Array
    sign: Signs
    X_test: Array
    sign_test: Signs
    splitter: StratifiedKFold
    seed: int

    @classmethod
    def of(cls, name: str, seed: int) -> Trial:
        """The split with this seed."""
        return cls(*split(name, seed), StratifiedKFold(FOLDS, shuffle=True, random_state=seed), seed)

    @property
    def folds(self) -> list[tuple[Any, Any]]:
        """The same folds for every method."""
        return list(self.splitter.split(self.X, self.sign))

    def judged(self, costs: str, method: str, choice: Any, **facts: Any) -> dict[str, Any]:
        """One row of the answer: mean cost on the test rows, share rejected and share wrong."""
        choice = np.asarray(choice, dtype=np.int8)
        return {
            "costs": costs,
            "method": method,
            "cost": float(paid(COSTS[costs], self.sign_test, choice).mean()),
            "rejected": float((choice == 0).mean()),
            "wrong": float((choice == -self.sign_test).mean()),
            **facts,
        }


def forced(costs: Costs) -> Costs:
    """The same error costs with the largest reject cost, at which nothing is rejected."""
    c_fp, c_fn = costs.false_positive, costs.false_negative
    return Costs(c_fp, c_fn, c_fp * c_fn / (c_fp + c_fn))


def thresholds(costs: Costs, *, reject: bool) -> Thresholds:
    """Bayes' thresholds on the probability, or the one cut if nothing may be rejected."""
    return (costs if reject else forced(costs)).thresholds()
