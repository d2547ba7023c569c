"""LinearRejectSVC: the linear machine with a reject option, for millions of rows."""

from collections.abc import Callable
from copy import copy
from dataclasses import KW_ONLY
from functools import partial
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array
from sklearn.utils._param_validation import Interval, StrOptions

from abstain.arguments import is_dask, refuse_dask_frame
from abstain.compressed import checked_rows
from abstain.costs.table import CostTable
from abstain.dual.proof import Proof
from abstain.estimators.fitting.attributes import fitted, read_only
from abstain.estimators.fitting.bases import BaseEstimator, CallbackSupportMixin, ClassifierMixin
from abstain.estimators.fitting.decide import ProvenMixin, RejectMixin
from abstain.estimators.fitting.kernel_fit import FittedMachines
from abstain.estimators.fitting.parameters import CONSTRAINTS, POSITIVE, CostParameters, checked_first, with_parameters
from abstain.estimators.fitting.progress import FitTask
from abstain.estimators.fitting.training import Training
from abstain.estimators.linear.linear_fit import linear_machines
from abstain.estimators.linear.low_rank_fit import LANDMARKS, check_low_rank, low_rank_machines
from abstain.machines.kernel_machine import KernelMachine
from abstain.machines.linear_machine import LinearMachine
from abstain.solvers.linear import LinearNewton


@with_parameters
class LinearRejectSVC(RejectMixin, ProvenMixin, CallbackSupportMixin, ClassifierMixin, CostParameters, BaseEstimator):
    """Support vector classifier with a reject option for millions of rows: linear, or with a kernel of low rank.

    It minimises the objective of ``RejectSVC(kernel="linear")``, ``1/2 |w|^2 + C sum_i s_i loss(y_i (w.x_i + b))`` with
    a bias that is not penalised, by an augmented Lagrangian with Newton steps [1]_: each step is a sum over the rows,
    and a few dozen of them reach a relative duality gap of 1e-6 on most tables. Rows that are few or sparse, with many
    features, are solved in the dual: on their Gram matrix, or by coordinate descent [2]_; up to a few thousand rows
    with fewer features by an interior point method [3]_. It keeps no training rows.

    With another kernel it is a low-rank machine, ``f(x) = sum_j c_j k(landmark_j, x) + b``, the best one on its
    `n_components` landmarks. Its certificate is for that problem, not for the exact kernel machine of `RejectSVC`.

    Parameters
    ----------
    costs : Costs, Actions or None, default=None
        As in `RejectSVC`. With more than two classes there is a machine for each class against the rest, also without
        costs, as in scikit-learn's ``LinearSVC``.
    C : float, default=1.0
        Weight of the losses against the regulariser.
    kernel : {"linear", "rbf", "laplacian", "poly", "sigmoid"}, default="linear"
        As in `RejectSVC`; all but "linear" need `n_components`.
    degree, gamma, coef0 : int, float or {"scale", "auto"}, float, default=3, "scale", 0.0
        Parameters of the kernel, as in `RejectSVC`.
    n_components : int or None, default=None
        The number of landmarks; there are fewer if there are not enough distinct rows or clusters. Not for "linear".
    landmarks : {"rows", "k-means"}, default="rows"
        Training rows drawn at random, or means of clusters of at least five rows each, which are not training rows.
    memory_limit : float, default=4000.0
        Memory for the features of landmarks, in MB. Beyond it kernel values are computed for every pass. That takes
        longer, and the machine is the same up to `tol`.
    pos_label : label, default=None
        The class that "positive" means in the costs; ``classes_[1]`` if None. For two classes only.
    reject_label : label, default="auto"
        The label that `predict` returns for a rejected row; see `RejectSVC`.
    class_weight : dict, "balanced" or None, default=None
        Factors on C for each class; "balanced" gives all classes the same total weight.
    tol : float, default=1e-4
        The relative duality gap at which a fit ends.
    max_iter : int, default=1000
        Limit on Newton steps, or on passes over the rows in the dual, for each machine; reaching it is reported by a
        `ConvergenceWarning` and in `status_`.
    time_limit : float or None, default=None
        Limit on the solver's time, in seconds; reported in the same way.
    n_jobs : int or None, default=None
        Number of threads: None is one, -1 is all. The result does not depend on it.
    verbose : bool, default=False
        Whether to write a progress line on stderr once a fit has taken two seconds.
    random_state : int, RandomState instance or None, default=None
        For the choice of landmarks.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    reject_label_ : scalar
        The label of a rejected row; None with `Actions`.
    coef_ : ndarray of shape (1, n_features)
        The weights of the features; (n_classes, n_features) for more than two classes. For the linear kernel only.
    landmarks_ : ndarray or CSR of shape (n_landmarks, n_features)
        The landmarks of a kernel other than linear; their coefficients are ``machine_.coef``.
    intercept_ : ndarray of shape (1,)
        The bias; one for each machine of more than two classes.
    thresholds_ : Thresholds, or Levels with `Actions`
        As in `RejectSVC`.
    objective_, dual_objective_, duality_gap_ : float
        The certificate, computed from the rows and the fitted machine alone: primal value, dual value, and their
        difference relative to the primal value.
    proof_, proofs_ : Proof, tuple of Proof
        The certificate, and the certificate of each machine; for two classes there is one.
    status_ : {"optimal", "inaccurate", "iteration_limit", "time_limit"}
        How the solver ended; "optimal" only if the certificate confirms `tol`.
    n_iter_ : int
        The number of Newton steps, or of passes over the rows in the dual.
    n_features_in_, feature_names_in_ : int, ndarray
        As everywhere in scikit-learn.

    Notes
    -----
    Dense rows in float32 or float64 and in C order, memory-mapped files included, are read in place; so are CSR
    matrices. Dense rows are centred as they are read. A fit needs about 170 bytes per row, besides the rows.

    References
    ----------
    .. [1] Yan & Li, "An efficient augmented Lagrangian method for support vector machine", Optimization Methods and
       Software 35 (2020); here with any number of knots, a free bias and a certificate.
    .. [2] Hsieh et al., "A dual coordinate descent method for large-scale linear SVM", ICML 2008; here with any number
       of knots, a free bias and a certificate.
    .. [3] Mehrotra, "On the implementation of a primal-dual interior point method", SIAM Journal on Optimization 2
       (1992), with the corrections of Gondzio, Computational Optimization and Applications 6 (1996).

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from abstain import Costs, LinearRejectSVC
    >>> X, y = make_classification(100_000, 20, flip_y=0.1, random_state=0)
    >>> clf = LinearRejectSVC(Costs(reject=0.1), n_jobs=2).fit(X, y)
    >>> clf.status_, bool(clf.duality_gap_ < 1e-4)
    ('optimal', True)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        name: CONSTRAINTS[name]
        for name in (
            "costs", "C", "degree", "gamma", "coef0", "pos_label", "reject_label", "class_weight", "time_limit",
            "n_jobs", "verbose",
        )
    } | {
        "kernel": [str],  # the name is checked with the other parameters of the kernel
        "n_components": [Interval(Integral, 1, None, closed="left"), None],
        "landmarks": [StrOptions(set(LANDMARKS))],
        "memory_limit": [POSITIVE],
        "tol": [POSITIVE],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
    }  # fmt: skip

    rule = "chow"
    _by_gap = True

    costs: CostTable | None = None
    _: KW_ONLY
    C: float = 1.0
    kernel: str = "linear"
    degree: int = 3
    gamma: float | str = "scale"
    coef0: float = 0.0
    n_components: int | None = None
    landmarks: str = "rows"
    memory_limit: float = 4000.0
    tol: float = 1e-4
    max_iter: int = 1000
    random_state: Any = None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    @checked_first()
    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None, row_costs: Any = None) -> Self:
        """Learn from labelled rows.

        Parameters
        ----------
        X : {array-like, sparse matrix, dask array} of shape (n_samples, n_features)
            Training rows; float32 and float64 in C order, and CSR, are not copied. The chunks of a dask array, dense or
            CSR, are read one by one, on the active cluster or on threads; the other arguments may then be dask arrays
            too.
        y : array-like of shape (n_samples,)
            Their labels, of two or more classes.
        sample_weight : array-like of shape (n_samples,), default=None
            Factors on C for each row. A weight of k is the same as repeating the row k times; 0 leaves it out.
        row_costs : array-like or data frame of shape (n_samples, 3) or (n_samples, 4), default=None
            Costs of each row, in place of `costs`, as in `RejectSVC`.

        Returns
        -------
        LinearRejectSVC
            The fitted estimator.
        """
        check_low_rank(self)
        checked = copy(self)  # so that a fit that fails changes nothing
        refuse_dask_frame(X)
        if is_dask(X):
            solve = self._solver_on_dask(checked, X, y, sample_weight, row_costs)
        else:
            given = {"validator": checked, "row_costs": row_costs, "linear": True}
            solve = partial(self._fit, Training.of(self, X, y, sample_weight, **given), float(self.C), self.gamma)
        task = FitTask(self, X, y, sample_weight, verbose=bool(self.verbose), shown="relative duality gap")
        with task.line:
            found = solve(task)
        self._store(checked, found)
        task.end()
        return self

    def _solver_on_dask(self, checked: Any, X: Any, *columns: Any) -> Callable[[FitTask], FittedMachines]:
        from abstain.estimators.linear.dask_fit import fitted_on_dask
        from abstain.estimators.linear.dask_table import DaskTable

        if self.kernel != "linear":
            raise ValueError(f"kernel={self.kernel!r} takes rows in memory; dask arrays need kernel='linear'.")
        table = DaskTable.of(X, *columns)
        vars(checked).pop("feature_names_in_", None)
        checked.n_features_in_ = table.shape[1]
        return lambda task: fitted_on_dask(self, table, self._settings(task, self.time_limit))

    def _fit(
        self, training: Training, C: float, gamma: float | str, task: FitTask, *, time_limit: float | None = None
    ) -> FittedMachines:
        """Fit with this C; gamma is read with the other parameters of a low-rank kernel."""
        del gamma
        settings = self._settings(task, self.time_limit if time_limit is None else time_limit)
        if check_low_rank(self):
            found: Any = low_rank_machines(self, training, C, settings)
        else:
            found = linear_machines(training, C, settings, self.n_jobs)
        machine, proofs = found
        return FittedMachines(machine, training.rule, proofs, training.largest_row_cost)

    def _settings(self, task: FitTask, time_limit: float | None) -> LinearNewton:
        return LinearNewton(float(self.tol), int(self.max_iter), time_limit, task.report if task.watched else None)

    def _checked(self, X: Any) -> Any:
        return checked_rows(self, X, dense=False, reset=False, single=True)

    @property
    def coef_(self) -> NDArray[np.float64]:
        """The weights of the features, shape (n_machines, n_features)."""
        machine = self._now.machine
        if hasattr(machine, "vectors"):
            raise AttributeError("coef_ is for the linear kernel; see landmarks_ and machine_.coef.")
        return read_only(np.atleast_2d(machine.weights))

    @property
    def landmarks_(self) -> NDArray[np.float64] | csr_array:
        """The landmarks of a low-rank kernel machine, shape (at most n_components, n_features)."""
        machine = self._now.machine
        if not hasattr(machine, "vectors"):
            raise AttributeError('landmarks_ is for kernels other than "linear"; see coef_.')
        return read_only(machine.vectors)

    @property
    def intercept_(self) -> NDArray[np.float64]:
        """The bias of each machine."""
        return read_only(np.atleast_1d(self._now.machine.intercept))

    machine_ = fitted[LinearMachine | KernelMachine]("machine", "What scores rows.")
    proofs_ = fitted[tuple[Proof, ...]]("proofs", "The proofs of all machines.")
