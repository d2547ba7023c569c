"""Two Gaussian classes, with Bayes' rule and its risk in closed form for any costs.

::

    x | -1 ~ N(mu_neg, Sigma)     x | +1 ~ N(mu_pos, kappa Sigma)     P(+1) = pi     b = log(pi / (1 - pi))

In the coordinates u = L^-1 (x - mu_neg), Sigma = L L', with m = L^-1 (mu_pos - mu_neg) and Delta = |m|, the log-odds::

    kappa = 1:  s = b - Delta^2 / 2 + m'u
    otherwise:  s = b - (d/2) log kappa - Delta^2 / (2 (kappa - 1)) + (kappa - 1) / (2 kappa) |u - c|^2
                c = -m / (kappa - 1)

For kappa = 1 they are Gaussian in each class, with mean b -/+ Delta^2 / 2 and standard deviation Delta. Otherwise
|u - c|^2 is noncentral chi-square with d degrees of freedom: in class -1 with noncentrality Delta^2 / (kappa - 1)^2, in
class +1 after division by kappa with noncentrality kappa Delta^2 / (kappa - 1)^2. So P(s <= t | class) is known for
every t, and with it the probability of each pair (true class, choice) under Chow's rule.
"""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import cholesky, solve_triangular
from scipy.special import expit, logit
from scipy.stats import ncx2, norm
from sklearn.utils import check_random_state

# Closer to 1, the noncentrality of the chi-square exceeds the range of its distribution function.
NEAREST_SCALE = 0.01


@dataclass(frozen=True, eq=False)
class Gaussians:
    """The distribution of two Gaussian classes, 0 (negative) and 1 (positive), with its Bayes rule.

    `prices` is a (2, 3) table of costs, as returned by ``Costs.table()``: rows true class -1, +1; columns choice -1, 0
    (reject), +1.

    Parameters
    ----------
    means : array-like of shape (2, d)
        Means of the negative and the positive class.
    covariance : array-like of shape (d, d)
        Covariance of the negative class; positive definite.
    scale : float, default=1.0
        kappa: the positive class has `scale` times the covariance of the negative class. Either exactly 1 or not within
        0.01 of 1.
    prior : float, default=0.5
        pi, the probability of the positive class; between 0 and 1.

    Examples
    --------
    >>> from abstain import Costs
    >>> from abstain.datasets import Gaussians
    >>> law = Gaussians(means=[[-1.0], [1.0]], covariance=[[1.0]])
    >>> round(law.bayes_risk(Costs(reject=0.2).table()), 4)
    0.1121
    """

    means: NDArray[np.float64]
    covariance: NDArray[np.float64]
    scale: float = 1.0
    prior: float = 0.5

    def __post_init__(self) -> None:
        for name in ("means", "covariance"):
            array = np.array(getattr(self, name), dtype=np.float64)
            array.flags.writeable = False
            object.__setattr__(self, name, array)
        _check_shapes(self.means, self.covariance)
        if not (self.scale == 1.0 or (0.0 < self.scale < math.inf and abs(self.scale - 1.0) >= NEAREST_SCALE)):
            raise ValueError(f"scale={self.scale!r} must be positive and finite, and 1 or not within 0.01 of 1.")
        if not 0.0 < self.prior < 1.0:
            raise ValueError(f"prior={self.prior!r} must be strictly between 0 and 1, so that both classes occur.")
        if self.scale == 1.0 and self._delta == 0.0:
            raise ValueError("means must differ if scale=1; otherwise the two classes are identical.")

    @property
    def _d(self) -> int:
        """The number of features."""
        return int(self.means.shape[1])

    @cached_property
    def _factor(self) -> NDArray[np.float64]:
        """L, lower triangular."""
        try:
            return np.asarray(cholesky(self.covariance, lower=True))
        except np.linalg.LinAlgError as error:
            raise ValueError("covariance must be positive definite; its Cholesky factorisation failed.") from error

    @cached_property
    def _shift(self) -> NDArray[np.float64]:
        """m, the difference of the means in the coordinates u."""
        return np.asarray(solve_triangular(self._factor, self.means[1] - self.means[0], lower=True))

    @cached_property
    def _delta(self) -> float:
        return float(np.linalg.norm(self._shift))

    def sample(self, n_samples: int, random_state: Any = None) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Draw independent rows: X (n, d) and y (n,) in {0, 1}; `random_state` as in scikit-learn."""
        rng = check_random_state(random_state)
        y = (rng.random_sample(n_samples) < self.prior).astype(np.int64)
        deviation = np.where(y == 1, math.sqrt(self.scale), 1.0)
        z = rng.standard_normal((n_samples, self._d))
        return self.means[y] + deviation[:, None] * (z @ self._factor.T), y

    def log_odds(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return log P(+1 | x) / P(-1 | x) of each row, the best possible score."""
        rows = np.asarray(X, dtype=np.float64)
        if rows.ndim != 2 or rows.shape[1] != self._d:
            raise ValueError(f"X must have shape (n, {self._d}), one row per sample; its shape is {rows.shape}.")
        u = solve_triangular(self._factor, (rows - self.means[0]).T, lower=True)
        if self.scale == 1.0:
            return np.asarray(logit(self.prior) + (self._shift @ u - 0.5 * self._delta**2))
        center = -self._shift / (self.scale - 1.0)
        return np.asarray(self._lowest + self._curvature * np.sum((u - center[:, None]) ** 2, axis=0))

    def posterior(self, X: ArrayLike) -> NDArray[np.float64]:
        """P(+1 | x) of each row."""
        return np.asarray(expit(self.log_odds(X)))

    @property
    def _lowest(self) -> float:
        """The log-odds at c: their minimum for kappa > 1, their maximum for kappa < 1."""
        volume = 0.5 * self._d * math.log(self.scale)
        return float(logit(self.prior)) - volume - self._delta**2 / (2.0 * (self.scale - 1.0))

    @property
    def _curvature(self) -> float:
        return (self.scale - 1.0) / (2.0 * self.scale)

    def _tails(self, t: float, positive: bool) -> tuple[float, float]:
        """P(s <= t) and P(s > t) in one class, each computed directly."""
        if self.scale == 1.0:
            mean = float(logit(self.prior)) + (0.5 if positive else -0.5) * self._delta**2
            return float(norm.cdf(t, mean, self._delta)), float(norm.sf(t, mean, self._delta))
        unit = self.scale if positive else 1.0
        noncentrality = unit * self._delta**2 / (self.scale - 1.0) ** 2
        q = max((t - self._lowest) / self._curvature / unit, 0.0)
        tails = float(ncx2.cdf(q, self._d, noncentrality)), float(ncx2.sf(q, self._d, noncentrality))
        return tails if self.scale > 1.0 else tails[::-1]

    def _rates_between(self, low: float, high: float) -> NDArray[np.float64]:
        """Joint probabilities of true class and choice for thresholds on the log-odds."""
        rates = np.empty((2, 3))
        for k, share in enumerate((1.0 - self.prior, self.prior)):
            below, above = self._tails(low, k == 1)[0], self._tails(high, k == 1)[1]
            rates[k] = share * np.array([below, max(1.0 - below - above, 0.0), above])
        return rates

    def rates(self, p_low: float, p_high: float) -> NDArray[np.float64]:
        """Return the joint probabilities, (2, 3), of true class -1, +1 and choice -1, 0 (reject), +1 under Chow's rule.

        Column 1 sums to the reject rate; entries [0, 2] and [1, 0] are the two error rates.

        Parameters
        ----------
        p_low, p_high : float
            Thresholds on P(+1 | x), ``0 <= p_low <= p_high <= 1``.
        """
        if not 0.0 <= p_low <= p_high <= 1.0:
            raise ValueError(f"p_low={p_low!r} and p_high={p_high!r} must satisfy 0 <= p_low <= p_high <= 1.")
        return self._rates_between(float(logit(p_low)), float(logit(p_high)))

    def risk(self, prices: ArrayLike, p_low: float, p_high: float) -> float:
        """Return the expected cost of Chow's rule with thresholds `p_low` and `p_high` on P(+1 | x)."""
        return float(np.sum(self.rates(p_low, p_high) * _checked_costs(prices)))

    def bayes_risk(self, prices: ArrayLike) -> float:
        """Return the lowest expected cost of any rule."""
        table = _checked_costs(prices)
        return float(np.sum(self._rates_between(*_bayes_thresholds(table)) * table))

    def bayes_choice(self, X: ArrayLike, prices: ArrayLike) -> NDArray[np.int8]:
        """Return the choice -1, 0 (reject) or +1 of Bayes' rule for each row."""
        low, high = _bayes_thresholds(_checked_costs(prices))
        s = self.log_odds(X)
        negative = (s <= high) & ((s < low) | (low == high))
        return (s > high).astype(np.int8) - negative.astype(np.int8)

    def expected_prices(self, X: ArrayLike, choice: ArrayLike, prices: ArrayLike) -> NDArray[np.float64]:
        """Return the expected cost, given x, of the choice -1, 0 or +1 made for each row.

        The mean over a sample estimates the risk of the rule that made the choices, without label noise. No row costs
        less than with `bayes_choice`, so the mean difference from it estimates the excess risk.
        """
        table = _checked_costs(prices)
        column = np.asarray(choice).astype(np.int8)
        p = self.posterior(X)
        if column.shape != p.shape or not np.isin(choice, (-1, 0, 1)).all():
            raise ValueError(f"choice must contain -1, 0 or +1 for each of the {len(p)} rows of X.")
        return np.asarray((1.0 - p) * table[0, column + 1] + p * table[1, column + 1])


def _check_shapes(means: NDArray[np.float64], covariance: NDArray[np.float64]) -> None:
    if means.ndim != 2 or means.shape[0] != 2 or means.shape[1] < 1 or not np.isfinite(means).all():
        raise ValueError(f"means must be finite and have shape (2, d), one row per class; the shape is {means.shape}.")
    d = means.shape[1]
    if covariance.shape != (d, d) or not np.isfinite(covariance).all() or not np.allclose(covariance, covariance.T):
        raise ValueError(
            f"covariance must be finite, symmetric and have shape ({d}, {d}), because the means have {d} features; "
            f"the shape is {covariance.shape}."
        )


def _checked_costs(prices: ArrayLike) -> NDArray[np.float64]:
    table = np.asarray(prices, dtype=np.float64)
    if table.shape != (2, 3):
        raise ValueError(
            "prices must be a (2, 3) table, rows true class -1, +1 and columns choice -1, 0 (reject), +1, as returned "
            f"by Costs.table(); the shape is {table.shape}."
        )
    right = np.array([[True, False, False], [False, False, True]])
    if np.any(table[right] != 0.0) or not np.all((table[~right] > 0.0) & np.isfinite(table[~right])):
        raise ValueError(
            f"prices={table.tolist()} must be 0 where the choice is correct, and positive and finite elsewhere."
        )
    return table


def _bayes_thresholds(table: NDArray[np.float64]) -> tuple[float, float]:
    """Chow's thresholds on the log-odds; equal if rejecting never pays.

    ::

        low = log(r_neg / (c_fn - r_pos))     high = log((c_fp - r_neg) / r_pos)     else both log(c_fp / c_fn)
    """
    (_, r_neg, c_fp), (c_fn, r_pos, _) = table.tolist()
    if r_neg / c_fp + r_pos / c_fn >= 1.0:
        cut = math.log(c_fp / c_fn)
        return cut, cut
    low, high = math.log(r_neg / (c_fn - r_pos)), math.log((c_fp - r_neg) / r_pos)
    return min(low, high), high  # rounding may swap two nearly equal thresholds
