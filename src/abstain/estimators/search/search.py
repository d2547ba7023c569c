"""The search of all estimators: C, and gamma if the kernel has one, by the mean cost of held-out rows."""

import time
import warnings
from copy import copy
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning

from abstain.arguments import threads
from abstain.estimators.fitting.attributes import fitted
from abstain.estimators.fitting.decide import Fitted, ProvenMixin
from abstain.estimators.fitting.parameters import SolverParameters, checked_first
from abstain.estimators.fitting.progress import FitsLine, FitTask, Pace
from abstain.estimators.fitting.splitting import Groups, checked_splits, row_groups
from abstain.estimators.fitting.training import Training
from abstain.estimators.search.beaten import DROPPING
from abstain.estimators.search.grid import AUTO, Grid, checked_Cs, checked_kernels, first_pairs, with_kernel
from abstain.estimators.search.halving import Schedule, halved, not_tried, planned
from abstain.estimators.search.held_out import Correction, HeldOutRows, Pricing, placed
from abstain.estimators.search.rounds import Round, Rounds, grid_of

NONE_FINISHED = " None finished: the middle of the grid is taken untried, and best_score_ and cv_reject_rate_ are nan."
SEARCHING = 0.75  # the share of the time limit that the search may use; the last fit gets the rest
WIDE = 1_000  # times the standard deviation of another column
SEEN = 10_000  # rows, at most
OF_SCALES = "column .* has a standard deviation of"  # how the warning begins


@dataclass(frozen=True, eq=False, kw_only=True)
class Searched(Fitted):
    """What a search adds to a fitted value; its machine is ``trained.rescaled(scale, shift)``.

    Attributes
    ----------
    grid : Grid
        The costs of all pairs on all folds, from which the pair was chosen.
    trained : machine
        As training left it; proof, sets and objective are for this machine.
    scale, shift : float
        1 and 0 unless the score was tuned.
    """

    grid: Grid
    trained: Any
    scale: float = 1.0
    shift: float = 0.0

    @classmethod
    def of(cls, fitted: Any, grid: Grid, tuned: tuple[float, float] = (1.0, 0.0), rule: Any = None) -> Self:
        """Rescale the machine of a fitted value, or replace its rule."""
        machine = fitted.machine if tuned == (1.0, 0.0) else fitted.machine.rescaled(*tuned)
        found = vars(fitted) | {"machine": machine} | ({} if rule is None else {"rule": rule})
        return cls(**found, grid=grid, trained=fitted.machine, scale=tuned[0], shift=tuned[1])


class SearchMixin(ProvenMixin, SolverParameters):
    """What `RejectSVCCV` and `LinearRejectSVCCV` share: all but their parameters and what they fit."""

    _searching: float = SEARCHING
    _on_scored: Any = None  # (grid, pricing, rows) -> None: for the choice among machines, which reads the scores too
    _fitted_kind: ClassVar[type[Searched]]
    _linear: ClassVar[bool]
    _fits: Any  # (training, gammas, until) -> what makes the fits of the search
    _fit: Any  # this and what follows is the estimator's
    kernel: Any
    Cs: Any
    gammas: Any = 1
    cv: Any
    cuts: str
    search: str = "full"

    @checked_first()
    def fit(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        row_costs: Any = None,
    ) -> Self:
        """Search, then learn from all rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training rows; the Gram matrix for a precomputed kernel.
        y : array-like of shape (n_samples,)
            Their labels, of two or more classes.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows, both in the fits and in the mean costs. How far thresholds are tuned depends on the
            number of rows, not on their weight: with ``cuts="tuned"`` a weight of 2 is not quite a row that is there
            twice.
        groups : array-like of shape (n_samples,), default=None
            Labels of the groups that rows belong to, such as patients; they are passed to the splitter of `cv`.
        row_costs : array-like or data frame of shape (n_samples, 3) or (n_samples, 4), default=None
            Costs of each row, as in `RejectSVC.fit`; the search then minimises the mean of the rows' own costs.

        Returns
        -------
        object
            The fitted estimator.
        """
        began = time.monotonic()
        checked = copy(self)  # so that a fit that fails changes nothing
        given = {"validator": checked, "row_costs": row_costs, "linear": self._linear}
        training = Training.of(with_kernel(self, AUTO[0]), X, y, sample_weight, **given)
        warn_of_scales(self.kernel, training.X, getattr(checked, "feature_names_in_", None), stacklevel=3)
        grid, correction = self._search(training, y, row_groups(groups, len(training.code)), began)
        C, gamma = grid.best
        training = replace(training, parameters=with_kernel(self, grid.kernel or AUTO[0]))
        left = None if self.time_limit is None else max(0.0, self.time_limit - (time.monotonic() - began))
        task = FitTask(self, X, y, sample_weight, verbose=bool(self.verbose))
        with task.line:
            last = self._fit(training, C, gamma if grid.has_gamma else 1.0, task, time_limit=left)
        rule, tuned = correction.rule(training.rule), (correction.scale, correction.shift)
        self._store(checked, self._fitted_kind.of(last, grid, tuned, rule))
        task.end()
        return self

    def _search(self, training: Training, y: ArrayLike, groups: Groups | None, began: float) -> tuple[Grid, Correction]:
        """Return the costs of the grid, and how to read the scores of the best pair."""
        Cs = checked_Cs(self.Cs)
        kernels, gammas = checked_kernels(self, training.X, training.sample_weight)
        pairs = first_pairs(self, len(Cs), len(gammas))
        training.weights(float(Cs[-1]))  # raises an error if they overflow
        until = None if self.time_limit is None else began + self._searching * self.time_limit
        fits = self._fits(training, np.where(np.isnan(gammas), 1.0, gammas), until)
        fits = replace(fits, kernels=kernels) if kernels else fits
        splits = checked_splits(self.cv, y, groups, training.code, training.sample_weight)
        schedule = planned(self.search, len(training.code), int(pairs.sum()))
        with FitsLine(type(self).__name__, Pace(Cs, threads(self.n_jobs)), shown=bool(self.verbose)) as line:
            halves = len(schedule.sizes) > 1
            drops = self.search == "auto" and not halves and len(training.code) >= DROPPING
            shared = Rounds(training, fits, Cs, pairs, line, halves, drops)
            rounds = halved(shared, splits, groups, schedule)
        if text := self._complaint(schedule, rounds, Cs, gammas):
            warnings.warn(text, ConvergenceWarning, stacklevel=4)  # at the caller of fit, past scikit-learn's decorator
        grid, last = replace(grid_of(Cs, gammas, rounds), kernels=kernels), rounds[-1]
        pricing = Pricing.of(training, last.rows)
        rows = HeldOutRows.of(last.scores, last.splits, pricing.code, np.asarray(last.finished.any(axis=(0, 2))))
        grid, correction = placed(grid, pricing, rows, tune=self.cuts == "tuned")
        if self._on_scored is not None:
            self._on_scored(grid, pricing, rows)
        return grid, correction

    def _complaint(
        self, schedule: Schedule, rounds: list[Round], Cs: NDArray[np.float64], gammas: NDArray[np.float64]
    ) -> str | None:
        """Return the warning about rounds and fits of the search that did not end as planned; None if all did."""
        if parts := list(not_tried(schedule, rounds, Cs, gammas)):
            return (
                f"{type(self).__name__} ran out of time: {', and '.join(parts)}; raise time_limit={self.time_limit} or "
                f"try fewer {'Cs' if np.isnan(gammas).any() else 'Cs and gammas'}."
                + ("" if rounds[-1].finished.any() else NONE_FINISHED)
            )
        if short := sum(int(np.sum(done.tried & ~done.optimal)) for done in rounds):
            fits = sum(int(done.tried.sum()) for done in rounds)
            return (
                f"{short} of the {fits} fits of {type(self).__name__}'s search stopped short of their tolerance; raise "
                f"max_iter={self.max_iter}, scale the features or try smaller Cs."
            )
        return None

    @property
    def C_(self) -> float:
        """The chosen C."""
        return self._now.grid.best[0]

    best_score_ = fitted[float]("grid.best_score", "Minus the mean cost, each fold decided by the others' choice.")
    cv_reject_rate_ = fitted[float]("grid.rejected", "Share of the held-out rows that the chosen pair rejects.")
    cv_results_ = fitted[dict[str, Any]]("grid.results", "The whole search in the form of `GridSearchCV`.")
    n_splits_ = fitted[int]("grid.n_splits", "The number of folds.")
    score_scale_ = fitted[float]("scale", "The score is this times the trained machine's score, plus `score_shift_`.")
    score_shift_ = fitted[float]("shift", "What is added to `score_scale_` times the trained machine's score.")


def warn_of_scales(kernel: Any, X: Any, names: Any, stacklevel: int) -> None:
    """Warn if the standard deviations of columns differ by more than `WIDE`; constant ones and 0 and 1 count not."""
    if not isinstance(X, np.ndarray) or callable(kernel) or kernel == "precomputed":
        return
    some = X[:: max(1, len(X) // SEEN)]
    with np.errstate(all="ignore"):
        spread = some.std(axis=0, dtype=np.float64)
    spread[~np.isfinite(spread) | (spread <= 1e-12 * np.abs(some).max(axis=0, initial=0.0))] = np.nan
    if not np.nanmax(spread, initial=0.0) > WIDE * np.nanmin(spread, initial=np.inf):
        return
    spread[((some == 0) | (some == 1)).all(axis=0)] = np.nan
    if not np.nanmax(spread, initial=0.0) > WIDE * np.nanmin(spread, initial=np.inf):
        return
    wide, narrow = int(np.nanargmax(spread)), int(np.nanargmin(spread))
    widest, narrowest = (at if names is None else repr(names[at]) for at in (wide, narrow))
    warnings.warn(
        f"column {widest} has a standard deviation of {spread[wide]:.3g}, and column {narrowest} one of "
        f"{spread[narrow]:.3g}, which then hardly counts; put a StandardScaler before the machine, as in "
        "make_pipeline(StandardScaler(), machine).",
        UserWarning,
        stacklevel=stacklevel + 1,
    )
