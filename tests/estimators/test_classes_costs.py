"""More than two classes with costs: one machine for each class against the rest, decided by Bayes' rule."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import logit

from abstain import Costs, RejectSVC, RejectSVCCV
from abstain.estimators.fitting.kernel_fit import posed_tasks
from abstain.estimators.fitting.training import Training
from clarabel_qp import dual_optimum, primal_optimum
from class_cases import ANSWERS, GENERAL, gaussians, paid, probabilities, table_costs

CASES = {
    "even": (1 - np.eye(3), 0.25),
    "answers": (ANSWERS, 0.4),
    "general": (GENERAL, 0.4),
    "rejects": (GENERAL, [0.2, 0.6, 0.3]),
}


@pytest.mark.parametrize("case", CASES)
def test_the_optimum_is_that_of_a_general_solver(case):
    costs = table_costs(*CASES[case])
    X, y = gaussians(60)
    clf = RejectSVC(costs, C=2.0, gamma=0.5).fit(X, y)
    training = Training.of(clf, X, y, None, validator=RejectSVC())
    posed = posed_tasks(training, training.posed(2.0, 0.5), 2.0)
    for k, (one, proof) in enumerate(zip(posed, clf.proofs_, strict=True)):
        np.testing.assert_array_equal(one.problem.sign, np.where(y == k, 1, -1))
        assert proof.objective == pytest.approx(primal_optimum(one.problem), rel=1e-6)
        assert proof.dual_objective == pytest.approx(dual_optimum(one.problem), rel=1e-6)
        # the machine that predicts has that objective: 1/2 |h|^2 + sum of losses at its own scores
        beta = np.zeros(len(y))
        beta[clf.support_] = clf.dual_coef_[k]
        own = 0.5 * beta @ one.problem.gram() @ beta + one.problem.losses(clf.decision_function(X)[:, k]).sum()
        assert own == pytest.approx(proof.objective, rel=1e-6)
    assert clf.objective_ == pytest.approx(sum(proof.objective for proof in clf.proofs_))
    gaps = [proof.gap * proof.objective for proof in clf.proofs_]
    assert clf.duality_gap_ == pytest.approx(sum(gaps) / clf.objective_)
    assert clf.status_ == "optimal"


def test_another_loss_has_another_optimum():
    X, y = gaussians(60)
    clf = RejectSVC(table_costs(ANSWERS, 0.4), C=2.0, gamma=0.5).fit(X, y)
    other = RejectSVC(table_costs(ANSWERS, 0.3), C=2.0, gamma=0.5).fit(X, y)
    assert abs(clf.objective_ / other.objective_ - 1) > 1e-3


def test_shapes():
    X, y = gaussians(80)
    clf = RejectSVC(Costs(reject=0.2)).fit(X, y)
    assert clf.decision_function(X).shape == (80, 3)
    assert clf.dual_coef_.shape == (3, len(clf.support_))
    assert clf.intercept_.shape == (3,)
    assert clf.sets_.shape == (3, 80)
    assert clf.n_support_.sum() == len(clf.support_)
    assert clf.thresholds_.shape == (3,)
    np.testing.assert_allclose(clf.dual_coef_.sum(axis=1), 0.0, atol=1e-9)
    far = X + 1e4
    linear = RejectSVC(Costs(reject=0.2), kernel="linear").fit(far, y)
    np.testing.assert_allclose(far @ linear.coef_.T + linear.intercept_, linear.decision_function(far), atol=1e-6)


def test_a_class_is_answered_above_bayes_cut():
    X, y = gaussians(200)
    clf = RejectSVC(table_costs(ANSWERS, 0.4), C=3.0).fit(X, y)
    above = clf.decision_function(X) - logit(1 - 0.4 / np.array([1.0, 2.0, 4.0]))
    passed = (above > 1e-9).sum(axis=1)
    np.testing.assert_array_equal(clf.reject_mask(X), passed == 0)
    np.testing.assert_array_equal(clf.predict(X)[passed == 1], above.argmax(axis=1)[passed == 1])
    cost = clf.decide(X).expected_cost
    np.testing.assert_array_equal(clf.predict_forced(X), cost[:, :3].argmin(axis=1))
    assert 0.05 < np.mean(passed == 0) < 0.95


@pytest.mark.parametrize("case", CASES)
def test_bayes_rule_is_approached(case):
    matrix, reject = CASES[case]
    (X, y), (Xt, yt) = gaussians(800), gaussians(4000, seed=1)
    clf = RejectSVC(table_costs(matrix, reject), C=1.0, gamma=0.3).fit(X, y)
    expected = probabilities(Xt) @ np.column_stack([matrix, np.broadcast_to(reject, 3)])
    bayes, never = (paid(matrix, reject, yt, one.argmin(axis=1)) for one in (expected, expected[:, :3]))
    cost = -clf.score(Xt, yt)
    assert bayes - 0.005 < cost < 0.65 * bayes + 0.35 * never
    labels = clf.predict(Xt)
    assert cost == pytest.approx(paid(matrix, reject, yt, np.where(labels == -1, 3, labels)))


def test_relabelling_changes_nothing():
    X, y = gaussians(150)
    costs = table_costs(GENERAL, [0.2, 0.6, 0.3])
    clf = RejectSVC(costs, C=2.0).fit(X, y)
    names = np.array(["wasp", "ant", "bee"])  # sorted: ant 1, bee 2, wasp 0
    renamed = Costs.from_matrix(GENERAL, labels=names, reject=[0.2, 0.6, 0.3])
    other = RejectSVC(renamed, C=2.0).fit(X, names[y])
    order = [1, 2, 0]
    np.testing.assert_allclose(other.decision_function(X), clf.decision_function(X)[:, order], atol=1e-6)
    labels = clf.predict(X)
    np.testing.assert_array_equal(other.predict(X), np.where(labels == -1, "reject", names[labels]))
    wrong = RejectSVC(Costs.from_matrix(GENERAL, labels=sorted(names), reject=[0.2, 0.6, 0.3]), C=2.0).fit(X, names[y])
    assert (wrong.predict(X) != other.predict(X)).mean() > 0.05


def test_one_price_fits_any_number_of_classes():
    X, y = gaussians(100)
    plain, named = RejectSVC(Costs(2, 2, 0.5)).fit(X, y), RejectSVC(table_costs(2 * (1 - np.eye(3)), 0.5)).fit(X, y)
    np.testing.assert_array_equal(plain.decision_function(X), named.decision_function(X))
    assert plain.rule_.costs == named.rule_.costs


def test_half_the_price_of_an_error_can_reject_three_classes():
    X, y = gaussians(300)
    far = RejectSVC(Costs(reject=0.5), C=1.0, gamma=0.3).fit(X, y)
    middle = far.decide(np.zeros((1, 2)))
    assert middle.rejected[0]
    assert middle.expected_cost[0, 3] == pytest.approx(0.5)


def test_decisions_have_a_score_for_each_class():
    X, y = gaussians(120)
    decisions = RejectSVC(table_costs(GENERAL, 0.4), C=2.0).fit(X, y).decide(X)
    frame = decisions.to_frame()
    assert [*frame.columns[:6]] == ["label", "rejected", "reason", "score_0", "score_1", "score_2"]
    assert [*frame.columns[6:9]] == ["probability_0", "probability_1", "probability_2"]
    assert [*frame.columns[9:]] == ["cost_0", "cost_1", "cost_2", "cost_reject"]
    assert "rejected" in decisions._repr_html_()


class TestSets:
    def test_an_answer_is_in_its_set_and_more_where_it_rejects(self):
        (X, y), (Xt, yt) = gaussians(400), gaussians(2000, seed=1)
        clf = RejectSVCCV(Costs(reject=0.2), Cs=[0.1, 1.0], gammas=[0.3]).fit(X, y)
        sets, labels = clf.predict_set(Xt), clf.predict_forced(Xt)
        assert sets.dtype == bool
        assert sets[np.arange(2000), labels].all()
        rejected = clf.reject_mask(Xt)
        assert sets[rejected].sum(axis=1).mean() > 1.5
        assert sets[~rejected].sum(axis=1).mean() < 1.1
        named = sets[np.arange(2000), yt].mean()
        assert named > np.mean(labels == yt) + 0.05

    def test_include_names_the_likeliest_and_all_others_above(self):
        X, y = gaussians(200)
        clf = RejectSVC(Costs(reject=0.2)).fit(X, y)
        few, many = clf.predict_set(X, include=0.9), clf.predict_set(X, include=0.05)
        P = clf.rule_.readout.probabilities(clf.decision_function(X))
        np.testing.assert_array_equal(many[P >= 0.05], True)
        assert many.sum() > few.sum() == 200
        with pytest.raises(ValueError, match=r"include=1.5 must be a probability"):
            clf.predict_set(X, include=1.5)

    def test_two_classes_have_both_where_it_rejects(self):
        X, y = gaussians(200)
        clf = RejectSVC(Costs(reject=0.2)).fit(X, y > 0)
        sets = clf.predict_set(X)
        np.testing.assert_array_equal(sets.all(axis=1), clf.reject_mask(X))
        np.testing.assert_array_equal(sets[:, 1] & ~sets[:, 0], clf.predict(X) == 1)


class TestErrors:
    @pytest.mark.parametrize(
        ("costs", "text"),
        [
            (Costs(1, 5, 0.3), "differ between a positive and a negative class, but y has 3 classes"),
            (Costs(reject=(0.1, 0.2)), "differ between a positive"),
            (Costs.from_matrix([[0, 1], [1, 0]], labels=[0, 1]), "name the classes .0, 1., but y has 2"),
            (Costs.from_matrix(1 - np.eye(4), labels=[0, 1, 2, 3]), "name the class 3, but y has .0, 1, 2."),
            ("cheap", "must be a Costs"),
        ],
    )
    def test_costs_must_be_those_of_the_classes(self, costs, text):
        X, y = gaussians(60)
        with pytest.raises(ValueError, match=text):
            RejectSVC(costs).fit(X, y)

    def test_three_names_do_not_fit_two_classes(self):
        X, y = gaussians(60)
        with pytest.raises(ValueError, match=r"name the class 2, but y has \[0, 1\]"):
            RejectSVC(table_costs(GENERAL, 0.4)).fit(X[y < 2], y[y < 2])

    def test_a_class_without_weight(self):
        X, y = gaussians(60)
        with pytest.raises(ValueError, match="class 2 have weight zero"):
            RejectSVC(Costs(reject=0.2)).fit(X, y, (y < 2).astype(float))


def test_a_weight_of_two_is_a_row_given_twice():
    X, y = gaussians(60)
    weight = 1.0 + (np.arange(60) % 3 == 0)
    rows = np.repeat(np.arange(60), weight.astype(int))
    once = RejectSVC(Costs(reject=0.2), gamma=0.4, class_weight="balanced").fit(X, y, weight)
    twice = RejectSVC(Costs(reject=0.2), gamma=0.4, class_weight="balanced").fit(X[rows], y[rows])
    np.testing.assert_allclose(once.decision_function(X), twice.decision_function(X), atol=1e-5)


def test_a_machine_is_that_of_its_class_against_the_rest():
    X, y = gaussians(120)
    clf = RejectSVC(Costs(reject=0.2), C=2.0, gamma=0.4).fit(X, y)
    # at equality nothing is rejected, and one tangent is left, at log(c_fp / c_fn) = logit(1 - reject)
    single = Costs(false_positive=0.8, false_negative=0.2, reject=0.16)
    for k in range(3):
        alone = RejectSVC(single, C=2.0, gamma=0.4).fit(X, (y == k).astype(int))
        np.testing.assert_allclose(clf.decision_function(X)[:, k], alone.decision_function(X), atol=1e-6)
