"""FR02's loss of a slack: three steps, smoothed so that it can be minimised (FR02 equations 17, 19, 22)."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit

from abstain.arguments import positive_number

MARGIN_SHARE = 0.2  # w_C / w_R of FR02's figure 2


@dataclass(frozen=True)
class StepLoss:
    """The cost of a slack: steps up to w_C inside the margin, w_R inside the reject band, and 1 beyond it.

    ::

        h''(xi, eps) = w_C S(xi) + (w_R - w_C) S(xi - 1 + eps) + (1 - w_R) S(xi - 1 - eps) + a xi^2
        S(u) = 1 / (1 + exp(-s u))

    Parameters
    ----------
    reject_cost : float
        w_R, the cost of a reject where an error costs 1; 0 < w_R <= 1.
    margin_cost : float or None, default=None
        w_C, the cost of a row decided correctly but inside the margin; 0 < w_C < w_R. None is 0.2 w_R.
    steepness : float, default=100.0
        s, the steepness of the smoothed steps.
    slack_penalty : float, default=0.05
        a, without which the dual would be trivial.

    Examples
    --------
    >>> from abstain.losses.step_loss import StepLoss
    >>> StepLoss(0.5, 0.1).value([0.25, 1.0, 2.0], eps=0.5).round(4)
    array([0.1031, 0.55  , 1.2   ])
    """

    reject_cost: float
    margin_cost: float | None = None
    steepness: float = 100.0
    slack_penalty: float = 0.05

    def __post_init__(self) -> None:
        w_R = positive_number("reject_cost", self.reject_cost)
        if w_R > 1.0:
            raise ValueError(
                f"reject_cost={w_R:g} must lie in (0, 1], where an error costs 1; from 0.5 on nothing is rejected."
            )
        w_C = MARGIN_SHARE * w_R if self.margin_cost is None else positive_number("margin_cost", self.margin_cost)
        if not 0.0 < w_C < w_R:
            raise ValueError(
                f"margin_cost={w_C:g} must lie between 0 and reject_cost={w_R:g}, both excluded; "
                "lower it, or pass None for 0.2 times reject_cost."
            )
        object.__setattr__(self, "reject_cost", w_R)
        object.__setattr__(self, "margin_cost", w_C)
        object.__setattr__(self, "steepness", positive_number("steepness", self.steepness))
        object.__setattr__(self, "slack_penalty", positive_number("slack_penalty", self.slack_penalty))

    @property
    def costs(self) -> tuple[float, float, float, float]:
        """(w_R, w_C, s, a), as passed to the native core."""
        return self.reject_cost, float(self.margin_cost or math.nan), self.steepness, self.slack_penalty

    @property
    def rejects(self) -> bool:
        """Whether any row may be rejected; from w_R = 1/2 on, moving the bias never costs more than a band."""
        return self.reject_cost < 0.5

    def value(self, xi: ArrayLike, eps: float) -> NDArray[np.float64]:
        """Return h'' at each slack (equation 22)."""
        w_R, w_C, s, a = self.costs
        xi = np.asarray(xi, dtype=np.float64)
        steps = w_C * expit(s * xi) + (w_R - w_C) * expit(s * (xi - 1 + eps)) + (1 - w_R) * expit(s * (xi - 1 - eps))
        return np.asarray(steps + a * xi**2)

    def steps(self, xi: ArrayLike, eps: float) -> NDArray[np.float64]:
        """Return h' at each slack (equation 19), which h'' approximates smoothly; h (equation 17) has w_C = 0."""
        w_R, w_C, _, _ = self.costs
        xi = np.asarray(xi, dtype=np.float64)
        return w_C * (xi > 0) + (w_R - w_C) * (xi > 1 - eps) + (1 - w_R) * (xi > 1 + eps)
