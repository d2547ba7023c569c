"""Gaussians: the closed forms against densities, quadrature and drawn samples."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal, norm

from abstain import Costs
from abstain.datasets import Gaussians, make_gaussians
from looping import looped, quick

COSTS = [Costs(reject=0.2), Costs(1, 5, 0.3), Costs(2, 1, (0.1, 0.4)), Costs(reject=0.5)]
COVARIANCE = np.array([[2.0, 0.6, 0.0], [0.6, 1.0, -0.3], [0.0, -0.3, 0.5]])
LAWS = {
    "linear": Gaussians([[0, 0, 0], [1, -0.5, 0.7]], COVARIANCE, prior=0.3),
    "wider": Gaussians([[0, 0, 0], [1, -0.5, 0.7]], COVARIANCE, scale=3.0, prior=0.6),
    "narrower": Gaussians([[0, 0, 0], [1, -0.5, 0.7]], COVARIANCE, scale=0.4),
    "concentric": Gaussians([[1, 1, 1], [1, 1, 1]], COVARIANCE, scale=2.0),
}


@pytest.fixture(params=LAWS)
def law(request):
    return LAWS[request.param]


def log_densities(law, X):
    negative = multivariate_normal(law.means[0], law.covariance).logpdf(X)
    positive = multivariate_normal(law.means[1], law.scale * law.covariance).logpdf(X)
    return negative + np.log(1 - law.prior), positive + np.log(law.prior)


def test_the_log_odds_are_those_of_the_densities(law):
    X, _ = law.sample(200, random_state=0)
    negative, positive = log_densities(law, X)
    np.testing.assert_allclose(law.log_odds(X), positive - negative, rtol=1e-10, atol=1e-10)
    p = np.exp(positive) / (np.exp(positive) + np.exp(negative))
    np.testing.assert_allclose(law.posterior(X), p, rtol=1e-10)


def test_samples_have_the_means_covariances_and_prior(law):
    X, y = law.sample(200_000, random_state=1)
    assert abs(y.mean() - law.prior) < 4 * np.sqrt(0.25 / len(y))
    for k, factor in enumerate((1.0, law.scale)):
        np.testing.assert_allclose(X[y == k].mean(axis=0), law.means[k], atol=0.03)
        np.testing.assert_allclose(np.cov(X[y == k].T), factor * law.covariance, atol=0.04 * max(1.0, factor))


def drawn_risk(law, costs, thresholds, n=400_000):
    """Mean and standard error of the cost of Chow's rule on drawn rows and labels."""
    X, y = law.sample(n, random_state=2)
    negative, positive = log_densities(law, X)
    paid = costs.of(y, 1 + thresholds.decide(1 / (1 + np.exp(negative - positive))))
    return paid.mean(), paid.std() / np.sqrt(n)


@looped(costs=COSTS)
def test_the_bayes_risk_is_that_of_drawn_samples(law, costs):
    mean, error = drawn_risk(law, costs, costs.thresholds())
    assert abs(law.bayes_risk(costs.table()) - mean) < 4 * error


def test_the_judge_has_teeth(law):
    # 5 % off in one cost, and the same costs with the two kinds of reject swapped: both must be seen
    right, near, turned = Costs(2, 1, (0.1, 0.4)), Costs(2.1, 1, (0.105, 0.42)), Costs(2, 1, (0.4, 0.1))
    mean, error = drawn_risk(law, right, right.thresholds())
    assert abs(law.bayes_risk(near.table()) - mean) > 4 * error
    assert abs(law.bayes_risk(turned.table()) - mean) > 4 * error


@pytest.mark.parametrize("scale", quick([0.01, 0.25, 0.9, 0.99, 1.0, 1.01, 1.5, 4.0, 100.0], 0.01, 0.99, 1.0, 4.0))
@looped(distance=[1e-3, 0.3, 2.0, 6.0], prior=[0.1, 0.5])
def test_the_bayes_risk_on_a_line_is_the_integral_of_the_cheapest_choice(scale, distance, prior):
    law = Gaussians([[0.0], [distance]], [[1.0]], scale, prior)
    width = 12 * max(1.0, np.sqrt(scale))
    x = np.linspace(-width, distance + width, 400_001)
    densities = np.array([(1 - prior) * norm.pdf(x), prior * norm.pdf(x, distance, np.sqrt(scale))])
    for costs in COSTS:
        table = costs.table()
        cheapest = np.min(table.T @ densities, axis=0)
        assert law.bayes_risk(table) == pytest.approx(np.trapezoid(cheapest, x), abs=1e-7)


def test_a_case_by_hand():
    # means -1, 1, deviation 1, no reject: the error of the rule x > 0 is Phi(-1)
    law = Gaussians([[-1.0], [1.0]], [[1.0]])
    never = Costs(reject=0.5).table()
    assert law.bayes_risk(never) == pytest.approx(norm.cdf(-1.0), rel=1e-12)
    # thresholds r, 1 - r: |x| <= log((1 - r) / r) / 2 is rejected, since the log-odds are 2 x
    r, t = 0.2, np.log(4.0) / 2
    rates = law.rates(r, 1 - r)
    wrong, rejected = norm.cdf(-1 - t), norm.cdf(1 + t) - norm.cdf(1 - t)
    np.testing.assert_allclose(
        rates, 0.5 * np.array([[1 - wrong - rejected, rejected, wrong], [wrong, rejected, 1 - wrong - rejected]])
    )
    assert law.bayes_risk(Costs(reject=r).table()) == pytest.approx(wrong + r * rejected, rel=1e-12)


def test_rates_are_a_distribution_and_the_ends_reject_all(law):
    rates = law.rates(0.2, 0.7)
    assert rates.sum() == pytest.approx(1.0, abs=1e-12)
    np.testing.assert_allclose(rates.sum(axis=1), [1 - law.prior, law.prior], atol=1e-12)
    np.testing.assert_allclose(law.rates(0.0, 1.0)[:, 1], [1 - law.prior, law.prior], atol=1e-12)
    np.testing.assert_allclose(law.rates(0.4, 0.4)[:, 1], 0.0, atol=1e-12)


@looped(costs=COSTS)
def test_no_other_thresholds_are_cheaper(law, costs):
    table, best = costs.table(), law.bayes_risk(costs.table())
    bayes = costs.thresholds()
    assert law.risk(table, bayes.lower, bayes.upper) == pytest.approx(best, abs=1e-12)
    for low in np.linspace(0.02, 0.98, 9):
        for high in np.linspace(low, 0.98, 5):
            assert law.risk(table, low, high) >= best - 1e-12


@looped(costs=COSTS)
def test_bayes_choice_is_the_cheapest_at_every_row(law, costs):
    X, _ = law.sample(2000, random_state=3)
    table = costs.table()
    every = np.stack([law.expected_prices(X, np.full(len(X), k), table) for k in (-1, 0, 1)])
    negative, positive = np.exp(log_densities(law, X))
    np.testing.assert_allclose(
        every, (table.T @ np.stack([negative, positive])) / (negative + positive), rtol=1e-9, atol=1e-12
    )
    choice = law.bayes_choice(X, table)
    np.testing.assert_array_equal(choice, costs.thresholds().decide(law.posterior(X)))
    np.testing.assert_allclose(law.expected_prices(X, choice, table), every.min(axis=0), atol=1e-12)


def test_prices_at_which_rejecting_never_pays_reject_nothing(law):
    table = np.array([[0.0, 0.9, 1.0], [2.0, 0.9, 0.0]])
    X, _ = law.sample(500, random_state=4)
    assert set(law.bayes_choice(X, table).tolist()) <= {-1, 1}
    assert law.bayes_risk(table) == pytest.approx(law.risk(table, 1 / 3, 1 / 3), rel=1e-12)


def test_made_data_is_a_bunch_with_its_law():
    made = make_gaussians(50, n_features=4, distance=3.0, scale=2.0, prior=0.25, random_state=5)
    assert made.data.shape == (50, 4)
    assert made.target_names == ["negative", "positive"]
    assert np.linalg.norm(made.law.means[1] - made.law.means[0]) == pytest.approx(3.0)
    assert "P(positive) = 0.25" in made.DESCR
    X, y = make_gaussians(50, n_features=4, distance=3.0, scale=2.0, prior=0.25, random_state=5, return_X_y=True)
    np.testing.assert_array_equal(X, made.data)
    np.testing.assert_array_equal(y, made.target)
    given = make_gaussians(10, means=[[0, 0], [1, 2]], covariance=[[2, 0], [0, 1]], random_state=5, as_frame=True)
    assert given.frame.columns.tolist() == ["x0", "x1", "target"]
    np.testing.assert_array_equal(given.law.covariance, [[2, 0], [0, 1]])


def test_a_law_cannot_be_changed():
    law = LAWS["linear"]
    with pytest.raises(AttributeError):
        law.prior = 0.5
    with pytest.raises(ValueError, match="read-only"):
        law.means[0, 0] = 1.0


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"means": [0.0, 1.0]},
            r"means must be finite and have shape \(2, d\), one row per class; the shape is \(2,\)",
        ),
        ({"means": [[0.0, np.nan], [1, 1]]}, "means must be finite"),
        (
            {"covariance": [[1.0]]},
            r"covariance must be finite, symmetric and have shape \(2, 2\), .* shape is \(1, 1\)",
        ),
        ({"covariance": [[1.0, 2.0], [0.0, 1.0]]}, "covariance must be finite, symmetric"),
        ({"covariance": [[1.0, 2.0], [2.0, 1.0]]}, "covariance must be positive definite"),
        ({"scale": 0.0}, "scale=0.0 must be positive and finite, and 1 or not within 0.01 of 1"),
        ({"scale": 1.001}, "scale=1.001 must be"),
        ({"scale": float("nan")}, "scale=nan must be"),
        ({"prior": 1.0}, "prior=1.0 must be strictly between 0 and 1"),
        ({"means": [[1.0, 1.0], [1.0, 1.0]]}, "means must differ if scale=1"),
    ],
)
def test_invalid_parameters_of_the_law_are_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        Gaussians(**{"means": [[0.0, 0.0], [1.0, 1.0]], "covariance": np.eye(2), **changes})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"n_samples": 0}, "n_samples=0 must be an integer of at least 1"),
        ({"n_features": 0}, "n_features=0 must be an integer of at least 1"),
        ({"n_features": 1.5}, "n_features=1.5 must be"),
        ({"distance": -1.0}, "distance=-1.0 must be finite and non-negative"),
    ],
)
def test_invalid_arguments_of_make_gaussians_are_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        make_gaussians(**changes)


@pytest.mark.parametrize(
    ("prices", "message"),
    [
        ([[0, 1], [5, 0]], r"prices must be a \(2, 3\) table, .* as returned by Costs.table\(\); .* \(2, 2\)"),
        ([[0, 0.2, 1], [1, 0.2, 0.1]], "must be 0 where the choice is correct"),
        ([[0, 0, 1], [1, 0.2, 0]], "positive and finite elsewhere"),
        ([[0, 0.2, np.inf], [1, 0.2, 0]], "positive and finite elsewhere"),
    ],
)
def test_invalid_cost_tables_are_refused(prices, message):
    with pytest.raises(ValueError, match=message):
        LAWS["linear"].bayes_risk(prices)


def test_other_arguments_are_refused():
    law = LAWS["linear"]
    table = COSTS[0].table()
    with pytest.raises(ValueError, match=r"p_low=0.6 and p_high=0.4 must satisfy 0 <= p_low <= p_high <= 1"):
        law.rates(0.6, 0.4)
    with pytest.raises(ValueError, match=r"X must have shape \(n, 3\), one row per sample; its shape is \(4, 2\)"):
        law.log_odds(np.zeros((4, 2)))
    with pytest.raises(ValueError, match=r"choice must contain -1, 0 or \+1 for each of the 4 rows of X"):
        law.expected_prices(np.zeros((4, 3)), [1, 0, 2, 1], table)
    with pytest.raises(ValueError, match=r"choice must contain"):
        law.expected_prices(np.zeros((4, 3)), [1, 0, 1], table)
