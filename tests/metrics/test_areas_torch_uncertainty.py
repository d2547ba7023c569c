"""Our areas beside other people's definitions of them, converted by formula.

torch-uncertainty (`AURC` and `AUGRC` of torch_uncertainty.metrics.classification; early releases gave the excess
under the name AURC) integrates by the trapezoidal rule from the coverage 1/n to 1 and divides by the length 1 - 1/n of
that range:

    T = (sum_k r_k - (r_1 + r_n) / 2) / (n - 1),     r_k the error among the k most confident

so that T = (n A - (r_1 + r_n) / 2) / (n - 1) with our A, the mean of the r_k, as Geifman & El-Yaniv define it. Ties
stand there in whatever order the sort leaves them; ours is the mean over the orders.
"""

import numpy as np
import pytest

from abstain.metrics import augrc, aurc, error_rate, risk_coverage_curve
from looping import looped


def trapezoid(proba, y, *, generalised=False):
    """torch-uncertainty's definition, from the probability of class 1."""
    wrong = (np.argmax([1 - proba, proba], axis=0) != y)[np.argsort(-np.maximum(proba, 1 - proba), kind="stable")]
    coverage = np.arange(1, len(y) + 1) / len(y)
    risk = np.cumsum(wrong) / np.arange(1, len(y) + 1) * (coverage if generalised else 1)
    return np.trapezoid(risk, coverage) / (1 - 1 / len(y))


def converted(area, first, last, n):
    return (n * area - (first + last) / 2) / (n - 1)


def sample(n, seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    return y, 1 / (1 + np.exp(-rng.normal(2 * y - 1, 2)))


@pytest.mark.parametrize("n", [2, 3, 50, 1000])
@looped(seed=range(5))
def test_torch_uncertainty_aurc_is_ours_by_the_trapezoidal_rule(n, seed):
    y, proba = sample(n, seed)
    curve = risk_coverage_curve(y, proba, cut=0.5, pos_label=1)
    ours = converted(aurc(y, proba, cut=0.5, pos_label=1), curve.at(1 / n), curve.risk[-1], n)
    assert ours == pytest.approx(trapezoid(proba, y), abs=1e-12)


@pytest.mark.parametrize("n", [2, 3, 50, 1000])
@looped(seed=range(5))
def test_torch_uncertainty_augrc_is_ours_by_the_trapezoidal_rule(n, seed):
    y, proba = sample(n, seed)
    curve = risk_coverage_curve(y, proba, cut=0.5, pos_label=1)
    ours = converted(augrc(y, proba, cut=0.5, pos_label=1), curve.at(1 / n) / n, curve.risk[-1], n)
    assert ours == pytest.approx(trapezoid(proba, y, generalised=True), abs=1e-12)


def test_the_value_torch_uncertainty_publishes():
    # the example of its documentation: AURC of these probabilities of class 1 and these targets is 0.0833
    proba, y = np.array([0.3, 0.4, 0.2]), np.array([0, 1, 0])
    ours = aurc(y, proba, cut=0.5)
    assert ours == pytest.approx(1 / 9)  # the conventions do differ: (0 + 0 + 1/3) / 3
    wrong_at_last = error_rate(y, np.zeros(3, dtype=int))
    assert converted(ours, 0, wrong_at_last, 3) == pytest.approx(0.0833, abs=5e-5)


def test_with_ties_ours_is_the_mean_of_theirs_over_the_orders_of_the_rows():
    y, proba = np.array([0, 1, 1, 0, 1]), np.array([0.25, 0.25, 0.75, 0.9, 0.9])
    rng = np.random.default_rng(0)
    theirs = []
    for _ in range(20_000):
        order = rng.permutation(5)
        theirs.append(trapezoid(proba[order], y[order]))
    curve = risk_coverage_curve(y, proba, cut=0.5)
    ours = converted(aurc(y, proba, cut=0.5), curve.at(1 / 5), curve.risk[-1], 5)
    assert np.std(theirs) > 0.05  # theirs depends on the order of the rows
    assert ours == pytest.approx(np.mean(theirs), abs=4 * np.std(theirs) / np.sqrt(20_000))
