"""What held-out scores say about probabilities: the one way from a search to `rules/tuning`.

The scores of a machine trained on few rows are too large or too small near its thresholds. Held-out scores show by how
much. Two numbers turn one score into log-odds, e^t score + b (`sigmoid.py`). The machine is rescaled by them, so that
Bayes' thresholds stay. Three numbers turn the scores of several classes into probabilities (`class_lead.py`); the rule
keeps them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abstain.rules.tuning.class_lead import Lead, fitted_lead
from abstain.rules.tuning.sigmoid import shrunk_sigmoids

__all__ = ["UNTUNED", "Correction", "can_be_tuned", "corrections"]

FEWEST = 10  # held-out rows of each class, or for several classes on average; with fewer, Bayes' thresholds stay


@dataclass(frozen=True)
class Correction:
    """How scores are corrected: by rescaling, or by a rule with its own probabilities.

    Attributes
    ----------
    t, shift : float
        The score becomes e^t score + shift.
    lead : Lead or None
        The probabilities of several classes.
    """

    t: float = 0.0
    shift: float = 0.0
    lead: Lead | None = None

    @property
    def scale(self) -> float:
        """The factor on the score."""
        return float(np.exp(self.t))

    def rule(self, rule: Any) -> Any:
        """Return the rule that decides by corrected scores."""
        return rule if self.lead is None else rule.tuned(self.lead)


UNTUNED = Correction()


def can_be_tuned(rule: Any, code: NDArray[np.intp], row: NDArray[np.intp]) -> bool:
    """Whether scores of this rule mean probabilities, and there are enough held-out rows of these classes."""
    n = len(rule.labels.classes)
    if n > 2:
        return len(np.unique(row)) >= FEWEST * n
    return rule.unit == 1.0 and min(len(np.unique(row[code == k])) for k in range(n)) >= FEWEST


def corrections(
    rule: Any,
    scores: NDArray[np.float64],
    code: NDArray[np.intp],
    weight: NDArray[np.float64],
    start: Sequence[Correction] | None = None,
) -> list[Correction]:
    """Fit a correction to the scores of each machine, (machines, rows) or (machines, rows, classes); mean weight 1."""
    if scores.ndim > 2:
        if not len(code):
            return [UNTUNED] * len(scores)
        return [Correction(lead=fitted_lead(rule.readout.heights(each), code, weight)) for each in scores]
    sign = np.where(code == 1, 1, -1).astype(np.int8)
    first = None if start is None else np.array([(one.t, one.shift) for one in start])
    return [Correction(float(t), float(b)) for t, b in shrunk_sigmoids(scores, sign, weight, first)]
