"""A kernel, a loss and a rule added from outside, each in one place: everything works with them."""

from dataclasses import dataclass

import numpy as np
import pytest
from sklearn.datasets import make_moons
from sklearn.linear_model import LogisticRegression
from sklearn.metrics.pairwise import euclidean_distances

from abstain import Costs, RejectSVC, RejectSVCCV, ThresholdRejector, load, reject_svc_path, save
from abstain.costs.cuts import Thresholds
from abstain.dual.certificate import certify
from abstain.kernels import KERNELS, Formula, Kernel
from abstain.losses.margin_loss import MarginLoss
from abstain.losses.tangent_hinge import tangent_hinge
from abstain.rules.tuning.methods import METHODS, Method, roc_thresholds

COSTS = Costs(1, 3, 0.3)


@pytest.fixture(scope="module")
def rows():
    return make_moons(120, noise=0.3, random_state=0)


def cauchy_kernel(X, Y=None, gamma=1.0):
    return 1.0 / (1.0 + gamma * euclidean_distances(X, Y, squared=True))


@pytest.fixture
def cauchy(monkeypatch):
    """k(x, y) = 1 / (1 + gamma |x - y|^2), as one entry of the table of kernels."""
    formula = Formula(
        block=lambda kernel, X, Y: cauchy_kernel(X, Y, gamma=kernel.gamma),
        diagonal=lambda _, X: np.ones(X.shape[0]),
        takes_gamma=True,
    )
    monkeypatch.setitem(KERNELS, "cauchy", formula)


@pytest.mark.usefixtures("cauchy")
class TestKernel:
    def test_it_is_the_machine_of_its_gram_matrix(self, rows):
        X, y = rows
        named = RejectSVC(COSTS, kernel="cauchy", gamma=0.7, tol=1e-8).fit(X, y)
        gram = RejectSVC(COSTS, kernel="precomputed", tol=1e-8).fit(cauchy_kernel(X, gamma=0.7), y)
        new = X[:30] + 0.1
        expected = gram.decision_function(cauchy_kernel(new, X, gamma=0.7))
        np.testing.assert_allclose(named.decision_function(new), expected, atol=1e-6)
        assert named.status_ == "optimal"
        # control: another kernel gives another machine
        assert np.abs(RejectSVC(COSTS, gamma=0.7).fit(X, y).decision_function(new) - expected).max() > 0.1

    def test_it_is_searched_followed_and_saved(self, rows, tmp_path):
        X, y = rows
        search = RejectSVCCV(COSTS, kernel="cauchy", Cs=3, gammas=2, cv=3).fit(X, y)
        assert search.gamma_ > 0
        save(search, tmp_path / "model")
        np.testing.assert_array_equal(load(tmp_path / "model").decision_function(X), search.decision_function(X))
        path = reject_svc_path(X, y, COSTS, kernel="cauchy", gamma=0.7, C_max=10)
        assert certify(path.problem_at(3.0), *path.at(3.0)).relative_gap < 1e-9

    def test_an_unknown_kernel_is_still_refused(self):
        with pytest.raises(ValueError, match="one of linear, rbf, laplacian, poly, sigmoid, precomputed, cauchy"):
            Kernel("cosine")


@dataclass(frozen=True)
class Confident:
    """A loss with three knots: tangents at Bayes' thresholds and halfway between them."""

    def loss(self, costs: Costs) -> MarginLoss:
        bayes = costs.score_thresholds()
        return tangent_hinge([bayes.lower, (bayes.lower + bayes.upper) / 2, bayes.upper], cut=costs.cut)


class TestLoss:
    def test_a_value_with_a_loss_is_a_rule(self, rows):
        X, y = rows
        clf = RejectSVC(COSTS, rule=Confident(), tol=1e-8).fit(X, y)
        assert clf.thresholds_ == COSTS.score_thresholds()
        assert len(clf.set_names_) == 7
        assert clf.sets_.max() <= 6
        assert clf.duality_gap_ < 1e-6
        other = RejectSVC(COSTS, tol=1e-8).fit(X, y)
        assert np.abs(clf.decision_function(X) - other.decision_function(X)).max() > 1e-3

    def test_what_has_no_loss_is_refused(self, rows):
        with pytest.raises(ValueError, match="rule must be"):
            RejectSVC(COSTS, rule=Confident).fit(*rows)


class TestMethod:
    def test_one_entry_makes_a_method(self, rows, monkeypatch):
        X, y = rows

        def never_below(scored, costs):
            return Thresholds(-np.inf, roc_thresholds(scored, costs).upper)

        method = Method(for_costs=never_below, for_budget=METHODS["roc"].for_budget)
        monkeypatch.setitem(METHODS, "positive-only", method)
        clf = ThresholdRejector(LogisticRegression(), COSTS, method="positive-only").fit(X, y)
        assert set(clf.predict(X)) == {-1, 1}  # class 0 is never answered
        roc = ThresholdRejector(LogisticRegression(), COSTS, method="roc").fit(X, y)
        assert clf.thresholds_.upper == roc.thresholds_.upper

    def test_an_unknown_method_is_refused(self, rows):
        with pytest.raises(ValueError, match="method='naive' must be one of auto, symmetric, roc, chow"):
            ThresholdRejector(LogisticRegression(), COSTS, method="naive").fit(*rows)
