"""Reported gaps at a huge C against the loss of the stated costs, in extended precision.

Where margins rest on a knot, a knot that is off by 3e-13 costs C times that for every row.
"""

from fractions import Fraction

import numpy as np
import pytest
from sklearn.base import clone

import abstain.arguments
from abstain import Costs, LinearRejectSVC, RejectSVC
from abstain.dual import certificate

E = np.longdouble
C = 9e7
RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 80))
Y = (X @ RNG.normal(size=80) > 0).astype(int)
SIGN = np.where(Y == 1, 1, -1)
STATED = {
    "few digits": (1, 5, 0.6),
    "more digits": (10.41, 9.54, 2.862),
    "cents": (12.99, 849.5, 7.77),
    "all digits": (1.0123456789012345, 2.718281828459045, 0.4142135623730951),
}
MACHINES = {
    "linear": LinearRejectSVC(C=C),
    "kernel": RejectSVC(kernel="linear", C=C),
    "rbf": RejectSVC(kernel="rbf", gamma=1e-3, C=C),
}


def exact(costs):
    """Knots and slopes of y = -1 and y = +1 from the formulas of docs/theory.md: tangents at both cuts."""
    fp, fn, r = (Fraction(str(cost)) for cost in costs)
    low, high = ((E(p.numerator) / E(p.denominator)) for p in (r / fn, (fp - r) / fp))
    entropy = {p: -p * np.log(p) - (1 - p) * np.log(1 - p) for p in (low, high)}
    rho = (entropy[low] - entropy[high]) / (high - low)
    positive = [(rho, low - 1, high - low), (entropy[high] / (1 - high), high - 1, 1 - high)]
    negative = [(-rho, -high, high - low), (entropy[low] / low, -low, low)]
    return {-1: negative, 1: positive}  # knot, slope on its left, and by how much it bends there


def hinge(_):
    return {y: [(E(1), E(-1), E(1))] for y in (-1, 1)}


def true_gap(clf, beta, losses):
    """The primal value of the fitted machine less the dual value of other coefficients, which bounds every primal."""
    rows = X.astype(E)
    if clf.kernel == "rbf":
        squares = (rows**2).sum(axis=1)
        K = np.exp(-E(clf.gamma) * np.maximum(squares[:, np.newaxis] + squares - 2 * rows @ rows.T, 0))
    else:
        K = rows @ rows.T
    if hasattr(clf, "coef_") and not hasattr(clf, "dual_coef_"):
        w = clf.machine_.weights.astype(E)
        score, half = (rows - clf.machine_.centre) @ w + E(clf.machine_.bias), w @ w / 2
    else:
        own = coefficients(clf, losses)
        score, half = K @ own, own @ K @ own / 2
        score += E(clf.intercept_[0])
    primal, dual = half, -(beta @ K @ beta) / 2
    for f, y, b in zip(score, SIGN, beta, strict=True):
        left = y * b
        for knot, _, bend in reversed(losses[y]):
            primal += E(C) * bend * max(knot - y * f, E(0))
            taken = min(left, E(C) * bend)
            dual += knot * taken
            left -= taken
        assert left <= 0
    return float((primal - dual) / primal)


def coefficients(clf, losses):
    """The dual coefficients within their bounds, the heavier class scaled down so that they sum to 0."""
    beta = np.zeros(len(X), dtype=E)
    beta[clf.support_] = clf.dual_coef_.ravel()
    top = np.array([-E(C) * losses[y][0][1] for y in SIGN])
    g = np.clip(SIGN * beta, 0, top)
    sides = {side: g[side == SIGN].sum() for side in (-1, 1)}
    return np.array([y * each * min(sides.values()) / sides[y] for y, each in zip(SIGN, g, strict=True)])


def gaps(name, costs, factor=1.0, *, by_row=False):
    """The reported gap and the true one."""
    losses = hinge(costs) if costs is None else exact(costs)
    given = None if costs is None or by_row else Costs(*(factor * cost for cost in costs))
    rows = {"row_costs": factor * np.tile(costs, (len(X), 1))} if by_row else {}
    clf = MACHINES[name].__class__(**{**MACHINES[name].get_params(), "costs": given}).fit(X, Y, **rows)
    other = RejectSVC(given, kernel="rbf" if name == "rbf" else "linear", gamma=1e-3, C=C).fit(X, Y, **rows)
    return clf.duality_gap_, true_gap(clf, coefficients(other, losses), losses)


@pytest.mark.parametrize("name", MACHINES)
@pytest.mark.parametrize("factor", [1.0, 1e-9, 3e8])
@pytest.mark.parametrize("costs", [*STATED.values(), None], ids=[*STATED, "hinge"])
def test_the_reported_gap_is_that_of_the_stated_costs(name, factor, costs):
    reported, true = gaps(name, costs, factor)
    assert true <= 1.01 * reported + 1e-9
    assert reported < 1e-3


@pytest.mark.parametrize("name", MACHINES)
@pytest.mark.parametrize("costs", STATED.values(), ids=STATED)
def test_it_is_so_with_costs_of_rows(name, costs):
    reported, true = gaps(name, costs, by_row=True)
    assert true <= 1.01 * reported + 1e-9


def weighted_gaps(clf, ratio):
    """The reported gap and the true one of two rows, one of which counts `ratio` times as much."""
    rows, weight, losses = np.array([[1e-3], [2e-3]]), np.array([ratio**-0.5, ratio**0.5]), exact((1.3, 3.4, 0.3))
    clf = clone(clf).set_params(costs=Costs(1.3, 3.4, 0.3), C=1.0).fit(rows, [0, 1], sample_weight=weight)
    near = np.exp(-E(clf.gamma) * E(1e-3) ** (2 if clf.kernel == "rbf" else 1))
    K, beta = np.array([[1, near], [near, 1]]), np.zeros(2, dtype=E)
    beta[clf.support_] = clf.dual_coef_[0]
    score, half = K @ beta + E(clf.intercept_[0]), beta @ K @ beta / 2
    g, loss, dual = np.abs(beta), E(0), E(0)
    for y, f, own, s in zip((-1, 1), score, g, weight.astype(E), strict=True):
        left = own
        for knot, _, bend in reversed(losses[y]):
            loss += s * bend * max(knot - y * f, E(0))
            dual += knot * min(left, s * bend)
            left -= min(left, s * bend)
    return clf.duality_gap_, float((loss + half - (dual - half)) / (loss + half))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # of the last two
@pytest.mark.parametrize("ratio", [1e6, 1e9, 1e12, 1e15, 1e18])
@pytest.mark.parametrize("kernel", ["rbf", "laplacian"])
def test_the_gap_counts_what_the_rounding_of_a_knot_hides_of_a_heavy_row(kernel, ratio):
    reported, true = weighted_gaps(RejectSVC(kernel=kernel, gamma=1.0), ratio)
    assert true <= 1.01 * reported + 1e-9
    assert ratio > 1e9 or reported < 1e-5


def test_without_the_rounding_of_knots_the_gap_of_a_heavy_row_is_hidden(monkeypatch):
    """The control."""
    monkeypatch.setattr(certificate, "largest_knot", lambda _: 0.0)
    hidden = [weighted_gaps(RejectSVC(kernel=kernel, gamma=1.0), 1e15) for kernel in ("rbf", "laplacian")]
    assert any(true > 5 * reported for reported, true in hidden)


def test_costs_rounded_to_13_digits_would_hide_most_of_the_gap(monkeypatch):
    """The control."""
    monkeypatch.setattr(abstain.arguments, "fractions", abstain.arguments.significant)
    reported, true = gaps("linear", STATED["more digits"])
    assert true > 5 * reported
