"""OneClassSVM: the support vector machine of one class, as a scikit-learn outlier detector."""

import math
from copy import copy
from dataclasses import KW_ONLY, dataclass, replace
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils._param_validation import Interval

from abstain.arguments import is_dask, refuse_dask, row_weights, warn_caller
from abstain.compressed import checked_rows
from abstain.dual.problem import DualProblem
from abstain.dual.proof import Proof
from abstain.estimators.fitting.attributes import fitted
from abstain.estimators.fitting.bases import BaseEstimator, CallbackSupportMixin, OutlierMixin
from abstain.estimators.fitting.decide import ProvenMixin
from abstain.estimators.fitting.kernel_fit import ExpansionMixin
from abstain.estimators.fitting.lazy import lazy_rows
from abstain.estimators.fitting.parameters import CONSTRAINTS, KernelParameters, checked_first, with_parameters
from abstain.estimators.fitting.posing import Posed, posed_rows, resolved_kernel
from abstain.estimators.fitting.progress import FitTask
from abstain.estimators.fitting.solving import solved
from abstain.kernels import Kernel
from abstain.losses.tangent_hinge import hinge
from abstain.machines.kernel_machine import KernelMachine
from abstain.solvers.native import OneClassSMO

SHARED = ("kernel", "degree", "gamma", "coef0", "tol", "cache_size", "max_iter", "time_limit", "n_jobs", "verbose")
NULL = 1e-6  # share of the largest possible ||h|| below which h is 0, up to rounding
NO_MACHINE = (
    "no machine separates these rows from the origin, so that all scores are 0 up to rounding and their signs mean "
    "nothing: a weighted mean of the rows is the origin of kernel={!r}. Use kernel='rbf', or rows that are not centred."
)


@dataclass(frozen=True, eq=False)
class FittedOneClass:
    """A fitted `OneClassSVM`.

    Attributes
    ----------
    machine : KernelMachine
        Its bias is minus the offset.
    proof : Proof
        How good the solution is.
    """

    machine: KernelMachine
    proof: Proof


@with_parameters
class OneClassSVM(ExpansionMixin, ProvenMixin, CallbackSupportMixin, OutlierMixin, KernelParameters, BaseEstimator):
    """Support vector machine of one class: it learns from rows without labels, and scores how usual a row is.

    It minimises ``1/2 ||h||^2 + sum_i s_i max(0, offset - h(x_i)) - nu S offset`` over h and the offset [1]_, where S
    is the sum of the weights s: at most a share `nu` of the training rows scores below the offset, and at least a share
    `nu` are support vectors. The machine is the same as scikit-learn's ``OneClassSVM``, with a certificate.

    If no h separates the rows from the origin of the kernel's features, as with the linear kernel on centred rows, h is
    0 and its scores are rounding errors; a warning says so.

    Parameters
    ----------
    kernel : {"linear", "rbf", "laplacian", "poly", "sigmoid", "precomputed"} or callable, default="rbf"
        As in `RejectSVC`.
    degree : int, default=3
        Degree of the polynomial kernel.
    gamma : {"scale", "auto"} or float, default="scale"
        Coefficient of rbf, laplacian, poly and sigmoid, as in `RejectSVC`.
    coef0 : float, default=0.0
        Constant of poly and sigmoid.
    nu : float, default=0.05
        Share of the training rows, by weight, that may score below the offset; 0 < nu <= 1.
    tol : float, default=1e-6
        Largest violation of the optimality conditions at which the solver may stop, as a share of the largest possible
        score: the sum of the coefficients times the median of k(x, x), to within a factor of two. It continues while
        the relative duality gap is above ten times `tol` (or above 0.01, if that is more).
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
    support_, support_vectors_ : ndarray
        Indices of the support vectors among the training rows, and the vectors.
    n_support_ : ndarray of shape (1,)
        The number of support vectors.
    dual_coef_ : ndarray of shape (1, n_SV)
        Their coefficients, from 0 to the row's weight; their sum is nu times the sum of the weights.
    intercept_ : ndarray of shape (1,)
        Minus the offset.
    offset_ : float
        The score below which a row counts as unusual. If nu = 1, any number from the largest score of the training rows
        on is optimal, and the largest score is used.
    coef_ : ndarray of shape (1, n_features)
        Linear kernel only.
    objective_, dual_objective_, duality_gap_ : float
        The certificate: primal value, dual value, and their difference, plus what rounding may hide, relative to the
        larger of their absolute values. It bounds how far from optimal the machine is. Both values are negative at the
        optimum, or 0 if no h separates the rows from the origin; then the difference is relative to a millionth of the
        largest ``1/2 ||h||^2`` that these coefficients could have.
    proof_ : Proof
        The certificate and how the solver ended.
    status_ : {"optimal", "inaccurate", "iteration_limit", "time_limit"}
        How the solver ended.
    n_iter_ : int
        The number of iterations of the solver.
    n_features_in_, feature_names_in_ : int, ndarray
        As everywhere in scikit-learn.

    References
    ----------
    .. [1] Schoelkopf, Platt, Shawe-Taylor, Smola & Williamson, "Estimating the Support of a High-Dimensional
       Distribution", Neural Computation 13 (2001).

    Examples
    --------
    >>> from abstain import OneClassSVM
    >>> X = [[0.0], [0.1], [0.2], [0.3], [0.4]]
    >>> OneClassSVM(nu=0.2, gamma=1.0).fit(X).predict([[0.2], [3.0]])
    array([ 1, -1])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **{name: CONSTRAINTS[name] for name in SHARED},
        "nu": [Interval(Real, 0.0, 1.0, closed="right")],
    }

    _: KW_ONLY
    gamma: float | str = "scale"
    nu: float = 0.05
    tol: float = 1e-6

    @checked_first()
    def fit(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from rows without labels.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training rows; the Gram matrix for a precomputed kernel.
        y : None
            Ignored.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows. A weight of k is the same as repeating the row k times; 0 leaves it out.

        Returns
        -------
        OneClassSVM
            The fitted estimator.
        """
        refuse_dask(X, "OneClassSVM", "fit it on some of the rows")
        checked = copy(self)  # so that a fit that fails changes nothing
        posed, unit, largest = self._posed(checked, X, sample_weight)
        task = FitTask(self, X, y, sample_weight, verbose=bool(self.verbose))
        with task.line:
            found = solved(OneClassSMO(**self._settings(task, self.time_limit)), posed, None)
        proof = found.proof(self.tol)
        if math.sqrt(2.0 * abs(proof.dual_objective)) <= NULL * largest:
            warn_caller(NO_MACHINE.format(self.kernel))
        self._store(checked, FittedOneClass(*_in_units(unit, posed.machine(found.machine), proof)))
        task.end()
        return self

    def _posed(self, checked: Any, X: Any, sample_weight: Any) -> tuple[Posed, float, float]:
        """Return the problem, the unit of its weights, and the largest ``||h||`` that there could be.

        The unit makes the scores about 1: `tol` is a share of them.
        """
        dense = not callable(self.kernel) and Kernel(self.kernel).name == "precomputed"
        rows = checked_rows(checked, X, dense=dense, reset=True)
        given = row_weights(sample_weight, rows.shape[0])
        weight = np.ones(rows.shape[0]) if given is None else given
        kept = np.flatnonzero(weight)
        kernel = resolved_kernel(self, self.gamma, rows, weight)
        known, X, as_posed = posed_rows(kernel, rows, kept)
        sign, total = np.ones(len(kept), dtype=np.int8), float(self.nu) * float(weight.sum())
        size = np.abs(known.diagonal(X))
        usual = float(size[0]) if (size == size[0]).all() else float(np.median(size))
        unit = _power_of_two(total * (usual or float(size.max())))
        # No coefficient exceeds the total, so weights need not, by much; this keeps the losses of rows that may
        # have none small. A weight of the total itself would leave the offset free between the two lowest scores.
        weight = np.minimum(weight[kept], 2.0 * total) / unit
        problem = DualProblem(known, X, sign, hinge(0.0), weight, total / unit)
        return Posed(problem, rows, kernel, kept, as_posed), unit, total / unit * math.sqrt(float(size.max()))

    def score_samples(self, X: Any) -> NDArray[np.float64]:
        """Return how usual each row is: the machine's score without the offset, larger where the training rows lie.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Rows to score; for a precomputed kernel, kernel values between these rows and all training rows.

        Returns
        -------
        ndarray of float64, shape (n_samples,)
        """
        return self._score(replace(self._now.machine, bias=0.0), X)

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return ``score_samples(X) - offset_``, which is negative for unusual rows."""
        return self._score(self._now.machine, X)

    def predict(self, X: Any) -> NDArray[np.int64]:
        """Return -1 for rows that score below the offset and +1 for the others.

        The training rows that determine the offset count as usual: the offset is lowered by a trillionth.
        """
        return np.where(self.decision_function(X) >= 0.0, 1, -1)

    def _score(self, machine: KernelMachine, X: Any) -> Any:
        if is_dask(X):
            return lazy_rows(lambda frozen, chunk: frozen._score(machine, chunk), copy(self), X, ())  # noqa: SLF001 (a copy)
        return machine.score(self._checked(X), self.n_jobs)

    @property
    def n_support_(self) -> NDArray[np.int32]:
        """The number of support vectors, in an array as of scikit-learn's ``OneClassSVM``."""
        return np.array([len(self.support_)], dtype=np.int32)

    @property
    def offset_(self) -> float:
        """The score below which a row counts as unusual."""
        return -float(self._now.machine.intercept)

    duality_gap_ = fitted[float]("proof.gap", "The primal minus the dual value, relative to the larger of them.")


def _power_of_two(size: float) -> float:
    """Return the power of two next to a size: dividing and multiplying numbers by it does not round."""
    return 2.0 ** max(-1000, min(math.frexp(size)[1], 1000)) if 0.0 < size < math.inf else 1.0


def _in_units(unit: float, machine: KernelMachine, proof: Proof) -> tuple[KernelMachine, Proof]:
    """Return a machine and its proof in the caller's units of the weights; the violation remains a share."""
    objectives = {name: getattr(proof, name) * unit * unit for name in ("objective", "dual_objective")}
    return replace(machine, coef=machine.coef * unit, bias=machine.bias * unit), replace(proof, **objectives)
