"""Sample weights are repeated rows; class weights multiply them."""

import numpy as np
import pytest
from scipy import sparse

from abstain import Costs, RejectSVC

ASYMMETRIC = Costs(false_positive=1, false_negative=5, reject=0.3)
TIGHT = {"tol": 1e-9}


@pytest.mark.parametrize("options", [{}, {"class_weight": "balanced"}, {"class_weight": {0: 2, 1: 3}}])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_a_weight_is_a_repeated_row(data, options, form):
    X, y = data
    times = np.random.default_rng(1).integers(0, 4, len(y))
    weighted = RejectSVC(ASYMMETRIC, **options, **TIGHT).fit(form(X), y, sample_weight=times)
    repeated = RejectSVC(ASYMMETRIC, **options, **TIGHT).fit(form(np.repeat(X, times, axis=0)), np.repeat(y, times))
    np.testing.assert_allclose(weighted.decision_function(X), repeated.decision_function(X), rtol=1e-7, atol=1e-7)
    assert weighted.objective_ == pytest.approx(repeated.objective_)


def test_rows_without_weight_are_left_out_but_keep_their_place(data):
    X, y = data
    weight = (np.arange(len(y)) % 3 > 0).astype(float)
    clf = RejectSVC(ASYMMETRIC).fit(X, y, weight)
    part = RejectSVC(ASYMMETRIC).fit(X[weight > 0], y[weight > 0])
    np.testing.assert_array_equal(clf.decision_function(X), part.decision_function(X))
    np.testing.assert_array_equal(clf.support_vectors_, X[clf.support_])
    assert clf.sets_.shape == y.shape
    assert (clf.sets_[weight == 0] == 0).all()
    np.testing.assert_array_equal(clf.sets_[weight > 0], part.sets_)


def test_class_weight_multiplies_sample_weight(data):
    X, y = data
    weight = np.random.default_rng(2).uniform(0.1, 3, len(y))
    ours = RejectSVC(gamma=0.02, class_weight={1: 4.0}, **TIGHT).fit(X, y, weight)
    other = RejectSVC(gamma=0.02, **TIGHT).fit(X, y, weight * np.where(y == 1, 4.0, 1.0))
    np.testing.assert_allclose(ours.decision_function(X), other.decision_function(X), atol=1e-9)


def test_gamma_scale_takes_sample_weights_but_no_class_weights(data):
    X, y = data
    weight = np.random.default_rng(2).uniform(0.1, 3, len(y))
    entries = np.repeat(weight, X.shape[1])
    variance = np.average((X.ravel() - np.average(X.ravel(), weights=entries)) ** 2, weights=entries)
    options = {"class_weight": {1: 4.0}, **TIGHT}
    scale = RejectSVC(**options).fit(X, y, weight)
    number = RejectSVC(gamma=1 / (X.shape[1] * variance), **options).fit(X, y, weight)
    np.testing.assert_allclose(scale.decision_function(X), number.decision_function(X), atol=1e-8)
