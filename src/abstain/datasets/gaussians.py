"""Two Gaussian classes, with Bayes' rule and its risk under any prices in closed form.

::

    x | -1 ~ N(mu_neg, Sigma)     x | +1 ~ N(mu_pos, kappa Sigma)     P(+1) = pi     b = log(pi / (1 - pi))

In the coordinates u = L^-1 (x - mu_neg), Sigma = L L', with m = L^-1 (mu_pos - mu_neg) and Delta = |m|, the log-odds::

    kappa = 1:  s = b - Delta^2 / 2 + m'u
    otherwise:  s = b - (d/2) log kappa - Delta^2 / (2 (kappa - 1)) + (kappa - 1) / (2 kappa) |u - c|^2
                c = -m / (kappa - 1)

For kappa = 1 they are Gaussian in each class, with mean b -/+ Delta^2 / 2 and deviation Delta. Otherwise |u - c|^2 is
noncentral chi-square with d degrees of freedom: in the class -1 with noncentrality Delta^2 / (kappa - 1)^2, in the
class +1 after division by kappa with noncentrality kappa Delta^2 / (kappa - 1)^2. So P(s <= t | class) is known for
every t, and with it the probability of each pair (truth, choice) of Chow's rule.
"""

from __future__ import annotations

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

__all__ = ["Gaussians"]

# Nearer to 1 the noncentrality of the chi-square grows beyond what its distribution function is computed for.
NEAREST_SCALE = 0.01


@dataclass(frozen=True, eq=False)
class Gaussians:
    """The law of two Gaussian classes, 0 (negative) and 1 (positive), with its Bayes rule.

    Prices are a (2, 3) table as ``Costs.table()`` gives it: rows truth -1, +1; columns choice -1, 0 (reject), +1.

    Parameters
    ----------
    means : array-like of shape (2, d)
        Of the negative and of the positive class.
    covariance : array-like of shape (d, d)
        Of the negative class; positive definite.
    scale : float, default=1.0
        kappa: the covariance of the positive class is `scale` times that of the negative. 1, or not within 0.01 of 1.
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
            raise ValueError(f"prior={self.prior!r} must lie between 0 and 1: both classes must occur.")
        if self.scale == 1.0 and self._delta == 0.0:
            raise ValueError("means must differ where scale=1: otherwise the two classes are one.")

    @cached_property
    def _factor(self) -> NDArray[np.float64]:
        """L, lower triangular."""
        try:
            return np.asarray(cholesky(self.covariance, lower=True))
        except np.linalg.LinAlgError as error:
            raise ValueError("covariance must be positive definite; its Cholesky factor does not exist.") from error

    @cached_property
    def _shift(self) -> NDArray[np.float64]:
        """m, the difference of the means in the coordinates u."""
        return np.asarray(solve_triangular(self._factor, self.means[1] - self.means[0], lower=True))

    @cached_property
    def _delta(self) -> float:
        return float(np.linalg.norm(self._shift))

    def sample(self, n_samples: int, random_state: Any = None) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Draw independent rows: X (n, d) and y (n,) in {0, 1}; `random_state` as everywhere in scikit-learn."""
        rng = check_random_state(random_state)
        y = (rng.random_sample(n_samples) < self.prior).astype(np.int64)
        deviation = np.where(y == 1, math.sqrt(self.scale), 1.0)
        z = rng.standard_normal((n_samples, self.means.shape[1]))
        return self.means[y] + deviation[:, None] * (z @ self._factor.T), y

    def log_odds(self, X: ArrayLike) -> NDArray[np.float64]:
        """Give log P(+1 | x) / P(-1 | x) of each row, the score that no machine can better."""
        rows = np.asarray(X, dtype=np.float64)
        d = self.means.shape[1]
        if rows.ndim != 2 or rows.shape[1] != d:
            raise ValueError(f"X must have the shape (n, {d}), a row per point; its shape is {rows.shape}.")
        u = solve_triangular(self._factor, (rows - self.means[0]).T, lower=True)
        if self.scale == 1.0:
            linear = self._shift @ u - 0.5 * self._delta**2
            return np.asarray(logit(self.prior) + linear)
        center = -self._shift / (self.scale - 1.0)
        return np.asarray(self._lowest + self._curvature * np.sum((u - center[:, None]) ** 2, axis=0))

    def posterior(self, X: ArrayLike) -> NDArray[np.float64]:
        """P(+1 | x) of each row."""
        return np.asarray(expit(self.log_odds(X)))

    @property
    def _lowest(self) -> float:
        """The log-odds at c: their least value for kappa > 1, their largest for kappa < 1."""
        d = self.means.shape[1]
        volume = 0.5 * d * math.log(self.scale)
        return float(logit(self.prior)) - volume - self._delta**2 / (2.0 * (self.scale - 1.0))

    @property
    def _curvature(self) -> float:
        return (self.scale - 1.0) / (2.0 * self.scale)

    def _tails(self, t: float, positive: bool) -> tuple[float, float]:
        """P(s <= t) and P(s > t) in one class, each computed by itself."""
        if self.scale == 1.0:
            mean = float(logit(self.prior)) + (0.5 if positive else -0.5) * self._delta**2
            return float(norm.cdf(t, mean, self._delta)), float(norm.sf(t, mean, self._delta))
        unit = self.scale if positive else 1.0
        noncentrality = unit * self._delta**2 / (self.scale - 1.0) ** 2
        q = max((t - self._lowest) / self._curvature / unit, 0.0)
        d = self.means.shape[1]
        tails = float(ncx2.cdf(q, d, noncentrality)), float(ncx2.sf(q, d, noncentrality))
        return tails if self.scale > 1.0 else tails[::-1]

    def _rates_between(self, low: float, high: float) -> NDArray[np.float64]:
        """Joint probabilities of truth and choice for thresholds on the log-odds."""
        rates = np.empty((2, 3))
        for k, share in enumerate((1.0 - self.prior, self.prior)):
            below, above = self._tails(low, k == 1)[0], self._tails(high, k == 1)[1]
            rates[k] = share * np.array([below, max(1.0 - below - above, 0.0), above])
        return rates

    def rates(self, p_low: float, p_high: float) -> NDArray[np.float64]:
        """Give the joint probabilities, (2, 3), of truth -1, +1 and choice -1, 0 (reject), +1 under Chow's rule.

        Its column 1 sums to the reject rate; its entries [0, 2] and [1, 0] are the two error rates.

        Parameters
        ----------
        p_low, p_high : float
            Thresholds on P(+1 | x), ``0 <= p_low <= p_high <= 1``.
        """
        if not 0.0 <= p_low <= p_high <= 1.0:
            raise ValueError(f"p_low={p_low!r} and p_high={p_high!r} must be 0 <= p_low <= p_high <= 1.")
        return self._rates_between(float(logit(p_low)), float(logit(p_high)))

    def risk(self, prices: ArrayLike, p_low: float, p_high: float) -> float:
        """Give the expected price of Chow's rule with the thresholds `p_low` and `p_high` on P(+1 | x)."""
        return float(np.sum(self.rates(p_low, p_high) * _checked_prices(prices)))

    def bayes_risk(self, prices: ArrayLike) -> float:
        """Give the least expected price that any rule can have."""
        table = _checked_prices(prices)
        return float(np.sum(self._rates_between(*_bayes_thresholds(table)) * table))

    def bayes_choice(self, X: ArrayLike, prices: ArrayLike) -> NDArray[np.int8]:
        """Give the choice -1, 0 (reject) or +1 of Bayes' rule at each row."""
        low, high = _bayes_thresholds(_checked_prices(prices))
        s = self.log_odds(X)
        negative = (s <= high) & ((s < low) | (low == high))
        return (s > high).astype(np.int8) - negative.astype(np.int8)

    def expected_prices(self, X: ArrayLike, choice: ArrayLike, prices: ArrayLike) -> NDArray[np.float64]:
        """Give the expected price, given x alone, of the choice -1, 0 or +1 made at each row.

        Their mean over a sample estimates the risk of whatever made the choices without the noise of drawn labels, and
        no row's is below that of `bayes_choice`: the mean difference to it estimates the excess risk.
        """
        table = _checked_prices(prices)
        column = np.asarray(choice).astype(np.int8)
        p = self.posterior(X)
        if column.shape != p.shape or not np.isin(choice, (-1, 0, 1)).all():
            raise ValueError(f"choice must hold one of -1, 0 and +1 for each of the {len(p)} rows of X.")
        return np.asarray((1.0 - p) * table[0, column + 1] + p * table[1, column + 1])


def _check_shapes(means: NDArray[np.float64], covariance: NDArray[np.float64]) -> None:
    if means.ndim != 2 or means.shape[0] != 2 or means.shape[1] < 1 or not np.isfinite(means).all():
        raise ValueError(f"means must be finite and of the shape (2, d), a row per class; the shape is {means.shape}.")
    d = means.shape[1]
    if covariance.shape != (d, d) or not np.isfinite(covariance).all() or not np.allclose(covariance, covariance.T):
        raise ValueError(
            f"covariance must be finite, symmetric and of the shape ({d}, {d}) as the means have {d} features; "
            f"the shape is {covariance.shape}."
        )


def _checked_prices(prices: ArrayLike) -> NDArray[np.float64]:
    table = np.asarray(prices, dtype=np.float64)
    if table.shape != (2, 3):
        raise ValueError(
            "prices must be a (2, 3) table, rows truth -1, +1 and columns choice -1, 0 (reject), +1, as Costs.table() "
            f"gives it; the shape is {table.shape}."
        )
    right = np.array([[True, False, False], [False, False, True]])
    if np.any(table[right] != 0.0) or not np.all((table[~right] > 0.0) & np.isfinite(table[~right])):
        raise ValueError(
            f"prices={table.tolist()} must be 0 where the choice is right, and positive and finite elsewhere."
        )
    return table


def _bayes_thresholds(table: NDArray[np.float64]) -> tuple[float, float]:
    """Chow's thresholds on the log-odds; equal where rejecting never pays.

    ::

        low = log(r_neg / (c_fn - r_pos))     high = log((c_fp - r_neg) / r_pos)     else both log(c_fp / c_fn)
    """
    (_, r_neg, c_fp), (c_fn, r_pos, _) = table.tolist()
    if r_neg / c_fp + r_pos / c_fn >= 1.0:
        cut = math.log(c_fp / c_fn)
        return cut, cut
    low, high = math.log(r_neg / (c_fn - r_pos)), math.log((c_fp - r_neg) / r_pos)
    return min(low, high), high  # rounding may swap two that all but meet
