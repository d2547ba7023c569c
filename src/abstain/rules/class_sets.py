"""Set-valued answers: for each row, the classes that are not ruled out (Ha 1997; Zhang, Wang & Qiao 2018)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from abstain.arguments import real_number
from abstain.rules.action_rule import refuse_actions
from abstain.rules.row_rule import RowRule
from abstain.rules.rule import Rule

__all__ = ["class_sets"]


def class_sets(rule: Any, score: NDArray[np.float64], include: float | None) -> NDArray[np.bool_]:
    """Give the classes that are not ruled out, shape (n, n_classes).

    With two classes a rejected row has both, any other row the class decided. With `include`, the cheapest class and
    every other one with a probability of at least `include`; without costs the likeliest.
    """
    if include is not None and not 0.0 < real_number("include", include) <= 1.0:
        raise ValueError(f"include={include!r} must be a probability above 0, at most 1; None uses the lower cuts.")
    refuse_actions(rule, "predict_set", "decide, which gives the expected cost of each action")
    if not isinstance(rule, Rule | RowRule):
        return np.asarray(rule.included(score, include))
    if include is None:
        choice = rule.choose(score)
        return np.column_stack([choice <= 0, choice >= 0])
    if not np.isfinite(rule.unit):
        raise ValueError("include needs probabilities, which these scores do not give; state costs, or pass None.")
    log_odds = rule.unit * score
    second = log_odds > 0.0 if isinstance(rule, RowRule) else score > rule.cut
    likely = np.column_stack([expit(-log_odds), expit(log_odds)])
    return np.asarray((likely >= include) | np.column_stack([~second, second]))
