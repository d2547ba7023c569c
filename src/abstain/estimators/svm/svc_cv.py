"""RejectSVCCV: RejectSVC with C and gamma chosen by the cross-validated mean cost, in the time of a few fits."""

from __future__ import annotations

import time
import warnings
from copy import copy
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import _fit_context
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import StrOptions

from abstain.arguments import threads
from abstain.estimators.fitting.class_training import ClassTraining, refuse_row_costs, takes_classes
from abstain.estimators.fitting.convergence import NONE_FINISHED, complaint_of_fits, short_of_tolerance
from abstain.estimators.fitting.decide import fitted
from abstain.estimators.fitting.pace import Pace
from abstain.estimators.fitting.parameters import CONSTRAINTS
from abstain.estimators.fitting.progress import FitsLine, FitTask
from abstain.estimators.fitting.splitting import Groups, checked_splits, row_groups
from abstain.estimators.fitting.training import Training
from abstain.estimators.search.class_search import ClassSearch, FittedClassSearch, search_limits
from abstain.estimators.search.cuts import HeldOutRows, Searched, placed
from abstain.estimators.search.grid import Grid, checked_Cs, checked_gammas
from abstain.estimators.search.halving import Schedule, halved, not_tried, planned
from abstain.estimators.search.held_out_costs import Pricing
from abstain.estimators.search.rounds import Round, Rounds, grid_of
from abstain.estimators.svm.svc import FittedSVC, RejectSVC
from abstain.kernels import Kernel

SEARCHING = 0.75  # the share of the time limit that the search may use; the last fit gets the rest
LOOSER = 10.0  # the fits of the search stop at this many times `tol`: costs of held-out rows need no finer tolerance
FINEST = 1e-4  # the search never uses a finer one: with kernel values in single precision, pair steps would cycle


@dataclass(frozen=True, eq=False)
class FittedSearch(Searched, FittedSVC):
    """A fitted `RejectSVCCV`."""


class RejectSVCCV(RejectSVC):
    """RejectSVC with C and gamma chosen by stratified cross-validation on the mean cost.

    The reject cost is never chosen: you state it. The score is corrected by the scores of held-out rows (`cuts`),
    which show where a machine trained on few rows is too sure of itself, or not sure enough. All fits of the
    search run in one native call: a kernel matrix per gamma serves all folds and all C where `cache_size` has room for
    it, each fit starts from the one before with the next smaller C, and the folds share `n_jobs` threads. Beyond 5,000
    rows, pairs are compared on subsamples first. The machine is then fitted to all rows with the best pair; ties go to
    the smaller C, then to the smaller gamma.

    Parameters
    ----------
    costs : Costs, Actions or None, default=None
        As in `RejectSVC`; the search minimises the mean cost, or the error rate if no costs are stated.
    Cs : int or array-like of float, default=10
        Values of C to try; a number k stands for ``logspace(-2, 3, k)``.
    gammas : int or array-like, default=5
        Values of gamma to try (numbers, "scale" or "auto"); a number k stands for the gamma of "scale" times
        ``4 ** linspace(-2, 2, k)``. Has no effect for kernels without gamma.
    cv : int, splitter or iterable of (train, test), default=5
        Folds, as everywhere in scikit-learn: a number means that many stratified folds in the order of the rows. If
        `fit` is given groups, a number means `StratifiedGroupKFold`: all rows of a group are in the same fold. Rows of
        weight 0 are in none of these folds. Pairs are row numbers or masks; a row given twice counts twice.
    cuts : {"tuned", "bayes"}, default="tuned"
        "bayes": the score of `RejectSVC`, cut at Bayes' thresholds of the costs. "tuned": the machine is rescaled, so
        that its score is ``scale * f + shift`` of the trained f, cut at the same thresholds: Platt's sigmoid, fitted
        to the held-out scores and shrunk towards f itself, so that few rows change little. Of the pairs within one
        standard error of the least mean cost, the one that costs least when tuned is chosen, each fold with the
        sigmoid of the other folds; the final one comes from all held-out scores. The trained score stays if tuning
        changes nothing or costs more by a standard error, if one class has fewer than ten held-out rows, with a single
        fold, without costs, and for rules other than "chow", which have thresholds of their own. With more than
        two classes "tuned" is the action of least expected cost under a softmax of the scores, corrected by Platt's
        sigmoid of the likeliest class's lead; its three numbers are fitted to held-out scores in the same way.
    search : {"auto", "full", "halving"}, default="auto"
        "full" tries all pairs on all rows. "halving" tries them on a stratified subsample of 2,000 rows, the better
        ones on larger subsamples, and the best three on all rows (more up to 15,000 rows), on as many folds as test
        10,000 rows. Subsamples are parts of the folds; they have whole groups if `fit` is given many. "auto" is
        "halving" beyond 5,000 rows. With more than two classes the search is always full.
    kernel, degree, coef0, rule, pos_label, reject_label, class_weight, solver, tol, cache_size, max_iter, time_limit, \
n_jobs, verbose
        As in `RejectSVC`. The fits of the search stop at ten times `tol`, or at 1e-4 if that is more; the last one at
        `tol`. `time_limit` is for both together. The search may use three quarters of the time. It begins with the
        middle of the grid, then tries every eighth, fourth, second C and gamma, then all; or ends with a smaller
        subsample. What is not finished by then counts as not tried, with a warning that says what that is.

    Attributes
    ----------
    C_, gamma_ : float
        The chosen pair; ``gamma_`` is nan for kernels without gamma.
    best_score_ : float
        Minus the mean cost of the held-out rows, each counted by its weight, of which the choice has not seen any: each
        fold is decided by the pair and the cuts that the other folds choose. (The largest ``mean_test_score`` has been
        chosen for being the largest, so it promises too much. With a single fold, `best_score_` is that.) If `cv`
        repeats, each repeat chooses for itself; where all folds test some of the same rows, as with `ShuffleSplit`, the
        choice has seen those. The rounds of "halving" before the last have seen all folds. On few rows it
        can be off either way: the folds that choose are fitted on the rows that they judge, which promises too much,
        and on fewer rows than the final machine, which promises too little. On 60 rows of three simulated sets the true
        cost was 1 % and 3 % higher, and 12 % lower (standard errors 1 % to 2 %); on 150 rows of the first two there was
        no difference. nan if no fit of the search ended within `time_limit`.
    cv_reject_rate_ : float
        Share of the held-out rows that the chosen pair rejects, each counted by its weight, on the folds that it
        finished; nan if there are none, and in a machine loaded from a file.
    cv_results_ : dict of ndarray
        In the form of `GridSearchCV`, without times: ``params``, ``param_C``, ``param_gamma``,
        ``split<k>_test_score``, ``mean_test_score``, ``std_test_score``, ``rank_test_score``, all at Bayes' cuts. Means
        are of all held-out rows: a fold counts by the weight of its test rows, not as much as any other;
        ``mean_tuned_score`` with tuned cuts, for the pairs within a standard error of the best. nan for fits that did
        not finish and folds that were not used. ``n_resources`` is the number of rows on which the pair was last tried,
        and the scores are from there; only pairs with the largest number are chosen from, and they rank first.
    n_splits_ : int
        Number of folds.
    score_scale_, score_shift_ : float
        The scale and shift of tuned cuts; 1 and 0 otherwise, and with more than two classes.

    All fitted attributes of `RejectSVC` are those of the last fit, on all rows. `dual_coef_`, `intercept_` and `coef_`
    are those of the score. The certificate and `sets_` are of the machine before it was rescaled: its coefficients are
    ``dual_coef_ / score_scale_``, its bias ``(intercept_ - score_shift_) / score_scale_``.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from abstain import Costs, RejectSVCCV
    >>> X, y = make_moons(200, noise=0.3, random_state=0)
    >>> clf = RejectSVCCV(Costs(reject=0.2), Cs=[0.1, 1, 10], gammas=[0.1, 1]).fit(X, y)
    >>> len(clf.cv_results_["mean_test_score"])
    6
    """

    _searching: float = SEARCHING
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **{name: rule for name, rule in CONSTRAINTS.items() if name not in ("C", "gamma")},
        "Cs": "no_validation",
        "gammas": "no_validation",
        "cv": ["cv_object"],
        "cuts": [StrOptions({"tuned", "bayes"})],
        "search": [StrOptions({"auto", "full", "halving"})],
    }

    def __init__(
        self,
        costs: Any = None,
        *,
        Cs: Any = 10,
        gammas: Any = 5,
        cv: Any = 5,
        cuts: str = "tuned",
        search: str = "auto",
        kernel: Any = "rbf",
        degree: int = 3,
        coef0: float = 0.0,
        rule: Any = "chow",
        pos_label: Any = None,
        reject_label: Any = "auto",
        class_weight: Any = None,
        solver: str = "auto",
        tol: float = 1e-3,
        cache_size: float = 500,
        max_iter: int = 10_000_000,
        time_limit: float | None = None,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.costs = costs
        self.Cs = Cs
        self.gammas = gammas
        self.cv = cv
        self.cuts = cuts
        self.search = search
        self.kernel = kernel
        self.degree = degree
        self.coef0 = coef0
        self.rule = rule
        self.pos_label = pos_label
        self.reject_label = reject_label
        self.class_weight = class_weight
        self.solver = solver
        self.tol = tol
        self.cache_size = cache_size
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.n_jobs = n_jobs
        self.verbose = verbose

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def fit(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        row_costs: Any = None,
    ) -> Self:
        """Choose C and gamma, then learn from all rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training rows; the Gram matrix for a precomputed kernel.
        y : array-like of shape (n_samples,)
            Their labels, of two or more classes.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows, both in the fits and in the mean costs.
        groups : array-like of shape (n_samples,), default=None
            Labels of the groups that rows belong to, such as patients; they are passed to the splitter of `cv`.
        row_costs : array-like or data frame of shape (n_samples, 3) or (n_samples, 4), default=None
            Costs of each row, as in `RejectSVC.fit`; the search then minimises the mean of the rows' own costs.

        Returns
        -------
        RejectSVCCV
            The fitted estimator.
        """
        began = time.monotonic()
        checked = copy(self)  # so that a fit that fails changes nothing
        if takes_classes(self, y):
            refuse_row_costs(row_costs)
            classes = ClassTraining.of(self, X, y, sample_weight, validator=checked)
            task = FitTask(self, X, y, sample_weight, verbose=bool(self.verbose))
            self._store(checked, self._search_classes(classes, y, row_groups(groups, classes.X.shape[0]), task, began))
            task.end()
            return self
        training = Training.of(self, X, y, sample_weight, validator=checked, row_costs=row_costs)
        grid, tuned = self._search(training, y, row_groups(groups, training.X.shape[0]), began)
        C, gamma = grid.best
        gone = time.monotonic() - began
        left = None if self.time_limit is None else max(0.0, self.time_limit - gone)
        task = FitTask(self, X, y, sample_weight, verbose=bool(self.verbose))
        fitted = self._fit(training, C, gamma if grid.has_gamma else 1.0, task, time_limit=left)
        self._store(checked, FittedSearch.of(fitted, grid, tuned))
        task.end()
        return self

    def _search_classes(
        self, training: ClassTraining, y: ArrayLike, groups: Groups | None, task: FitTask, began: float
    ) -> FittedClassSearch:
        """Search and fit with more than two classes."""
        search = ClassSearch.of(training, y, groups)
        seconds = None if self.time_limit is None else self._searching * self.time_limit
        limits = search_limits(self, max(LOOSER * self.tol, FINEST), seconds)
        grid, rule, optimal = search.run(limits, tuned=self.cuts == "tuned", shown=bool(self.verbose))
        finished = np.isfinite(grid.costs)
        if text := complaint_of_fits(self, optimal | ~finished, finished, "Cs and gammas"):
            warnings.warn(text, ConvergenceWarning, stacklevel=4)  # at the caller of fit, past scikit-learn's decorator
        C, gamma = grid.best
        left = None if self.time_limit is None else max(0.0, self.time_limit - (time.monotonic() - began))
        fitted = self._fit_classes(training, C, gamma if grid.has_gamma else 1.0, task, left)
        return FittedClassSearch.of(fitted, grid, rule=rule)

    def _search(
        self, training: Training, y: ArrayLike, groups: Groups | None, began: float
    ) -> tuple[Grid, tuple[float, float]]:
        """Give the costs of the grid, and the scale and shift of the best pair's score."""
        Cs = checked_Cs(self.Cs)
        has_gamma = isinstance(self.kernel, str) and Kernel(self.kernel).formula.takes_gamma
        gammas = checked_gammas(self.gammas, training.X, training.sample_weight) if has_gamma else np.array([np.nan])
        widths = np.where(np.isnan(gammas), 1.0, gammas)
        training.weights(float(Cs[-1]))  # raises an error if they overflow
        problem = training.posed(1.0, float(widths[-1]), all_rows=True).problem
        splits = checked_splits(self.cv, y, groups, training.sign, training.sample_weight)
        schedule = planned(self.search, problem.n, len(Cs) * len(gammas))
        settings = {
            "tol": max(LOOSER * self.tol, FINEST),
            "max_iter": self.max_iter,
            "cache_size": self.cache_size,
            "n_jobs": self.n_jobs,
        }
        deadline = None if self.time_limit is None else began + self._searching * self.time_limit
        with FitsLine(type(self).__name__, Pace(Cs, threads(self.n_jobs)), shown=bool(self.verbose)) as line:
            shared = Rounds(training, problem, Cs, widths, settings, line, halves=len(schedule.sizes) > 1)
            rounds = halved(shared, splits, groups, schedule, deadline)
        if text := self._complaint(schedule, rounds, Cs, gammas):
            warnings.warn(text, ConvergenceWarning, stacklevel=4)  # at the caller of fit, past scikit-learn's decorator
        grid, last = grid_of(Cs, gammas, rounds, has_gamma=has_gamma), rounds[-1]
        pricing = Pricing.of(training, last.rows)
        rows = HeldOutRows.of(last.held_out.scores, last.splits, pricing.sign, last.used)
        return placed(grid, pricing, rows, tune=self.cuts == "tuned")

    def _complaint(
        self, schedule: Schedule, rounds: list[Round], Cs: NDArray[np.float64], gammas: NDArray[np.float64]
    ) -> str | None:
        """The warning about rounds and fits of the search that did not end as planned; None if all did."""
        fits = sum(int(done.tried.sum()) for done in rounds)
        if parts := list(not_tried(schedule, rounds, Cs, gammas)):
            return (
                f"RejectSVCCV ran out of time: {', and '.join(parts)}; "
                f"raise time_limit={self.time_limit} or try fewer Cs and gammas."
                + ("" if rounds[-1].held_out.finished.any() else NONE_FINISHED)
            )
        short = sum(int(np.sum(done.tried & ~done.held_out.optimal)) for done in rounds)
        return short_of_tolerance(self, short, fits)

    @property
    def C_(self) -> float:
        """The chosen C."""
        return self._now.grid.best[0]

    @property
    def gamma_(self) -> float:
        """The chosen gamma; nan for kernels without gamma."""
        return self._now.grid.best[1]

    best_score_ = fitted("grid.best_score", "Minus the mean cost when each fold is decided by the others' choice.")
    cv_reject_rate_ = fitted("grid.rejected", "Share of the held-out rows that the chosen pair rejects.")
    cv_results_ = fitted("grid.results", "The whole search in the form of `GridSearchCV`.")
    n_splits_ = fitted("grid.n_splits", "The number of folds.")
    score_scale_ = fitted("scale", "The score is this times the score that training gave, plus `score_shift_`.")
    score_shift_ = fitted("shift", "What is added to the score that training gave, times `score_scale_`.")
