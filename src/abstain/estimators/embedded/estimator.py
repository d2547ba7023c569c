"""EmbeddedRejectSVC: Fumera and Roli's support vector machine, whose reject band is part of the optimum."""

import warnings
from copy import copy
from dataclasses import KW_ONLY, replace
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions

from abstain.compressed import checked_rows
from abstain.costs.costs import Costs
from abstain.costs.cuts import Thresholds
from abstain.estimators.embedded.training import EmbeddedTraining, FittedEmbedded
from abstain.estimators.fitting.attributes import fitted
from abstain.estimators.fitting.bases import BaseEstimator, CallbackSupportMixin, ClassifierMixin
from abstain.estimators.fitting.kernel_fit import KernelRowsMixin
from abstain.estimators.fitting.parameters import CONSTRAINTS, POSITIVE, checked_first, with_parameters
from abstain.estimators.fitting.progress import FitTask
from abstain.kernels import Kernel
from abstain.labels import Labels, two_classes
from abstain.losses.step_loss import StepLoss
from abstain.rules.deciders import Cuts
from abstain.rules.readouts import LogOdds
from abstain.rules.rule import Rule
from abstain.solvers.embedded import EmbeddedDual, EmbeddedPrimal, EmbeddedSolution, hops_for

SHARED = ("C", "kernel", "degree", "gamma", "coef0", "max_iter", "time_limit", "verbose")


@with_parameters
class EmbeddedRejectSVC(KernelRowsMixin, CallbackSupportMixin, ClassifierMixin, BaseEstimator):
    """Support vector classifier whose reject band is found together with its hyperplane.

    The machine of Fumera and Roli [1]_. It minimises ``F = 1/2 w.w + C sum_i h''(xi_i, eps)`` over w, bias, slacks and,
    if ``reject_cost < 1/2``, over ``0 <= eps <= 1``; h'' is a smoothed staircase of the costs of a margin error, a
    reject and an error. It decides: ``classes_[1]`` if the score is above `eps_`, ``classes_[0]`` if it is below
    ``-eps_``, reject in between. F is not convex: the result is a local minimum, the lowest found from many starts.
    The order of the training rows does not change it.

    Parameters
    ----------
    reject_cost : float, default=0.5
        w_R, the cost of a reject if an error costs 1; 0 < w_R <= 1. At 1/2 and above rejecting never lowers the risk,
        so eps is fixed at 0 and nothing is rejected, although the smoothed F may be a little lower with a band.
    C : float, default=0.1
        Weight of the losses against the regulariser. The problem depends on the scale of the features through C.
    kernel : {"linear", "rbf", "laplacian", "poly", "sigmoid", "precomputed"} or callable, default="linear"
        As in `RejectSVC`. Kernels other than the linear one are solved on features whose inner products are the kernel.
    degree : int, default=3
        Degree of the polynomial kernel.
    gamma : {"scale", "auto"} or float, default="scale"
        Coefficient of rbf, laplacian, poly and sigmoid.
    coef0 : float, default=0.0
        Constant of poly and sigmoid.
    margin_cost : float or None, default=None
        w_C, the cost of a row decided correctly but inside the margin; 0 < w_C < w_R. None is 0.2 w_R.
    steepness : float, default=100.0
        s, how steep the smoothed steps of the loss are.
    slack_penalty : float, default=0.05
        a, the penalty on a squared slack.
    solver : {"primal", "dual"}, default="primal"
        "primal" is descent on F; "dual" is the method of the paper, pair steps on the Lagrangian dual, which has a
        duality gap: its machine has a larger F, but comes with a lower bound.
    n_starts : int or "auto", default="auto"
        Further starts of the primal solver after the fixed ones: hops from the best point so far. The time is
        proportional to this number, and a larger one never raises `objective_`. "auto" is as many as
        take about 0.2 s: from 2,000 for a few small rows down to 48 for large data.
    lower_bound : bool, default=False
        Whether the primal solver's fit also solves the dual, for `lower_bound_`.
    n_components : int, default=1000
        The largest number of features that represent a kernel. Exact if the Gram matrix has at most this rank,
        otherwise Nystroem's approximation.
    random_state : int, RandomState or None, default=0
        Seed of the further starts; the same seed gives the same machine.
    pos_label : label, default=None
        The positive class, ``classes_[1]`` if None. The machine treats both classes in the same way.
    reject_label : label, default="auto"
        The label that `predict` gives a rejected row, as in `RejectSVC`.
    max_iter : int, default=1_000_000
        Limit on the total number of solver steps; reaching it is reported by a `ConvergenceWarning` and in `status_`.
    time_limit : float or None, default=None
        Limit on the solver's time, in seconds; reported in the same way.
    verbose : bool, default=False
        Whether to write a progress line on stderr once a fit has taken two seconds.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The two classes, sorted.
    reject_label_ : scalar
        The label of a rejected row.
    eps_ : float
        Half the width of the reject band on the score.
    thresholds_ : Thresholds
        ``Thresholds(-eps_, eps_)``.
    coef_ : ndarray of shape (1, n_features)
        Weights of the features; linear kernel only.
    support_, support_vectors_, dual_coef_ : ndarray
        For other kernels: the rows on which the score is expanded, and their coefficients.
    intercept_ : ndarray of shape (1,)
        The bias.
    objective_ : float
        F.
    training_risk_ : float
        w_R times the share of training rows rejected, plus the share decided wrongly.
    lower_bound_ : float
        The dual value, a lower bound on F; with ``solver="dual"`` or ``lower_bound=True`` only.
    status_ : {"local", "inaccurate", "iteration_limit", "time_limit"}
        How the solver ended; never "optimal", because a global minimum cannot be verified.
    n_iter_ : int
        The number of solver steps.
    n_features_in_, feature_names_in_ : int, ndarray
        As everywhere in scikit-learn.

    References
    ----------
    .. [1] Fumera & Roli, "Support Vector Machines with Embedded Reject Option", SVM 2002, LNCS 2388, pp. 68-82.

    Examples
    --------
    >>> from abstain import EmbeddedRejectSVC
    >>> X, y = [[0.0], [1.0], [4.0], [3.0], [6.0], [7.0]], ["no", "no", "no", "yes", "yes", "yes"]
    >>> clf = EmbeddedRejectSVC(reject_cost=0.2, C=10).fit(X, y)
    >>> clf.predict([[-3.0], [3.5], [8.0]])
    array(['no', 'reject', 'yes'], dtype='<U6')
    """

    reject_cost: float = 0.5
    _: KW_ONLY
    C: float = 0.1
    kernel: Any = "linear"
    degree: int = 3
    gamma: float | str = "scale"
    coef0: float = 0.0
    margin_cost: float | None = None
    steepness: float = 100.0
    slack_penalty: float = 0.05
    solver: str = "primal"
    n_starts: int | str = "auto"
    lower_bound: bool = False
    n_components: int = 1000
    random_state: Any = 0
    pos_label: Any = None
    reject_label: Any = "auto"
    max_iter: int = 1_000_000
    time_limit: float | None = None
    verbose: bool = False

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **{name: CONSTRAINTS[name] for name in SHARED},  # the loss checks its costs
        "steepness": [POSITIVE],
        "slack_penalty": [POSITIVE],
        "solver": [StrOptions({"primal", "dual"})],
        "n_starts": [Interval(Integral, 0, None, closed="left"), StrOptions({"auto"})],
        "lower_bound": ["boolean"],
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
    }

    @checked_first()
    def fit(self, X: Any, y: ArrayLike) -> Self:
        """Learn from labelled rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training rows; the Gram matrix for a precomputed kernel. Sparse rows are made dense for the linear kernel.
        y : array-like of shape (n_samples,)
            Their labels, of two classes.

        Returns
        -------
        EmbeddedRejectSVC
            The fitted estimator.
        """
        self._learn(copy(self), X, y)  # so that a fit that fails changes nothing
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    def _training(self, X: Any, y: ArrayLike, like: EmbeddedTraining | None = None) -> EmbeddedTraining:
        """The rows as features; those of `like`, the same rows with another loss, are reused."""
        loss = self._loss()
        if not callable(self.kernel):
            Kernel(self.kernel)  # an unknown name is an error before X is checked
        rows = checked_rows(self, X, y, dense=self._pairwise, reset=True)
        given = {"pos_label": self.pos_label, "reject_label": self.reject_label}
        labels = two_classes(Labels.of(y, **given, rejects=loss.rejects))
        if like is None:
            return EmbeddedTraining.of(self, rows, y, labels, loss)
        return replace(like, labels=labels, problem=replace(like.problem, loss=loss))

    def _learn(
        self, checked: Any, X: Any, y: ArrayLike, like: Any = None, starts: tuple[NDArray[np.float64], ...] = ()
    ) -> tuple[EmbeddedTraining, EmbeddedSolution]:
        """Fit and store the machine; `checked` is the copy of the estimator that X is validated with."""
        training = checked._training(X, y, like)  # noqa: SLF001 (a copy of self)
        task = FitTask(self, X, y, None, verbose=bool(self.verbose))
        limits: dict[str, Any] = {"max_iter": int(self.max_iter), "time_limit": self.time_limit}
        watched: dict[str, Any] = {**limits, "progress": task.report if task.watched else None}
        hops = hops_for(*training.problem.z.shape) if self.n_starts == "auto" else int(self.n_starts)
        with task.line:
            if self.solver == "dual":
                solution = EmbeddedDual(**watched).solve(training.problem)
            else:
                seed = int(check_random_state(self.random_state).randint(2**31))
                solution = EmbeddedPrimal(hops=hops, seed=seed, **watched).solve(training.problem, starts)
        if not np.isfinite(solution.objective):
            raise ValueError(f"C={self.C:g} times the losses overflows; lower C.")
        bound = solution.lower_bound
        if bound is None and self.lower_bound:
            bound = EmbeddedDual(**limits).solve(training.problem).lower_bound
        now = FittedEmbedded.of(training, solution, self._rule(training.labels, solution.eps), bound)
        self._commit(checked, now)
        if now.status != "local":
            advice = "the kernel is not positive semidefinite on these rows and was replaced; use another"
            if training.definite:
                advice = {
                    "iteration_limit": f"raise max_iter={self.max_iter}",
                    "time_limit": f"raise time_limit={self.time_limit} or lower n_starts={hops}",
                    "inaccurate": "scale the features or lower C",
                }[now.status]
            warnings.warn(
                f"{type(self).__name__} stopped after {now.iterations} steps with status {now.status!r} at objective "
                f"{now.objective:.6g}; {advice}.",
                ConvergenceWarning,
                stacklevel=4,  # at the caller of fit, past scikit-learn's decorator
            )
        task.end()
        return training, solution

    def _loss(self) -> StepLoss:
        return StepLoss(self.reject_cost, self.margin_cost, float(self.steepness), float(self.slack_penalty))

    def _rule(self, labels: Labels, eps: float) -> Rule:
        """The band of FR02. Its score is not a log-odds, so `decide` has no expected costs."""
        # above 1/2, which Costs does not allow, nothing is rejected, so the reject cost does not matter
        costs = Costs(reject=min(self._loss().reject_cost, 0.5))
        band = Cuts.at(Thresholds(-eps if eps else 0.0, eps), 0.0, labels.answers)
        return Rule(labels, costs.named(labels), LogOdds(), band)

    @property
    def lower_bound_(self) -> float:
        """The dual value, a lower bound on F."""
        bound = self._now.lower_bound
        if bound is None:
            raise AttributeError('lower_bound_ exists with solver="dual" or lower_bound=True only.')
        return float(bound)

    thresholds_ = fitted[Thresholds]("rule.thresholds", "``Thresholds(-eps_, eps_)``.")
    eps_ = fitted[float]("rule.thresholds.upper", "Half the width of the reject band on the score.")
    objective_ = fitted[float]("objective", "F.")
    training_risk_ = fitted[float]("training_risk", "The mean cost of the decisions on the training rows.")
    status_ = fitted[str]("status", "How the solver ended.")
    n_iter_ = fitted[int]("iterations", "The number of solver steps.")
