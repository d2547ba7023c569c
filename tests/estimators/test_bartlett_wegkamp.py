"""RejectSVC with Bartlett & Wegkamp's rule: its delta, its units, its costs (docs/theory.md, BW08)."""

import numpy as np
import pytest
from scipy.optimize import minimize

from abstain import BartlettWegkamp, Costs, RejectSVC, Thresholds

TIGHT = {"tol": 1e-9}


def entropy(p):
    return -p * np.log(p) - (1 - p) * np.log(1 - p)


@pytest.fixture
def rows(data):
    return data[0] / 8, data[1]


@pytest.mark.parametrize("r", [0.05, 0.2, 0.4])
def test_delta_is_one_half_by_default(rows, r):
    for rule in ("bartlett-wegkamp", BartlettWegkamp(), BartlettWegkamp(0.5)):
        clf = RejectSVC(Costs(reject=r), rule=rule).fit(*rows)
        assert clf.thresholds_ == Thresholds(-0.5, 0.5)


@pytest.mark.parametrize("delta", [0.2, 0.35, 0.5, 0.8])
def test_any_delta_from_r_to_one_minus_r_is_the_threshold(rows, delta):
    X, y = rows
    clf = RejectSVC(Costs(reject=0.2), rule=BartlettWegkamp(delta)).fit(X, y)
    f = clf.decision_function(X)
    assert clf.thresholds_ == Thresholds(-delta, delta)
    np.testing.assert_array_equal(clf.predict(X), np.where(f > delta, 1, np.where(f < -delta, 0, -1)))
    # the machine is the same for every delta: only the rule is another
    np.testing.assert_array_equal(
        f, RejectSVC(Costs(reject=0.2), rule="bartlett-wegkamp").fit(X, y).decision_function(X)
    )


def test_a_larger_delta_rejects_more(rows):
    X, y = rows
    rates = [
        np.mean(RejectSVC(Costs(reject=0.1), rule=BartlettWegkamp(delta)).fit(X, y).reject_mask(X))
        for delta in (0.1, 0.5, 0.9)
    ]
    assert rates[0] < rates[1] < rates[2]


@pytest.mark.parametrize(("r", "delta"), [(0.3, 0.29), (0.3, 0.71), (0.45, 0.6), (0.1, 0.05)])
def test_a_delta_outside_is_refused_at_fit(rows, r, delta):
    with pytest.raises(ValueError, match=rf"delta={delta} must lie in \[r, 1 - r\] = \[{r}, {1 - r:g}\]; 0.5 always"):
        RejectSVC(Costs(reject=r), rule=BartlettWegkamp(delta)).fit(*rows)


def test_the_price_is_relative_to_that_of_an_error(rows):
    X, y = rows
    one = RejectSVC(Costs(reject=0.2), rule=BartlettWegkamp(0.3), **TIGHT).fit(X, y)
    ten = RejectSVC(Costs(10, 10, 2.0), rule=BartlettWegkamp(0.3), **TIGHT).fit(X, y)
    np.testing.assert_allclose(ten.decision_function(X), one.decision_function(X), atol=1e-9)
    assert ten.thresholds_ == one.thresholds_
    assert ten.score(X, y) == pytest.approx(10 * one.score(X, y))
    with pytest.raises(ValueError, match=r"delta=0\.15 must lie in \[r, 1 - r\] = \[0\.2, 0\.8\]"):
        RejectSVC(Costs(10, 10, 2.0), rule=BartlettWegkamp(0.15)).fit(X, y)


@pytest.mark.parametrize("r", [0.1, 0.24, 0.4])
def test_it_minimises_the_loss_in_its_own_units(rows, r):
    """C times max(0, 1 - z, 1 - z (1 - r) / r), by a general optimiser on the primal of the linear kernel."""
    X, y = rows
    sign, C = 2 * y - 1, 0.05
    clf = RejectSVC(Costs(reject=r), C=C, kernel="linear", rule="bartlett-wegkamp", **TIGHT).fit(X, y)

    def primal(wb):
        z = sign * (X @ wb[:-1] + wb[-1])
        return 0.5 * wb[:-1] @ wb[:-1] + C * np.maximum(0, np.maximum(1 - z, 1 - z * (1 - r) / r)).sum()

    ours = np.append(clf.coef_[0], clf.intercept_)
    assert clf.objective_ == pytest.approx(primal(ours), rel=1e-9)
    start = minimize(primal, np.zeros(5), method="Powell", options={"maxiter": 20000, "xtol": 1e-9, "ftol": 1e-12})
    assert clf.objective_ <= start.fun * (1 + 1e-6)
    rng = np.random.default_rng(0)  # no nearby point is lower, as for a minimum of a convex function
    assert all(primal(ours + 1e-3 * rng.normal(size=5)) >= clf.objective_ * (1 - 1e-9) for _ in range(200))
    # control: in the units of the double hinge it is another machine
    chow = RejectSVC(Costs(reject=r), C=C, kernel="linear", **TIGHT).fit(X, y)
    assert primal(np.append(chow.coef_[0], chow.intercept_)) > 1.01 * clf.objective_


def test_the_two_rules_reject_alike_where_their_thresholds_meet(rows):
    # in the generalized hinge's units Chow's threshold is (r / H(r)) log((1 - r) / r): 1/2 at r = 0.2415, 0.728 at 0.1
    X, y = rows
    for r, alike in ((0.2415, True), (0.1, False)):
        psi = RejectSVC(Costs(reject=r), C=0.3, rule="bartlett-wegkamp", **TIGHT).fit(X, y)
        chow = RejectSVC(Costs(reject=r), C=0.3 * entropy(r) / r**2, **TIGHT).fit(X, y)
        in_psi = chow.thresholds_.upper * r / entropy(r)
        assert (abs(in_psi - 0.5) < 1e-3) == alike
        assert (np.mean(psi.predict(X) != chow.predict(X)) < 0.01) == alike


def test_at_half_a_price_nothing_is_rejected(rows):
    X, y = rows
    clf = RejectSVC(Costs(reject=0.5), rule="bartlett-wegkamp", **TIGHT).fit(X, y)
    assert clf.thresholds_ == Thresholds(0, 0)
    assert not clf.reject_mask(X).any()
    np.testing.assert_allclose(clf.decision_function(X), RejectSVC(**TIGHT).fit(X, y).decision_function(X), atol=1e-9)


@pytest.mark.parametrize(
    ("costs", "rule", "text"),
    [
        (Costs(1, 5, 0.3), "bartlett-wegkamp", 'needs symmetric costs.*Use rule="chow"'),
        (Costs(1, 1, (0.2, 0.3)), BartlettWegkamp(0.4), r"rule=BartlettWegkamp\(delta=0\.4\) needs symmetric costs"),
        (None, "bartlett-wegkamp", r"needs costs, got costs=None; state them, as in costs=Costs\(reject=0\.3\)"),
        (Costs(reject=0.3), "bartlett", 'rule must be "chow", "bartlett-wegkamp" or a BartlettWegkamp'),
        (Costs(reject=0.3), 0.5, "rule must be"),
    ],
)
def test_what_the_rule_cannot_be(rows, costs, rule, text):
    with pytest.raises(ValueError, match=text):
        RejectSVC(costs, rule=rule).fit(*rows)


def test_pos_label_only_turns_the_score_round(rows):
    X, y = rows
    plain = RejectSVC(Costs(reject=0.2), rule=BartlettWegkamp(0.3), **TIGHT).fit(X, y)
    turned = RejectSVC(Costs(reject=0.2), rule=BartlettWegkamp(0.3), pos_label=0, **TIGHT).fit(X, y)
    np.testing.assert_array_equal(turned.predict(X), plain.predict(X))  # symmetric costs know no positive class
    np.testing.assert_allclose(turned.decide(X).expected_cost, plain.decide(X).expected_cost[:, ::-1], atol=1e-6)
