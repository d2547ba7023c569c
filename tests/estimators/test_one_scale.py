"""One scale: a tuned score is the score that thresholds, decisions, coefficients, files and graphs speak of."""

import numpy as np
import pytest
from scipy.special import logit
from sklearn.metrics.pairwise import rbf_kernel

import abstain
from abstain import Actions, Costs, LinearRejectSVCCV, RejectSVCCV, to_onnx
from abstain.dual.certificate import certify
from abstain.dual.problem import DualProblem
from abstain.kernels import Kernel
from abstain.losses.tangent_hinge import double_hinge

ODD = Costs(1, 4, 0.4)
CHOICES = Actions({"no": {"no": 0, "yes": 4}, "yes": {"no": 1, "yes": 0}, "ask": 0.4}, rejects=["ask"])
FEW = {"Cs": [1.0, 30.0], "cv": 3}
WIDE = FEW | {"gammas": [0.3, 2.0]}


def rows(seed, n=160):
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.4
    return rng.normal(size=(n, 5)) + np.outer(y, [1, 1, 0, 0, 0]), np.where(y, "yes", "no")


def tuned(estimator, **given):
    """A machine whose score was tuned, and its rows: the first of some samples on which the search chooses that."""
    for seed in range(20):
        X, y = rows(seed)
        clf = estimator.fit(X, y, **given)
        if abs(clf.score_scale_ - 1.0) > 0.1:
            return clf, X, y
    raise AssertionError("no sample shows a tuned score")


def each_rows_costs(n=160):
    rng = np.random.default_rng(4)
    errors = rng.uniform(1.0, 5.0, (n, 2))
    return np.column_stack([errors, 0.3 * errors.min(axis=1)])


CASES = {
    "rbf": (RejectSVCCV(ODD, pos_label="yes", **WIDE), {}),
    "linear kernel": (RejectSVCCV(ODD, pos_label="yes", kernel="linear", **FEW), {}),
    "first class positive": (RejectSVCCV(ODD, pos_label="no", **WIDE), {}),
    "linear": (LinearRejectSVCCV(ODD, pos_label="yes", **FEW), {}),
    "linear, first class positive": (LinearRejectSVCCV(ODD, pos_label="no", **FEW), {}),
    "actions": (RejectSVCCV(CHOICES, **WIDE), {}),
    "linear, actions": (LinearRejectSVCCV(CHOICES, **FEW), {}),
    "row costs": (RejectSVCCV(pos_label="yes", **WIDE), {"row_costs": each_rows_costs()}),
    "row costs and costs": (RejectSVCCV(ODD, pos_label="yes", **WIDE), {"row_costs": each_rows_costs()}),
    "linear, row costs": (LinearRejectSVCCV(pos_label="yes", **FEW), {"row_costs": each_rows_costs()}),
}


@pytest.fixture(params=CASES, scope="module")
def case(request):
    estimator, given = CASES[request.param]
    clf, X, _ = tuned(estimator, **given)
    return clf, X, given


def bayes_cuts(clf, given):
    """Chow's cuts on the log-odds of "yes", by the formula: P > 1 - reject / fp answers yes, P < reject / fn no."""
    fp, fn, reject = given["row_costs"].T if given else (1, 4, 0.4)
    lower, upper = logit(reject / fn), logit(1 - reject / fp)
    return (-upper, -lower) if clf.pos_label == "no" else (lower, upper)


def test_the_score_and_bayes_cuts_of_the_costs_give_every_label(case):
    clf, X, given = case
    decisions = clf.decide(X, **given)
    score = clf.decision_function(X)
    np.testing.assert_array_equal(decisions.score, score)
    lower, upper = bayes_cuts(clf, given)
    middle = "ask" if isinstance(clf.costs, Actions) else "reject"
    by_hand = np.where(score > upper, "yes", np.where(score < lower, "no", middle))
    np.testing.assert_array_equal(decisions.label, by_hand)
    assert len(set(decisions.label)) > 1
    if not given:
        assert (clf.thresholds_.lower, clf.thresholds_.upper) == pytest.approx((lower, upper))
    # the control: by the score that training gave, some labels are others
    trained = (score - clf.score_shift_) / clf.score_scale_
    assert (decisions.label != np.where(trained > upper, "yes", np.where(trained < lower, "no", middle))).any()


def test_the_coefficients_are_those_of_the_score(case):
    clf, X, _ = case
    if isinstance(clf, LinearRejectSVCCV) or clf.kernel == "linear":
        by_hand = X @ clf.coef_[0] + clf.intercept_
    else:
        by_hand = rbf_kernel(X, clf.support_vectors_, gamma=clf.gamma_) @ clf.dual_coef_[0] + clf.intercept_
    np.testing.assert_allclose(clf.decision_function(X), by_hand, rtol=1e-9, atol=1e-9)


def test_a_file_keeps_the_score_to_the_last_bit(case, tmp_path):
    clf, X, given = case
    abstain.save(clf, tmp_path / "model")
    again = abstain.load(tmp_path / "model")
    np.testing.assert_array_equal(again.decision_function(X), clf.decision_function(X))
    np.testing.assert_array_equal(again.decide(X, **given).label, clf.decide(X, **given).label)
    assert (again.score_scale_, again.score_shift_) == (clf.score_scale_, clf.score_shift_)
    assert again.objective_ == clf.objective_


def test_a_graph_has_the_same_score(case):
    clf, X, given = case
    if given and clf.costs is None:
        return  # it decides no rows without costs of their own, so it has no graph
    session = pytest.importorskip("onnxruntime").InferenceSession(to_onnx(clf).SerializeToString())
    label, score = session.run(["label", "score"], {"X": X})
    np.testing.assert_allclose(score, clf.decision_function(X), atol=1e-9)
    assert (label == clf.predict(X)).mean() > 0.99


def test_the_certificate_can_be_checked_from_the_fitted_attributes():
    clf, X, y = tuned(RejectSVCCV(ODD, pos_label="yes", **WIDE))
    sign = np.where(y == "yes", 1, -1).astype(np.int8)
    problem = DualProblem(Kernel("rbf", gamma=clf.gamma_), X, sign, double_hinge(ODD), np.full(len(y), clf.C_))
    beta = np.zeros(len(y))
    beta[clf.support_] = clf.dual_coef_[0] / clf.score_scale_
    bias = float((clf.intercept_[0] - clf.score_shift_) / clf.score_scale_)
    found = certify(problem, beta, bias)
    assert found.primal == pytest.approx(clf.objective_, rel=1e-9)
    assert found.relative_gap == pytest.approx(clf.duality_gap_, abs=1e-9)
    # the control: those of the score are not the solution of the training problem
    beta[clf.support_] = clf.dual_coef_[0]
    assert certify(problem, beta, float(clf.intercept_[0])).relative_gap > 1e-3
