"""A search of C and gamma where kernel values leave single precision, or the optimum leaves the bias open."""

import numpy as np
import pytest
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import StratifiedKFold

from abstain import Costs, RejectSVC, RejectSVCCV

ASYMMETRIC = Costs(1, 5, 0.3)
# kernel, its options, the factor of the rows, and the order of the kernel values, beyond single precision (3e38, 1e-45)
EXTREME = {
    "linear, 1e50": ({"kernel": "linear"}, 1e25, 1e50),
    "linear, 1e-50": ({"kernel": "linear"}, 1e-25, 1e-50),
    "poly, 1e60": ({"kernel": "poly", "degree": 5, "coef0": 1e12}, 1e6, 1e60),
    "poly, some above 3e38": ({"kernel": "poly", "degree": 3, "coef0": 1e12}, 1e6, 1e36),
    "poly, 1e128": ({"kernel": "poly", "degree": 8, "coef0": 1e16}, 1e8, 1e128),
    "poly, 1e-80": ({"kernel": "poly", "degree": 5, "coef0": 1e-16}, 1e-8, 1e-80),
    "precomputed, 1e39": ({"kernel": "precomputed"}, 1.0, 1e39),
}


@pytest.mark.parametrize("name", EXTREME)
def test_kernel_values_beyond_single_precision(data, name):
    options, factor, order = EXTREME[name]
    X, y = factor * data[0] / 8, data[1]
    Cs, given = [0.01 / order, 1.0 / order], options["kernel"] == "precomputed"
    X = order * rbf_kernel(X) if given else X
    folds = list(StratifiedKFold(3).split(X, y))
    clf = RejectSVCCV(ASYMMETRIC, Cs=Cs, gammas=[1.0], cv=folds, tol=1e-5, **options).fit(X, y)  # no warning
    scores = np.array([clf.cv_results_[f"split{fold}_test_score"] for fold in range(3)])
    expected = []
    for train, test in folds:
        fits = [RejectSVC(ASYMMETRIC, C=C, gamma=1.0, tol=1e-6, **options) for C in Cs]
        columns = train if given else slice(None)
        fitted = [fit.fit(X[train][:, columns], y[train]) for fit in fits]
        expected.append([fit.score(X[test][:, columns], y[test]) for fit in fitted])
    np.testing.assert_allclose(scores, expected, rtol=0, atol=1e-12)
    assert np.ptp(scores, axis=1).max() > 0.02  # C matters, so the fits are not all 0
    best = RejectSVC(ASYMMETRIC, C=clf.C_, gamma=1.0, tol=1e-5, **options).fit(X, y)
    assert Cs.index(clf.C_) == np.argmax(np.mean(expected, axis=0))
    np.testing.assert_array_equal(clf.dual_coef_, clf.score_scale_ * best.dual_coef_)


def test_a_bias_that_the_optimum_leaves_open_is_chosen_as_in_a_fit():
    """Balanced classes at small C: every row is at its bound, and an interval of biases is optimal."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((150, 2))
    y = (X[:, 0] + 0.5 * rng.standard_normal(150) > 1).astype(int)
    search = RejectSVCCV(Cs=[0.01, 0.1], gammas=[0.1], class_weight="balanced").fit(X, y)
    alone = RejectSVC(C=0.01, gamma=0.1, class_weight="balanced")
    folds = StratifiedKFold(5).split(X, y)
    scores = [np.mean(alone.fit(X[train], y[train]).predict(X[test]) == y[test]) - 1 for train, test in folds]
    assert search.cv_results_["mean_test_score"][0] == pytest.approx(np.mean(scores))
