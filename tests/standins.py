"""A pytest plugin that puts our machines in the place of scikit-learn's in its own tests.

They accept the parameters of the machines whose place they take; those without a meaning here change nothing. The
numbers of machines fitted to sparse rows are given in sparse containers, and `score` is the accuracy, as in
scikit-learn.
"""

import sklearn.svm
from scipy.sparse import csr_array, issparse
from sklearn.base import ClassifierMixin

from abstain import LinearRejectSVC
from abstain import OneClassSVM as OurOneClassSVM


class LinearSVC(LinearRejectSVC):
    """LinearRejectSVC with LinearSVC's parameters."""

    def __init__(
        self,
        penalty="l2",
        loss="squared_hinge",
        *,
        dual="auto",
        tol=1e-4,
        C=1.0,
        multi_class="ovr",
        fit_intercept=True,
        intercept_scaling=1,
        class_weight=None,
        verbose=0,
        random_state=None,
        max_iter=1000,
    ):
        super().__init__(C=C, tol=tol, class_weight=class_weight, random_state=random_state, max_iter=max_iter)
        self.penalty, self.loss, self.dual, self.multi_class = penalty, loss, dual, multi_class
        self.fit_intercept, self.intercept_scaling, self.verbose = fit_intercept, intercept_scaling, bool(verbose)

    score = ClassifierMixin.score


class OneClassSVM(OurOneClassSVM):
    """OneClassSVM with scikit-learn's parameters, at our tolerance."""

    def __init__(
        self,
        *,
        kernel="rbf",
        degree=3,
        gamma="scale",
        coef0=0.0,
        tol=1e-6,
        nu=0.5,
        shrinking=True,
        cache_size=200,
        verbose=False,
        max_iter=-1,
    ):
        given = {"kernel": kernel, "degree": degree, "gamma": gamma, "coef0": coef0, "nu": nu, "verbose": verbose}
        super().__init__(**given, tol=min(tol, 1e-6), cache_size=cache_size)
        self.shrinking = shrinking
        if max_iter > 0:
            self.max_iter = max_iter

    @property
    def dual_coef_(self):
        return self._contained(super().dual_coef_)

    @property
    def coef_(self):
        return self._contained(super().coef_)

    def _contained(self, values):
        return csr_array(values) if issparse(self.support_vectors_) else values


sklearn.svm.LinearSVC, sklearn.svm.OneClassSVM = LinearSVC, OneClassSVM
