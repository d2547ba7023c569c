"""RejectSVC and RejectSVCCV with Actions: the optimum, the case of Costs, Bayes' risk, and decisions row by row."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

from abstain import Actions, Costs, Forced, RejectSVC, RejectSVCCV, ThresholdRejector, reject_price_sweep
from abstain.datasets import Gaussians
from abstain.dual.problem import DualProblem
from abstain.kernels import Kernel
from abstain.losses.tangent_hinge import double_hinge
from action_cases import CREDIT, THREE, with_crossings
from clarabel_qp import primal_optimum
from looping import looped

LAW = Gaussians([[0, 0], [1.5, 1.0]], np.eye(2), prior=0.6)


@pytest.fixture(scope="module")
def rows():
    X, y = LAW.sample(160, random_state=3)
    return X, np.where(y == 1, "good", "bad")


@pytest.fixture(scope="module")
def fitted(rows):
    return RejectSVC(CREDIT, kernel="linear", C=10.0).fit(*rows)


@looped(K=range(1, 7), kernel=["rbf", "linear"])
def test_the_machine_is_the_optimum_for_any_number_of_cuts(K, kernel):
    rng = np.random.default_rng(K)
    actions = with_crossings(np.sort(rng.uniform(0.05, 0.95, K)), rng)
    X, y = LAW.sample(40, random_state=K)
    machine = RejectSVC(actions, C=3.0, kernel=kernel, gamma=0.5, tol=1e-6).fit(X, y)
    sign = np.where(y == 1, 1, -1).astype(np.int8)
    problem = DualProblem(Kernel(kernel, gamma=0.5), X, sign, double_hinge(actions), np.full(len(y), 3.0))
    assert problem.loss.n_knots == K
    assert machine.objective_ == pytest.approx(primal_optimum(problem), rel=1e-7)
    assert machine.duality_gap_ < 1e-7
    assert len(machine.set_names_) == 2 * K + 1
    # control: the loss of other actions has another optimum
    other = double_hinge(with_crossings(np.sort(rng.uniform(0.05, 0.95, K)), rng))
    moved = DualProblem(problem.kernel, X, sign, other, problem.weight)
    assert abs(machine.objective_ / primal_optimum(moved) - 1) > 1e-3


def test_as_many_actions_as_are_allowed_can_be_trained():
    actions = Actions({k: {0: k**2, 1: (59 - k) ** 2} for k in range(60)}, rejects=())
    clf = RejectSVC(actions, kernel="linear", C=10).fit(*LAW.sample(100, random_state=0))
    assert len(clf.thresholds_.cuts) == 59
    assert clf.status_ == "optimal"
    assert len(np.unique(clf.predict(LAW.sample(500, random_state=1)[0]))) > 30


def test_the_loss_touches_the_likelihood_at_every_cut_and_nowhere_else():
    loss, cuts = double_hinge(CREDIT), np.array(CREDIT.levels().cuts)
    for sign in (-1, 1):
        value = loss.of(sign).value
        np.testing.assert_allclose(value(sign * cuts), np.logaddexp(0, -sign * cuts), rtol=1e-12)
        between = (cuts[1:] + cuts[:-1]) / 2
        assert (np.logaddexp(0, -sign * between) - value(sign * between) > 1e-3).all()


@looped(costs=[Costs(1, 5, 0.3), Costs(2, 1, (0.1, 0.4)), Costs(reject=0.5), Costs(reject=0.2)], searched=[False, True])
def test_costs_as_actions_give_the_same_machine_and_decisions(costs, searched):
    X, y = LAW.sample(120, random_state=4)
    (_, r_neg, c_fp), (c_fn, r_pos, _) = costs.table()
    actions = Actions({0: {0: 0, 1: c_fn}, -1: {0: r_neg, 1: r_pos}, 1: {0: c_fp, 1: 0}})
    one, other = (
        (RejectSVCCV(given, Cs=3, gammas=2) if searched else RejectSVC(given)).fit(X, y) for given in (costs, actions)
    )
    new = LAW.sample(400, random_state=5)[0]
    np.testing.assert_allclose(other.decision_function(new), one.decision_function(new), rtol=0, atol=1e-9)
    np.testing.assert_array_equal(other.predict(new), one.predict(new))
    np.testing.assert_array_equal(other.predict_forced(new), one.predict_forced(new))
    np.testing.assert_array_equal(other.reject_mask(new), one.reject_mask(new))
    np.testing.assert_allclose(other.decide(new).expected_cost, one.decide(new).expected_cost, atol=1e-12)
    assert other.score(X, y) == pytest.approx(one.score(X, y), abs=1e-12)
    if searched:
        assert (other.C_, other.gamma_) == (one.C_, one.gamma_)
        assert other.best_score_ == pytest.approx(one.best_score_, abs=1e-12)
        assert other.cv_reject_rate_ == pytest.approx(one.cv_reject_rate_, abs=1e-12)


def test_the_risk_of_four_actions_approaches_that_of_bayes():
    actions = Actions({0: {0: 0, 1: 5}, 1: {0: 1, 1: 0}, "call": 0.3, "visit": {0: 0.2, 1: 0.4}})
    assert len(actions.order) == 4
    new = LAW.sample(20_000, random_state=1)[0]
    expected = actions.expected(LAW.posterior(new))
    bayes = expected.min(axis=1).mean()

    def regret(machine, levels=None):
        names = {name: at for at, name in enumerate(actions.names)}
        taken = [names[name] for name in machine.predict(new).tolist()]
        if levels is not None:
            taken = levels.decide(machine.decision_function(new)).astype(int)
        return expected[np.arange(len(new)), taken].mean() - bayes

    def fit(size, costs=actions):
        return RejectSVC(costs, kernel="linear").fit(*LAW.sample(size, random_state=2))  # as the true log-odds are

    few, many = regret(fit(60)), regret(fit(2500))
    assert many < 0.01 * bayes < few
    # controls: a machine for three of the actions misses the fourth, however many rows it has, and the score of one
    # trained to answer either class is right at its single cut only
    three = Actions({name: cost for name, cost in actions.to_dict().items() if name != "visit"})
    assert regret(fit(2500, three)) > 0.05 * bayes
    two = Actions({name: actions.to_dict()[name] for name in (0, 1)})
    assert regret(fit(2500, two), actions.levels()) > 0.05 * bayes


class TestDecisions:
    def test_the_frame_has_a_column_per_action(self, fitted, rows):
        X, y = pd.DataFrame(rows[0], columns=["a", "b"], index=range(100, 260)), rows[1]
        frame = clone(fitted).fit(X, y).decide(X).to_frame()
        costs = ["cost_approve", "cost_decline", "cost_call", "cost_visit"]
        chances = ["probability_bad", "probability_good"]
        assert [*frame.columns] == ["label", "rejected", "reason", "score", *chances, *costs]
        assert frame.index[0] == 100
        assert frame.attrs == {"score": "good"}
        assert "cost_visit" in fitted.decide(rows[0])._repr_html_()

    def test_the_positive_class_does_not_matter(self, fitted, rows):
        other = clone(fitted).set_params(pos_label="bad").fit(*rows)
        np.testing.assert_array_equal(other.predict(rows[0]), fitted.predict(rows[0]))

    def test_one_action_that_decides_is_always_the_forced_one(self, rows):
        X, y = rows
        clf = RejectSVC(Actions({"good": {"good": 0, "bad": 1}, "ask": 0.2})).fit(X, y)
        assert set(clf.predict_forced(X)) == {"good"}
        assert set(clf.predict(X)) == {"good", "ask"}

    def test_if_all_actions_are_rejects_the_forced_one_is_the_cheapest(self, rows):
        X, y = rows
        clf = RejectSVC(Actions(CREDIT.to_dict()), kernel="linear", C=10.0).fit(X, y)
        assert clf.reject_mask(X).all()
        np.testing.assert_array_equal(clf.predict_forced(X), clf.predict(X))


class TestSearch:
    def test_tuned_cuts_are_bayes_cuts_on_the_recalibrated_score(self, rows):
        X, y = rows
        clf = RejectSVCCV(CREDIT, Cs=[1.0, 100.0], gammas=[1.0], cv=3).fit(X, y)
        assert clf.score_scale_ != 1.0  # tuned
        assert clf.thresholds_ == CREDIT.levels()
        bayes = RejectSVCCV(CREDIT, Cs=[1.0, 100.0], gammas=[1.0], cv=3, cuts="bayes").fit(X, y)
        assert bayes.thresholds_ == CREDIT.levels()

    def test_the_best_pair_has_the_least_mean_cost(self, rows):
        X, y = rows
        clf = RejectSVCCV(CREDIT, Cs=[0.1, 1.0], gammas=[0.1, 1.0], cv=2, cuts="bayes").fit(X, y)
        scores = []
        for pair in clf.cv_results_["params"]:
            folds = [(np.arange(len(y))[tests == k], tests != k) for tests in [_fold(y)] for k in (0, 1)]
            machine = RejectSVC(CREDIT, **pair)
            scores.append(np.mean([machine.fit(X[train], y[train]).score(X[test], y[test]) for test, train in folds]))
        np.testing.assert_allclose(clf.cv_results_["mean_test_score"], scores, atol=0.01)
        assert (clf.C_, clf.gamma_) == tuple(clf.cv_results_["params"][int(np.argmax(scores))].values())


def _fold(y):
    from sklearn.model_selection import StratifiedKFold

    fold = np.empty(len(y), dtype=int)
    for k, (_, test) in enumerate(StratifiedKFold(2).split(y, y)):
        fold[test] = k
    return fold


class TestThresholdRejector:
    def test_the_method_follows_from_the_actions(self, rows):
        assert ThresholdRejector(LogisticRegression(), CREDIT).fit(*rows).method_ == "chow"

    def test_it_is_retuned_without_a_new_fit(self, rows):
        X, y = rows
        costs = Costs.from_table({"good": {"bad": 1}, "bad": {"good": 5}}, reject=0.3)
        clf = ThresholdRejector(LogisticRegression(), costs, method="chow").fit(X, y)
        again = clf.retune(costs=CREDIT)
        fresh = ThresholdRejector(LogisticRegression(), CREDIT).fit(X, y)
        np.testing.assert_array_equal(again.predict(X), fresh.predict(X))
        np.testing.assert_array_equal(again.retune(costs=costs).predict(X), clf.predict(X))

    def test_other_methods_are_refused(self, rows):
        with pytest.raises(ValueError, match='Actions are more than two answers and a reject; use method="chow"'):
            ThresholdRejector(LogisticRegression(), CREDIT, method="roc").fit(*rows)


@pytest.mark.parametrize(
    ("fit", "words"),
    [
        (lambda X, y: RejectSVC(CREDIT).fit(X, y == "good"), "but y has False; name exactly the classes of y"),
        (lambda X, y: RejectSVC(THREE).fit(X, y), "name the classes .'no', 'yes'., but y has 'bad'"),
        (lambda X, y: RejectSVC(CREDIT, reject_label="x").fit(X, y), "reject_label='x' has no effect with Actions"),
        (lambda X, y: RejectSVC(CREDIT, rule="bartlett-wegkamp").fit(X, y), 'and a reject; use rule="chow"'),
        (lambda X, y: RejectSVC(CREDIT, pos_label="ugly").fit(X, y), "pos_label='ugly' is not one of the classes"),
        (lambda X, y: Forced(RejectSVC(CREDIT)).fit(X, y), "use the estimator's predict_forced"),
        (lambda X, y: reject_price_sweep(RejectSVC(CREDIT), X, y, [0.1]), "must be a Costs"),
    ],
)
def test_what_cannot_be_fitted(rows, fit, words):
    with pytest.raises(ValueError, match=words):
        fit(*rows)
