"""RejectSVC: the support vector machine with a reject option, as a scikit-learn classifier."""

from copy import copy
from dataclasses import KW_ONLY
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abstain.costs.table import CostTable
from abstain.dual.problem import set_names
from abstain.dual.proof import Proof
from abstain.estimators.fitting.attributes import fitted, read_only
from abstain.estimators.fitting.bases import BaseEstimator, CallbackSupportMixin, ClassifierMixin
from abstain.estimators.fitting.kernel_fit import FittedSVC, KernelRowsMixin, fitted_svc
from abstain.estimators.fitting.parameters import (
    CONSTRAINTS,
    CostParameters,
    KernelParameters,
    checked_first,
    with_parameters,
)
from abstain.estimators.fitting.progress import FitTask
from abstain.estimators.fitting.training import Training
from abstain.solvers.linear_dual import LinearDual
from abstain.solvers.native import SMO, ActiveSet


@with_parameters
class RejectSVC(
    KernelRowsMixin, CallbackSupportMixin, ClassifierMixin, KernelParameters, CostParameters, BaseEstimator
):
    """Support vector classifier that rejects where a decision would cost more than rejecting.

    It minimises ``1/2 ||h||^2 + C sum_i s_i loss(y_i f(x_i))`` over ``f = h + bias``, where the loss is the double
    hinge of the stated costs [1]_, and decides by Chow's rule: ``classes_[1]`` above the upper of the two
    `thresholds_`, ``classes_[0]`` below the lower, reject in between. Without costs the loss is the plain hinge,
    nothing is rejected, and the machine is scikit-learn's ``SVC(C=C)`` with a certificate. If the kernel is not
    positive semidefinite ("sigmoid" seldom is), the problem has several stationary points: the machine may then differ
    from ``SVC``'s, and `status_` is "inaccurate".

    With more than two classes and costs there is a machine for each class against the rest. If a wrong answer k costs
    e_k, whatever the true class is, and rejecting costs less than half of it, then the loss of machine k is tangent at
    the probability 1 - reject / e_k, and k is answered if its score exceeds the log-odds of this probability. With
    enough rows this is Bayes' rule [3]_. For other costs the action of least expected cost is taken, under
    probabilities computed from all scores; no theorem covers this step. Bayes' thresholds may reject too much at a C
    that was not chosen for them: `RejectSVCCV` places them by held-out scores. Without costs there is a machine for
    each pair of classes, and the labels are the same as ``SVC``'s.

    Parameters
    ----------
    costs : Costs, Actions or None, default=None
        Costs of the errors and of a reject. If None, nothing is rejected, unless you pass the costs of each row
        (``row_costs``) to `fit`; then pass them to `predict` too. With `Actions` the loss has a tangent at each of
        their thresholds, and `predict` returns the name of the cheapest action. For more than two classes:
        ``Costs(reject=r)``, or `Costs.from_table` with a cost for each pair of classes.
    C : float, default=1.0
        Weight of the losses against the regulariser.
    kernel : {"linear", "rbf", "laplacian", "poly", "sigmoid", "precomputed"} or callable, default="rbf"
        The kernel; "laplacian" is ``exp(-gamma sum_k |x_k - x'_k|)``, as scikit-learn's ``laplacian_kernel``. A
        callable gets two arrays of rows (two CSR matrices if it was fitted on a sparse X) and returns one value per
        pair; "precomputed" takes Gram matrices for X.
    degree : int, default=3
        Degree of the polynomial kernel.
    gamma : {"scale", "auto"} or float, default="scale"
        Coefficient of rbf, laplacian, poly and sigmoid. "scale" is 1 / (n_features * variance of X), for laplacian
        1 / (n_features * mean absolute deviation of X), both weighted by `sample_weight` (not by class weights); "auto"
        is 1 / n_features.
    coef0 : float, default=0.0
        Constant of poly and sigmoid.
    rule : "chow", "bartlett-wegkamp" or BartlettWegkamp, default="chow"
        How to decide whether to reject, and the units of the loss. The rule of Bartlett & Wegkamp [2]_ is for equal
        error costs only.
    pos_label : label, default=None
        The class that "positive" means in the costs; ``classes_[1]`` if None. For two classes only.
    reject_label : label, default="auto"
        The label that `predict` returns for a rejected row. "auto": "reject" for strings, -1 for numbers >= 0 and
        booleans, 0 for {-1, +1}, otherwise the smaller class minus 1.
    class_weight : dict, "balanced" or None, default=None
        Factors on C for each class; "balanced" gives both classes the same total weight.
    solver : {"auto", "smo", "active-set"}, default="auto"
        "auto" is SMO, polished to near machine precision where that is cheap, as for small problems. For the linear
        kernel with more than 1,000 rows, and at least 5 rows for each of up to 500 features, it is Newton steps on the
        weights. "active-set" finds the exact optimum at any size.
    tol : float, default=1e-3
        Largest violation of the optimality conditions, in units of the score, at which the solver may stop. It
        continues while the relative duality gap is above ten times `tol` (or above 0.01, if that is more).
    cache_size : float, default=500
        Memory for kernel rows, in MB.
    max_iter : int, default=10_000_000
        Limit on the solver's iterations; reaching it is reported by a `ConvergenceWarning` and in `status_`.
    time_limit : float or None, default=None
        Limit on the solver's time, in seconds; reported in the same way.
    n_jobs : int or None, default=None
        Number of threads: None is one, -1 is all. The result does not depend on it.
    verbose : bool, default=False
        Whether to write a progress line on stderr once a fit has taken two seconds.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    reject_label_ : scalar
        The label of a rejected row; None with `Actions`.
    support_, support_vectors_, n_support_ : ndarray
        Indices of the support vectors among the training rows, the vectors, and how many of each class.
    dual_coef_ : ndarray of shape (1, n_SV)
        Their signed coefficients; (n_classes, n_SV) for more than two classes, (n_classes - 1, n_SV) as in ``SVC``
        without costs.
    intercept_ : ndarray of shape (1,)
        The bias; one for each machine of more than two classes.
    coef_ : ndarray of shape (1, n_features)
    thresholds_ : Thresholds, or Levels with `Actions`
        Thresholds on the score, which is oriented to ``classes_[1]``. A machine fitted with row costs and
        ``costs=None`` does not have them: it computes two for each row that it decides. For more than two classes, an
        array with Bayes' threshold on the score of each class, if the costs have such thresholds.
    sets_ : ndarray of int8, shape (n_samples,)
        Which piece of the loss each training row lies on; `set_names_` has the names of the codes: I_0 ... I_D for two
        knots. Shape (n_classes, n_samples) for more than two classes; they do not exist without costs.
    objective_, dual_objective_, duality_gap_ : float
        The certificate: primal value, dual value, and their difference relative to the primal value, which bounds how
        far from optimal the machine is. For more than two classes, they are for the sum of the problems of all
        machines.
    proof_, proofs_ : Proof, tuple of Proof
        The certificate, and the certificate of each machine; for two classes there is one.
    status_ : {"optimal", "inaccurate", "iteration_limit", "time_limit"}
        How the solver ended; the worst one of several machines.
    n_iter_ : int
        The number of iterations of the solver.
    n_features_in_, feature_names_in_ : int, ndarray
        As everywhere in scikit-learn.

    References
    ----------
    .. [1] Grandvalet, Rakotomamonjy, Keshet & Canu, "Support Vector Machines with a Reject Option", NIPS 21 (2008).
    .. [2] Bartlett & Wegkamp, "Classification with a Reject Option using a Hinge Loss", JMLR 9 (2008).
    .. [3] Ramaswamy, Tewari & Agarwal, "Consistent Algorithms for Multiclass Classification with an Abstain Option",
       Electronic Journal of Statistics 12 (2018).

    Examples
    --------
    >>> from abstain import Costs, RejectSVC
    >>> X, y = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]], ["no", "no", "yes", "no", "yes", "yes"]
    >>> clf = RejectSVC(Costs(reject=0.2), C=10, kernel="linear").fit(X, y)
    >>> clf.predict([[-3.0], [2.5], [8.0]])
    array(['no', 'reject', 'yes'], dtype='<U6')
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = CONSTRAINTS

    costs: CostTable | None = None
    _: KW_ONLY
    C: float = 1.0
    gamma: float | str = "scale"
    rule: Any = "chow"
    solver: str = "auto"

    @checked_first()
    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None, row_costs: Any = None) -> Self:
        """Learn from labelled rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training rows; the Gram matrix for a precomputed kernel.
        y : array-like of shape (n_samples,)
            Their labels, of two or more classes.
        sample_weight : array-like of shape (n_samples,), default=None
            Factors on C for each row. A weight of k is the same as repeating the row k times; 0 leaves it out.
        row_costs : array-like or data frame of shape (n_samples, 3) or (n_samples, 4), default=None
            Costs of each row, in place of `costs`: false positive, false negative and reject, or false positive, false
            negative, reject negative and reject positive; a frame has these as column names, with underscores. A row
            with twice the costs counts twice: C applies as it is to a row whose two error costs add up to the same sum
            as in `costs`, or to the mean sum of all rows if ``costs=None``.

        Returns
        -------
        RejectSVC
            The fitted estimator.
        """
        checked = copy(self)  # so that a fit that fails changes nothing
        training = Training.of(self, X, y, sample_weight, validator=checked, row_costs=row_costs)
        task = FitTask(self, X, y, sample_weight, verbose=bool(self.verbose))
        self._store(checked, self._fit(training, self.C, self.gamma, task))
        task.end()
        return self

    def _fit(
        self,
        training: Training,
        C: float,
        gamma: float | str,
        task: FitTask,
        *,
        start: NDArray[np.float64] | None = None,
        time_limit: float | None = None,
    ) -> FittedSVC:
        """Fit with this C and gamma, starting from the coefficients `start` of all rows."""
        solver = self._solver(task, self.time_limit if time_limit is None else time_limit)
        with task.line:
            return fitted_svc(training, solver, C, gamma, start)

    def _solver(self, task: FitTask, time_limit: float | None) -> SMO | ActiveSet:
        settings = self._settings(task, time_limit)
        if self.solver == "auto":
            return LinearDual(**settings) if self.kernel == "linear" else SMO(**settings)
        return ActiveSet(**settings) if self.solver == "active-set" else SMO(**settings, polish=False)

    @property
    def proofs_(self) -> tuple[Proof, ...]:
        """The proofs of all machines: one for two classes, else for each class, or each pair."""
        return tuple(self._now.proofs)

    @property
    def sets_(self) -> NDArray[np.int8]:
        """Which piece of the loss each training row lies on; for several classes, a row for each."""
        if self._now.sets is None:
            raise AttributeError("sets_ exists for two classes, and with costs; pairs of classes have no common loss.")
        return read_only(self._now.sets)

    @property
    def set_names_(self) -> tuple[str, ...]:
        """The names of the codes in `sets_`."""
        return set_names(self._now.n_knots)

    n_support_ = fitted[NDArray[np.int32]]("n_support", "The number of support vectors of each class.")
