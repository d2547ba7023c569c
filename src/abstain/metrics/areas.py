"""Areas under the risk-coverage curve and the generalised risk curve, with ties averaged (docs/theory.md).

With E_k the errors among the k most confident of n rows, averaged over all orders of the rows that tie,

    AURC = 1/n sum_k E_k / k        E-AURC = AURC - (AURC of the same errors, perfectly ordered)
    AUGRC = 1/n sum_k E_k / n       k = 1 .. n

Tied rows of total weight g, of which e is wrong, preceded by rows of weight A, of which E is wrong, spread their errors
evenly, E_{A+i} = E + i e/g, and so add

    to AURC:   sum_{i=1..g} (E + i e/g) / (A + i) = e + (E - A e/g) (h(A + g) - h(A)),     h(A) = 1 + 1/2 + .. + 1/A
    to AUGRC:  sum_{i=1..g} (E + i e/g)           = g E + e (g + 1)/2

so that a weight of k is the same as k rows. h is extended to fractional weights by the digamma function, h(A) =
psi(A + 1) + const.
"""

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import digamma

from abstain.metrics.ranking import RankedRows, running

# From here on the terms of the asymptotic series of digamma used below are exact to the last digit.
_ASYMPTOTIC = 32.0


def aurc(
    y_true: Any, score: Any, *, cut: float = 0.0, pos_label: Any = None, sample_weight: Any = None, classes: Any = None
) -> float:
    """Area under the risk-coverage curve: the mean over k = 1 to n of the error among the k most confident rows.

    Rows of equal confidence are averaged over all their orders, so the order of the rows does not matter.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        True labels.
    score : array-like of shape (n_samples,), or (n_samples, n_classes) for more than two classes
        Higher scores favour the positive class; infinities are allowed. The decision is the positive class where
        ``score > cut``, and its confidence is ``|score - cut|``. With more than two classes, the class of the highest
        score, and the lead over the second.
    cut : float, default=0.0
        0 for a decision function, 0.5 for a probability.
    pos_label : label, default=None
        The class that high scores favour; the larger of the two by default. A scikit-learn decision function favours
        ``classes_[1]``; negate the score to make it favour ``classes_[0]``.
    sample_weight : array-like of shape (n_samples,), default=None
        A weight of k is the same as repeating the row k times, so the total weight takes the place of n: rescale
        weights that sum to 1 so that they sum to the number of rows. Fractional weights interpolate smoothly.
    classes : array-like of shape (n_classes,), default=None
        With more than two classes, those of the columns of `score`, sorted, if `y_true` may lack some of them.

    Returns
    -------
    float

    Examples
    --------
    >>> from abstain.metrics import aurc
    >>> round(aurc([0, 1, 1], [-2.0, -1.0, 0.5]), 4)  # (0/1 + 1/2 + 1/3) / 3
    0.2778
    """
    ranked = _ranked(y_true, score, cut, pos_label=pos_label, sample_weight=sample_weight, classes=classes)
    return area_of(ranked)


def e_aurc(
    y_true: Any, score: Any, *, cut: float = 0.0, pos_label: Any = None, sample_weight: Any = None, classes: Any = None
) -> float:
    """Excess of `aurc` over that of a perfect order of the same errors, all of them less confident than the rest.

    The arguments are those of `aurc`.

    Examples
    --------
    >>> from abstain.metrics import e_aurc
    >>> round(e_aurc([0, 1, 1], [-2.0, -1.0, 0.5]), 4)  # minus the perfect (0/1 + 0/2 + 1/3) / 3
    0.1667
    """
    ranked = _ranked(y_true, score, cut, pos_label=pos_label, sample_weight=sample_weight, classes=classes)
    total, wrong = float(ranked.weight.sum()), float(ranked.weight[ranked.wrong].sum())
    perfect = _mean_risk(np.array([total - wrong, wrong]), np.array([0.0, wrong]))
    return area_of(ranked) - perfect


def augrc(
    y_true: Any, score: Any, *, cut: float = 0.0, pos_label: Any = None, sample_weight: Any = None, classes: Any = None
) -> float:
    """Area under the generalised risk: the mean over k = 1 to n of (errors among the k most confident) / n.

    Proposed by Traub et al. [1]_. The arguments are those of `aurc`.

    References
    ----------
    .. [1] Traub et al., "Overcoming Common Flaws in the Evaluation of Selective Classification Systems",
       NeurIPS 37 (2024).

    Examples
    --------
    >>> from abstain.metrics import augrc
    >>> round(augrc([0, 1, 1], [-2.0, -1.0, 0.5]), 4)  # (0/3 + 1/3 + 1/3) / 3
    0.2222
    """
    ranked = _ranked(y_true, score, cut, pos_label=pos_label, sample_weight=sample_weight, classes=classes)
    g, e = ranked.merged(ranked.weight), ranked.merged(ranked.weight * ranked.wrong)
    E = running(e)[:-1]
    return float(np.sum(g * E + e * (g + 1.0) / 2.0) / np.sum(g) ** 2)


def area_of(ranked: RankedRows) -> float:
    """AURC of ranked rows."""
    return _mean_risk(ranked.merged(ranked.weight), ranked.merged(ranked.weight * ranked.wrong))


def _ranked(y_true: Any, score: Any, cut: float, **options: Any) -> RankedRows:
    """The ranked rows, with a warning to the caller if the weights cannot be numbers of rows."""
    ranked = RankedRows.of(y_true, score, cut, **options)
    total, n = float(ranked.weight.sum()), len(ranked.weight)
    if total < 1.0 + 1e-6 and len(ranked.confidence) > 1:
        warnings.warn(
            f"sample_weight sums to {total:g} over {n} rows, but an area counts a weight of k as k rows; "
            "multiply the weights by the number of rows.",
            UserWarning,
            stacklevel=3,
        )
    return ranked


def _mean_risk(g: NDArray[np.float64], e: NDArray[np.float64]) -> float:
    """AURC from the weight g and the wrong weight e of each confidence, in decreasing order of it."""
    g, e = g[g > 0], e[g > 0]
    A, E = running(g), running(e)[:-1]
    risk = e + (E - A[:-1] * (e / g)) * _harmonic_gap(A[:-1], g)
    return float(np.sum(risk) / A[-1])


def _harmonic_gap(A: NDArray[np.float64], g: NDArray[np.float64]) -> NDArray[np.float64]:
    """h(A + g) - h(A) = 1/(A+1) + .. + 1/(A+g) for whole g.

    The difference of two digammas near log n loses the digits of 1/n, so for large A it is computed term by term from
    psi(x) = log x - 1/(2x) - 1/(12x^2) + 1/(120x^4) - 1/(252x^6) + ..
    """
    low, high = A + 1.0, A + g + 1.0

    def tail(x: NDArray[np.float64]) -> NDArray[np.float64]:
        u = 1.0 / (x * x)
        return -0.5 / x - u * (1.0 / 12.0 - u * (1.0 / 120.0 - u / 252.0))

    series = np.log1p(g / low) + (tail(high) - tail(low))
    return np.where(low < _ASYMPTOTIC, digamma(high) - digamma(low), series)
