"""Answers from conformal sets of several classes: the only class in the set; several or none are a reject.

::

    set(x) = {k: t_k(x) >= cut_k}          t_k = f_k - max_{j != k} f_j, or the p-value of k
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from abstain.class_labels import ClassLabels
from abstain.machines.class_calibration import in_favour
from abstain.rules.lead_rule import WrappedRule

__all__ = ["SetRule"]


@dataclass(frozen=True, eq=False)
class SetRule(WrappedRule):
    """Answers the only class that is in the set.

    Attributes
    ----------
    labels : ClassLabels
    cuts : ndarray of shape (n_classes,)
        On the lead of each class over the best of the others, or on its p-value.
    is_log_probability : bool, default=False
        Whether the scores are logarithms of probabilities.
    by_p_value : bool, default=False
        Whether the scores are p-values already.

    Examples
    --------
    >>> import numpy as np
    >>> from abstain.class_labels import ClassLabels
    >>> from abstain.rules.set_rule import SetRule
    >>> rule = SetRule(ClassLabels.of(["cat", "dog", "fox"], rejects=True), np.array([-1.0, -1.0, 1.0]))
    >>> rule.predict(np.array([[3.0, 0.0, 0.5], [3.0, 2.5, 0.0], [0.0, 0.5, 2.0]]))
    array(['cat', 'reject', 'fox'], dtype='<U6')
    """

    labels: ClassLabels
    cuts: NDArray[np.float64]
    is_log_probability: bool = False
    by_p_value: bool = False
    costs: None = None
    costs_decide: ClassVar[bool] = False

    @property
    def thresholds(self) -> NDArray[np.float64]:
        """The cut on the lead, or the p-value, of each class."""
        return self.cuts

    def inside(self, score: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Give the set of each row."""
        return np.asarray(self._in_favour(score) >= self.cuts)

    def _in_favour(self, score: NDArray[np.float64]) -> NDArray[np.float64]:
        return score if self.by_p_value else in_favour(score)

    def choose(self, score: NDArray[np.float64]) -> NDArray[np.intp]:
        """Give 1, ..., n for the only class in the set, and 0 for a reject."""
        inside = self.inside(score)
        return np.where(inside.sum(axis=-1) == 1, np.argmax(inside, axis=-1) + 1, 0)

    def best(self, score: NDArray[np.float64]) -> NDArray[np.intp]:
        """Give 1, ..., n for the class of the highest score in the set, or of all scores if it is empty."""
        inside = self.inside(score)
        among = inside | ~inside.any(axis=-1, keepdims=True)
        return np.asarray(np.argmax(np.where(among, score, -np.inf), axis=-1) + 1)

    def margin(self, score: NDArray[np.float64]) -> NDArray[np.float64]:
        """Give how far each row is from a reject: at least 0 where it is answered, at most 0 where it is not."""
        own = self._named(score)
        above = self._in_favour(score) - self.cuts
        return np.asarray(np.where(own, above, -above).min(axis=1))

    def included(self, score: NDArray[np.float64], include: float | None) -> NDArray[np.bool_]:
        """Give the conformal set, which may be empty; with `include` the likeliest classes instead."""
        return self.inside(score) if include is None else self._likely(score, include)
