"""More than two classes without costs: scikit-learn's SVC, with a certificate for each pair of classes."""

from __future__ import annotations

import numpy as np
import pytest
from public_data.folder import data_folder
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.svm import SVC

from abstain import Costs, EmbeddedRejectSVC, RejectSVC
from abstain.dual.certificate import certify
from abstain.estimators.fitting.pair_fit import posed_pair
from abstain.estimators.fitting.training import Training
from abstain.machines.kernel_machine import KernelMachine, class_pairs


def blobs(n=90, seed=0, classes=3):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % classes
    centres = 1.2 * np.array([[np.cos(t), np.sin(t)] for t in 2 * np.pi * np.arange(classes) / classes])
    return centres[y] + rng.standard_normal((n, 2)), y


SETS = {"iris": load_iris, "wine": load_wine, "digits": load_digits}


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_labels_and_values_are_those_of_svc(name, kernel):
    X, y = SETS[name](return_X_y=True)
    X = X[::3] if name == "digits" else (X - X.mean(axis=0)) / X.std(axis=0)
    y = y[::3] if name == "digits" else y
    ours = RejectSVC(C=2.0, kernel=kernel).fit(X, y)
    theirs = SVC(C=2.0, kernel=kernel, tol=1e-6).fit(X, y)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    # the confidences move less than the tolerance; a vote changes a value by one
    assert np.abs(ours.decision_function(X) - theirs.decision_function(X)).max() < 1e-2
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=2e-3)
    assert ours.status_ == "optimal"
    assert ours.dual_coef_.shape[0] == theirs.dual_coef_.shape[0] == len(ours.classes_) - 1


def test_the_comparison_can_fail():
    X, y = load_iris(return_X_y=True)
    ours, theirs = RejectSVC(C=0.01).fit(X, y), SVC(C=10.0).fit(X, y)
    assert np.abs(ours.decision_function(X) - theirs.decision_function(X)).max() > 0.05


@pytest.mark.skipif(data_folder() is None, reason="needs ABSTAIN_DATA")
@pytest.mark.parametrize("file", ["thyroid_new.csv", "letter.csv.gz"])
def test_labels_of_the_data_folder_are_those_of_svc(file):
    rows = np.genfromtxt(data_folder() / file, delimiter=",", skip_header=1, max_rows=1500)
    y, X = rows[:, -1], rows[:, :-1]
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    train = np.arange(len(y)) % 3 > 0
    ours, theirs = RejectSVC(C=10.0).fit(X[train], y[train]), SVC(C=10.0, tol=1e-6).fit(X[train], y[train])
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))


def test_a_coefficient_is_that_of_svc():
    X, y = blobs()
    ours, theirs = RejectSVC(C=1.0).fit(X, y), SVC(C=1.0, tol=1e-8).fit(X, y)
    np.testing.assert_array_equal(ours.support_, theirs.support_)
    np.testing.assert_array_equal(ours.n_support_, theirs.n_support_)
    np.testing.assert_allclose(ours.dual_coef_, theirs.dual_coef_, atol=1e-6)


@pytest.mark.parametrize("class_weight", ["balanced", {0: 5.0, 2: 0.5}])
def test_weights_are_those_of_svc(class_weight):
    X, y = blobs(80)
    weight = 0.5 + np.arange(80) % 4
    gamma, tight = 0.4, {"C": 1.0, "class_weight": class_weight}
    if class_weight == "balanced":  # SVC counts rows, not their weights
        weight = np.ones(80)
    ours = RejectSVC(gamma=gamma, **tight).fit(X, y, weight)
    theirs = SVC(gamma=gamma, tol=1e-8, **tight).fit(X, y, weight)
    np.testing.assert_allclose(ours.dual_coef_, theirs.dual_coef_, atol=1e-4)
    assert np.abs(ours.dual_coef_ - RejectSVC(gamma=gamma).fit(X, y).dual_coef_[:, :1]).max() > 0.1


def test_certificates_of_pairs_add_up():
    X, y = blobs()
    clf = RejectSVC(C=3.0, gamma=0.5, solver="smo", tol=0.02).fit(X, y)
    training = Training.of(clf, X, y, None, validator=RejectSVC())
    each = KernelMachine.score(clf.machine_, X)
    total = 0.0
    whole = training.posed(3.0, 0.5)
    for pair, ((i, j), proof) in enumerate(zip(class_pairs(3), clf.proofs_, strict=True)):
        posed = posed_pair(whole, np.flatnonzero(y == i), np.flatnonzero(y == j))
        beta = clf.machine_.coef.toarray()[pair]
        everywhere = np.zeros(len(y))
        everywhere[clf.support_] = beta
        rows = posed.kept
        assert set(y[rows]) == {i, j}
        found = certify(posed.problem, everywhere[rows], float(clf.machine_.bias[pair]))
        np.testing.assert_allclose(proof.objective, found.primal, rtol=1e-9)
        hinges = np.maximum(0.0, 1.0 - posed.problem.sign * each[rows, pair])
        K = posed.problem.gram()
        np.testing.assert_allclose(
            proof.objective, 0.5 * everywhere[rows] @ K @ everywhere[rows] + 3.0 * hinges.sum(), rtol=1e-9
        )
        total += found.primal - found.dual
    assert clf.proof_.status == "optimal"
    assert total > 1e-6 * clf.objective_  # not polished away
    np.testing.assert_allclose(clf.objective_ - clf.dual_objective_, total, atol=1e-9 * clf.objective_)
    assert clf.duality_gap_ * clf.objective_ >= 0.99 * total


def test_a_limit_shows_in_the_status():
    X, y = blobs(300)
    with pytest.warns(UserWarning, match="iteration_limit"):
        clf = RejectSVC(C=100.0, max_iter=1, solver="smo").fit(X, y)
    assert clf.status_ == "iteration_limit"
    assert clf.duality_gap_ > 0.01


def test_relabelling_changes_nothing():
    X, y = blobs()
    names = np.array(["ant", "bee", "cow"])
    plain, named = RejectSVC().fit(X, y), RejectSVC().fit(X, names[y])
    np.testing.assert_array_equal(names[plain.predict(X)], named.predict(X))
    np.testing.assert_array_equal(plain.decision_function(X), named.decision_function(X))
    turned = RejectSVC().fit(X, 2 - y)  # ties between votes aside
    assert np.mean(2 - turned.predict(X) == plain.predict(X)) > 0.98


@pytest.mark.parametrize("kernel", ["precomputed", "callable", "sparse"])
def test_ways_to_give_the_rows(kernel):
    from scipy.sparse import csr_array

    X, y = blobs()
    plain = RejectSVC(gamma=0.3).fit(X, y)

    def gram(A, B):
        return np.exp(-0.3 * ((A[:, np.newaxis] - B) ** 2).sum(axis=2))

    other = {
        "precomputed": lambda: RejectSVC(kernel="precomputed").fit(gram(X, X), y).decision_function(gram(X, X)),
        "callable": lambda: RejectSVC(kernel=gram).fit(X, y).decision_function(X),
        "sparse": lambda: RejectSVC(gamma=0.3).fit(csr_array(X), y).decision_function(csr_array(X)),
    }[kernel]()
    np.testing.assert_allclose(other, plain.decision_function(X), atol=1e-6)


def test_threads_do_not_change_the_machine():
    X, y = blobs()
    np.testing.assert_array_equal(RejectSVC(n_jobs=2).fit(X, y).dual_coef_, RejectSVC().fit(X, y).dual_coef_)


def test_what_is_for_two_classes_says_so():
    X, y = blobs()
    with pytest.raises(ValueError, match=r"pos_label=1 is for two classes, and y has 3"):
        RejectSVC(pos_label=1).fit(X, y)
    with pytest.raises(ValueError, match='y has 3 classes, which need rule="chow"'):
        RejectSVC(Costs(reject=0.2), rule="bartlett-wegkamp").fit(X, y)
    with pytest.raises(ValueError, match="Only binary classification"):
        EmbeddedRejectSVC().fit(X, y)
    clf = RejectSVC().fit(X, y)
    with pytest.raises(ValueError, match="predict_set needs costs"):
        clf.predict_set(X)
    assert not hasattr(clf, "thresholds_")
    assert not hasattr(clf, "sets_")


def test_a_weight_of_zero_leaves_a_row_out():
    X, y = blobs(90)
    weight = (np.arange(90) % 4 > 0).astype(float)
    kept = weight > 0
    for costs in (None, Costs(reject=0.2)):
        with_zeros = RejectSVC(costs, gamma=0.4).fit(X, y, weight)
        without = RejectSVC(costs, gamma=0.4).fit(X[kept], y[kept])
        np.testing.assert_allclose(with_zeros.decision_function(X), without.decision_function(X), atol=1e-9)
        np.testing.assert_array_equal(with_zeros.support_, np.flatnonzero(kept)[without.support_])
