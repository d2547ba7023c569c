"""The costs of the three decisions, and Bayes' rule for them (MATH.md 1: Chow70, GRKC08 section 2, A14 section 2)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils._param_validation import InvalidParameterError

from abstain.arguments import positive_number, row_weights
from abstain.html import html_table
from abstain.labels import encode_pair
from abstain.thresholds import Thresholds

__all__ = ["Costs", "checked_costs"]

# If r_neg/c_fp + r_pos/c_fn is this close to 1, it counts as 1: the band is empty and nothing is rejected.
_EQUALITY = 1e-12


@dataclass(frozen=True)
class Costs:
    r"""The cost of each decision, given the true class; validated on construction.

    ::

        decision \ true class +1       -1
             +1                0        c_fp
             -1                c_fn     0
           reject              r_pos    r_neg

    Rejecting can pay if and only if ``r_neg / c_fp + r_pos / c_fn < 1``. At equality nothing is ever
    rejected; above it an error is raised.

    Parameters
    ----------
    false_positive : float, default=1.0
        c_fp, the cost of deciding +1 when -1 is true.
    false_negative : float, default=1.0
        c_fn, the cost of deciding -1 when +1 is true.
    reject : float or (float, float), default=0.5
        The cost of rejecting: one value for both classes, or the pair (negative, positive) = (r_neg, r_pos).

    Examples
    --------
    >>> from abstain import Costs
    >>> costs = Costs(false_positive=1, false_negative=5, reject=0.25)
    >>> costs.thresholds()
    Thresholds(lower=0.05, upper=0.75)
    """

    false_positive: float = 1.0
    false_negative: float = 1.0
    reject: float | tuple[float, float] = 0.5

    def __post_init__(self) -> None:
        object.__setattr__(self, "false_positive", positive_number("false_positive", self.false_positive))
        object.__setattr__(self, "false_negative", positive_number("false_negative", self.false_negative))
        object.__setattr__(self, "reject", _reject_prices(self.reject))
        if self._share > 1.0 + _EQUALITY:
            raise ValueError(self._never_pays())

    @classmethod
    def from_matrix(cls, matrix: ArrayLike, reject: float | tuple[float, float] = 0.5) -> Costs:
        """Read the costs from a 2 x 2 cost matrix, as published with data sets.

        Parameters
        ----------
        matrix : array-like of shape (2, 2)
            Rows actual, columns predicted, the positive class second; zeros on the diagonal.
        reject : float or (float, float), default=0.5
            As in `Costs`.

        Examples
        --------
        >>> from abstain import Costs
        >>> Costs.from_matrix([[0, 1], [5, 0]], reject=0.3)
        Costs(false_positive=1.0, false_negative=5.0, reject=0.3)
        """
        table = np.asarray(matrix, dtype=np.float64)
        if table.shape != (2, 2):
            raise ValueError(f"matrix must be 2 x 2 (rows actual, columns predicted); its shape is {table.shape}.")
        if table[0, 0] != 0 or table[1, 1] != 0:
            raise ValueError(
                f"matrix must be 0 on its diagonal, where decisions are correct; it has {table[0, 0]:g} and "
                f"{table[1, 1]:g}. Subtract each row's diagonal entry from that row."
            )
        return cls(false_positive=float(table[0, 1]), false_negative=float(table[1, 0]), reject=reject)

    def swapped(self) -> Costs:
        """Give the same costs with the two classes exchanged: those of the other class as the positive one."""
        return Costs(self.false_negative, self.false_positive, (self.reject_positive, self.reject_negative))

    @property
    def reject_negative(self) -> float:
        """r_neg, the cost of rejecting when -1 is true."""
        return self.reject[0] if isinstance(self.reject, tuple) else self.reject

    @property
    def reject_positive(self) -> float:
        """r_pos, the cost of rejecting when +1 is true."""
        return self.reject[1] if isinstance(self.reject, tuple) else self.reject

    @property
    def rejects(self) -> bool:
        """Whether rejecting ever pays; False at equality, where the two thresholds meet."""
        return self._share < 1.0 - _EQUALITY

    @property
    def cut(self) -> float:
        """The score log(c_fp / c_fn) above which deciding +1 is cheaper than -1, if rejecting is not allowed."""
        return _log_ratio(self.false_positive, self.false_negative)

    def thresholds(self) -> Thresholds:
        """Return Bayes' thresholds (p_low, p_high) on the probability of the positive class.

        ::

            p_low = r_neg / (c_fn - r_pos + r_neg)     p_high = (c_fp - r_neg) / (c_fp - r_neg + r_pos)
        """
        if not self.rejects:
            p = _ratio_to_sum(self.false_positive, self.false_negative)
            return Thresholds(p, p)
        r_neg, r_pos = self.reject_negative, self.reject_positive
        p_low = _ratio_to_sum(r_neg, self.false_negative - r_pos)
        p_high = _ratio_to_sum(self.false_positive - r_neg, r_pos)
        # Very close to 0 or 1, rounding may swap the two in the last digit.
        return Thresholds(min(p_low, p_high), p_high)

    def score_thresholds(self) -> Thresholds:
        """Return the same thresholds on the log-odds, computed without probabilities that round to 0 or 1.

        ::

            delta_low = log(r_neg / (c_fn - r_pos))     delta_high = log((c_fp - r_neg) / r_pos)
        """
        if not self.rejects:
            return Thresholds(self.cut, self.cut)
        r_neg, r_pos = self.reject_negative, self.reject_positive
        delta_low = _log_ratio(r_neg, self.false_negative - r_pos)
        return Thresholds(delta_low, _log_ratio(self.false_positive - r_neg, r_pos))

    def table(self) -> NDArray[np.float64]:
        """Return all costs, (2, 3): rows true class -1, +1; columns choice -1, 0 (reject), +1."""
        return np.array(
            [[0.0, self.reject_negative, self.false_positive], [self.false_negative, self.reject_positive, 0.0]]
        )

    def _repr_html_(self) -> str:
        """Return the costs as a table, for notebooks."""
        negative, positive = self.table().tolist()
        columns = ("true class", "decided negative", "rejected", "decided positive")
        return html_table("Cost of each decision", columns, [("negative", *negative), ("positive", *positive)])

    def prices(self, sign: ArrayLike, choice: ArrayLike) -> NDArray[np.float64]:
        """Return the cost of each choice (-1, 0, +1) given the true sign (-1, +1)."""
        truth = (np.asarray(sign, dtype=np.int8) > 0).astype(np.intp)  # broadcast against the choices
        priced: NDArray[np.float64] = self.table()[truth, np.asarray(choice, dtype=np.int8) + 1]
        return priced

    def expected(self, probability: ArrayLike) -> NDArray[np.float64]:
        """Return the expected cost of deciding -1, rejecting and deciding +1 at each probability of the positive class.

        The last axis has length 3.
        """
        p = np.asarray(probability, dtype=np.float64)[..., np.newaxis]
        negative, positive = self.table()
        return np.asarray((1.0 - p) * negative + p * positive)

    def mean_cost(
        self,
        y_true: ArrayLike,
        y_pred: ArrayLike,
        *,
        pos_label: Any = None,
        reject_label: Any = "auto",
        sample_weight: ArrayLike | None = None,
    ) -> float:
        """Return the mean cost of the predictions, rejects included.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,)
            True labels, of two classes.
        y_pred : array-like of shape (n_samples,)
            Predicted labels, with `reject_label` for rejected rows.
        pos_label : label, default=None
            The positive class; the larger of the two by default.
        reject_label : label or "auto", default="auto"
            The label of a reject in `y_pred`; "auto" derives it from the labels of `y_true`.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the mean.

        Examples
        --------
        >>> from abstain import Costs
        >>> Costs(1, 5, 0.25).mean_cost([0, 0, 1, 1], [0, 1, -1, 1])
        0.3125
        """
        sign, choice = encode_pair(y_true, y_pred, pos_label, reject_label)
        prices = self.prices(sign, choice)
        return float(np.average(prices, weights=row_weights(sample_weight, len(prices))))

    @property
    def _share(self) -> float:
        return self.reject_negative / self.false_positive + self.reject_positive / self.false_negative

    def _never_pays(self) -> str:
        share = self._share
        if isinstance(self.reject, tuple):
            largest = f"costs in this ratio are ({self.reject[0] / share:.12g}, {self.reject[1] / share:.12g})"
        else:
            largest = f"cost allowed is {self.reject / share:.12g}"
        return (
            f"reject={self.reject} can never pay: reject_negative/false_positive + reject_positive/false_negative = "
            f"{self.reject_negative:g}/{self.false_positive:g} + {self.reject_positive:g}/{self.false_negative:g} = "
            f"{share:g} > 1, so deciding for one of the classes is always cheaper. The largest reject {largest}."
        )


def checked_costs(costs: object, call: str = "{}") -> Costs:
    """Give the costs, or an error that shows how to state them in `call`."""
    if isinstance(costs, Costs):
        return costs
    stated = call.format("Costs(false_positive=1, false_negative=5, reject=0.3)")
    # a ValueError and a TypeError, as for scikit-learn's own parameters
    raise InvalidParameterError(f"costs={costs!r} must be a Costs, not a {type(costs).__name__}; write {stated}.")


def _reject_prices(reject: object) -> float | tuple[float, float]:
    if isinstance(reject, np.ndarray):
        reject = tuple(reject.tolist())
    if not isinstance(reject, Sequence) or isinstance(reject, str | bytes):
        return positive_number("reject", reject)
    if len(reject) != 2:
        raise ValueError(f"reject={reject!r} must be one cost or the pair (negative, positive).")
    negative, positive = positive_number("reject[0]", reject[0]), positive_number("reject[1]", reject[1])
    # Equal costs are stored as one number, however they were given.
    return negative if negative == positive else (negative, positive)


def _ratio_to_sum(a: float, b: float) -> float:
    """Compute a / (a + b) for positive a and b, halved first so that the sum cannot overflow."""
    return 0.5 * a / (0.5 * a + 0.5 * b)


def _log_ratio(a: float, b: float) -> float:
    """Compute log(a / b) for positive a and b, also if the quotient overflows or underflows."""
    if a < b:
        return 0.0 - _log_ratio(b, a)  # exchanging the classes negates it to the last digit
    quotient = a / b
    return math.log(quotient) if quotient < math.inf else math.log(a) - math.log(b)
