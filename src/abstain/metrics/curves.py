"""Curves of a symmetric threshold on the confidence, computed from ranked rows (docs/theory.md, FR02, Chow70, A14).

Every curve has one point per distinct confidence c: the rows with |score - cut| >= c are accepted, the rest rejected.
Tied rows are accepted together. Between two points they are accepted in part, averaged over all their orders, so that
the accepted errors and the cost are linear in the coverage there; `at` evaluates the curves this way.
"""

from typing import Any

import numpy as np

from abstain.metrics.areas import area_of
from abstain.metrics.curve_results import AccuracyRejectCurve, CostCurve, ErrorRejectCurve, RiskCoverageCurve
from abstain.metrics.outcomes import stated
from abstain.metrics.ranking import RankedRows, running


def risk_coverage_curve(
    y_true: Any, score: Any, *, cut: float = 0.0, pos_label: Any = None, sample_weight: Any = None, classes: Any = None
) -> RiskCoverageCurve:
    """Error among accepted rows against coverage.

    ::

        coverage = accepted / N          risk = errors accepted / accepted

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
        Weights of the rows. All rates are shares of the total weight, so only the ratios of weights matter.
    classes : array-like of shape (n_classes,), default=None
        With more than two classes, those of the columns of `score`, sorted, if `y_true` may lack some of them.

    Returns
    -------
    RiskCoverageCurve
        `coverage` (increasing), `risk`, `confidence`, `aurc`.

    Examples
    --------
    >>> from abstain.metrics import risk_coverage_curve
    >>> curve = risk_coverage_curve([0, 1, 1, 0], [-3.0, -2.0, 1.0, -1.0])
    >>> curve.coverage, curve.risk
    (array([0.25, 0.5 , 1.  ]), array([0.  , 0.5 , 0.25]))
    """
    ranked = RankedRows.of(y_true, score, cut, pos_label=pos_label, sample_weight=sample_weight, classes=classes)
    accepted, wrong = ranked.accepted, ranked.sums(ranked.wrong)
    coverage, risk, total = accepted[1:] / accepted[-1], wrong[1:] / accepted[1:], float(accepted[-1])
    return RiskCoverageCurve(coverage, risk, ranked.confidence, total, area_of(ranked))


def accuracy_reject_curve(
    y_true: Any, score: Any, *, cut: float = 0.0, pos_label: Any = None, sample_weight: Any = None, classes: Any = None
) -> AccuracyRejectCurve:
    """Accuracy among accepted rows against the reject rate (FR02).

    ::

        reject_rate = rejected / N          accuracy = correct decisions accepted / accepted

    This is the mirror image of `risk_coverage_curve` and takes the same arguments.

    Returns
    -------
    AccuracyRejectCurve
        `reject_rate` (increasing, from 0), `accuracy`, `confidence`.

    Examples
    --------
    >>> from abstain.metrics import accuracy_reject_curve
    >>> curve = accuracy_reject_curve([0, 1, 1, 0], [-3.0, -2.0, 1.0, -1.0])
    >>> curve.reject_rate, curve.accuracy
    (array([0.  , 0.5 , 0.75]), array([0.75, 0.5 , 1.  ]))
    """
    ranked = RankedRows.of(y_true, score, cut, pos_label=pos_label, sample_weight=sample_weight, classes=classes)
    accepted, right = ranked.accepted, ranked.sums(~ranked.wrong)
    accuracy, total = right[:0:-1] / accepted[:0:-1], float(accepted[-1])
    return AccuracyRejectCurve(ranked.reject_rate[:-1], accuracy, ranked.confidence[::-1], total)


def error_reject_curve(
    y_true: Any, score: Any, *, cut: float = 0.0, pos_label: Any = None, sample_weight: Any = None, classes: Any = None
) -> ErrorRejectCurve:
    """Error rate against the reject rate, and its slope, the error-reject ratio (Chow70, A14).

    ::

        reject_rate R = rejected / N     error_rate E = errors accepted / N     slope dE/dR

    The slope is minus the share of newly rejected rows that would have been wrong: -1 where rejecting removes only
    errors, 0 where it removes none. The arguments are those of `risk_coverage_curve`.

    Returns
    -------
    ErrorRejectCurve
        `reject_rate` (from 0 to 1), `error_rate`, `slope` (one per segment, so one entry fewer), `confidence`.

    Examples
    --------
    >>> from abstain.metrics import error_reject_curve
    >>> curve = error_reject_curve([0, 1, 1, 0], [-3.0, -2.0, 1.0, -1.0])
    >>> curve.reject_rate, curve.error_rate, curve.slope
    (array([0.  , 0.5 , 0.75, 1.  ]), array([0.25, 0.25, 0.  , 0.  ]), array([ 0., -1.,  0.]))
    """
    ranked = RankedRows.of(y_true, score, cut, pos_label=pos_label, sample_weight=sample_weight, classes=classes)
    total, wrong = float(ranked.accepted[-1]), ranked.sums(ranked.wrong)
    slope = 0.0 - (ranked.merged(ranked.weight * ranked.wrong) / ranked.merged(ranked.weight))[::-1]
    confidence = np.append(ranked.confidence[::-1], np.inf)
    return ErrorRejectCurve(ranked.reject_rate, wrong[::-1] / total, slope, confidence, total)


def cost_curve(
    y_true: Any,
    score: Any,
    costs: Any = None,
    *,
    cut: float = 0.0,
    pos_label: Any = None,
    sample_weight: Any = None,
    classes: Any = None,
    row_costs: Any = None,
) -> CostCurve:
    """Mean cost against the reject rate, with the operating point of least cost.

    ::

        R(c) = (rows with |score - cut| < c) / N
        cost(c) = (c_fn FN(c) + c_fp FP(c) + r_pos Rej_pos(c) + r_neg Rej_neg(c)) / N

    for every confidence c in the data, where the rows with ``|score - cut| < c`` are rejected and FN, FP count errors
    among the others; and for c = inf, where all rows are rejected. The operating point is the point of least cost; ties
    go to the fewest rejects. It is chosen using the labels, so its cost on new data is higher: choose it on held-out
    rows. (Drummond & Holte's "cost curve" is something else.)

    `costs` and `row_costs` are those of `mean_cost`, with one answer for each class and one reject; the other arguments
    are those of `risk_coverage_curve`. High scores mean the positive class,
    `pos_label`; if it is None, the class that sorts last, also for costs by class name. The reject band is symmetric
    about `cut`; for log-odds and unequal error costs the forced choice is cheapest at ``cut=costs.cut``. With more than
    two classes, c is the lead of the highest score over the second, and rows are rejected up to the upper of the
    thresholds of the operating point.

    Returns
    -------
    CostCurve
        `reject_rate` (from 0 to 1), `mean_cost`, `confidence`, `costs`, `chosen`, `operating_point`.

    Examples
    --------
    >>> from abstain import Costs
    >>> from abstain.metrics import cost_curve
    >>> curve = cost_curve([0, 1, 1, 0], [-3.0, -1.0, 2.0, -2.0], Costs(reject=0.2))
    >>> curve.reject_rate, curve.mean_cost
    (array([0.  , 0.25, 0.75, 1.  ]), array([0.25, 0.05, 0.15, 0.2 ]))
    >>> curve.operating_point
    OperatingPoint(reject_rate=0.25, mean_cost=0.05, thresholds=Thresholds(lower=-1.5, upper=1.5))
    """
    given = {"pos_label": pos_label, "sample_weight": sample_weight, "classes": classes, "row_costs": row_costs}
    ranked = RankedRows.of(y_true, score, cut, costs=stated(costs, row_costs), **given)
    total = float(ranked.accepted[-1])
    share = ranked.weight / total
    decided = running(ranked.merged(share * ranked.decided))
    mean_cost = decided[::-1] + running(ranked.merged(share * ranked.rejected)[::-1])
    # sums that differ only by rounding count as equal; ties go to the fewest rejects
    chosen = int(np.argmax(mean_cost <= mean_cost.min() * (1.0 + 1e-12)))
    confidence = np.append(ranked.confidence[::-1], np.inf)
    return CostCurve(ranked.reject_rate, mean_cost, confidence, total, ranked.costs, ranked.cut, chosen)
