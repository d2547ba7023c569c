"""LinearRejectSVCCV: LinearRejectSVC with C chosen by the cross-validated mean cost, in the time of a few fits."""

from __future__ import annotations

import time
import warnings
from copy import copy
from dataclasses import replace
from itertools import count
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import _fit_context
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import StrOptions

from abstain.estimators.fitting.class_training import ClassTraining, refuse_row_costs, takes_classes
from abstain.estimators.fitting.convergence import complaint_of_fits, warning_text
from abstain.estimators.fitting.decide import fitted
from abstain.estimators.fitting.progress import FitTask, SearchLine
from abstain.estimators.fitting.splitting import Groups, checked_splits, row_groups
from abstain.estimators.fitting.training import Training
from abstain.estimators.linear.linear_fit import linear_class_rule
from abstain.estimators.linear.linear_search import FittedLinearSearch, LinearClassSearch, LinearFolds, chosen
from abstain.estimators.linear.linear_svc import LinearRejectSVC, linear_rows
from abstain.estimators.search.grid import Grid, checked_Cs
from abstain.solvers.class_cross_validation import Limits

__all__ = ["LinearRejectSVCCV"]

SEARCHING = 0.75  # the share of the time limit that the search may use; the last fit gets the rest


class LinearRejectSVCCV(LinearRejectSVC):
    """LinearRejectSVC with C chosen by stratified cross-validation on the mean cost.

    The reject cost is never chosen: you state it. Each fold is a path of fits in ascending C that start where the one
    before ended, which takes a seventh to a third of the steps that they would take from nothing. Rows are held out
    by giving them no weight: X is not copied. The machine is then fitted to all rows with the best C; ties go to the
    smaller.

    Parameters
    ----------
    costs : Costs, Actions or None, default=None
        As in `RejectSVC`; the search minimises the mean cost, or the error rate if no costs are stated.
    Cs : int or array-like of float, default=6
        Values of C to try; a number k stands for ``logspace(-2, 3, k)``.
    cv : int, splitter or iterable of (train, test), default=5
        Folds, as in `RejectSVCCV`: a number means that many stratified folds in the order of the rows. If `fit` is
        given groups, a number means `StratifiedGroupKFold`: all rows of a group are in the same fold.
    cuts : {"tuned", "bayes"}, default="tuned"
        Whether the score is corrected by the scores of held-out rows, as in `RejectSVCCV`.
    pos_label, reject_label, class_weight, tol, max_iter, time_limit, n_jobs, verbose
        As in `LinearRejectSVC`. `time_limit` is for the search and the last fit together; the search may use three
        quarters of it. It goes from fold to fold, and a fold that is not finished by then counts as not tried, with a
        warning.

    Attributes
    ----------
    C_ : float
        The chosen C.
    best_score_ : float
        Minus the mean cost of the held-out rows, of which the choice has not seen any: each fold is decided by the C
        and the cuts that the other folds choose; as in `RejectSVCCV`.
    cv_reject_rate_ : float
        Share of the held-out rows that the chosen C rejects, as in `RejectSVCCV`; nan in a machine loaded from a file.
    cv_results_ : dict of ndarray
        In the form of `GridSearchCV`, as in `RejectSVCCV`.
    n_splits_ : int
        Number of folds.
    score_scale_, score_shift_ : float
        The scale and shift of tuned cuts; 1 and 0 otherwise, and with more than two classes.

    All fitted attributes of `LinearRejectSVC` are those of the last fit, on all rows. `coef_` and `intercept_` are
    those of the score; the certificate is of ``coef_ / score_scale_``, as in `RejectSVCCV`.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from abstain import Costs, LinearRejectSVCCV
    >>> X, y = make_classification(2000, 20, flip_y=0.1, random_state=0)
    >>> clf = LinearRejectSVCCV(Costs(reject=0.1), Cs=[0.01, 0.1, 1]).fit(X, y)
    >>> clf.C_ in [0.01, 0.1, 1], len(clf.cv_results_["mean_test_score"])
    (True, 3)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **{name: rule for name, rule in LinearRejectSVC._parameter_constraints.items() if name != "C"},  # noqa: SLF001
        "Cs": "no_validation",
        "cv": ["cv_object"],
        "cuts": [StrOptions({"tuned", "bayes"})],
    }

    kernel, n_components = "linear", None

    def __init__(
        self,
        costs: Any = None,
        *,
        Cs: Any = 6,
        cv: Any = 5,
        cuts: str = "tuned",
        pos_label: Any = None,
        reject_label: Any = "auto",
        class_weight: Any = None,
        tol: float = 1e-4,
        max_iter: int = 1000,
        time_limit: float | None = None,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.costs = costs
        self.Cs = Cs
        self.cv = cv
        self.cuts = cuts
        self.pos_label = pos_label
        self.reject_label = reject_label
        self.class_weight = class_weight
        self.tol = tol
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
        """Choose C, then learn from all rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Training rows; float32 and float64 in C order, and CSR, are not copied.
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
        LinearRejectSVCCV
            The fitted estimator.
        """
        began = time.monotonic()
        checked = copy(self)  # so that a fit that fails changes nothing
        several = takes_classes(self, y)
        if several:
            refuse_row_costs(row_costs)
            training: Any = ClassTraining.of(self, X, y, sample_weight, validator=checked, single=True)
        else:
            training = Training.of(
                self, X, y, sample_weight, validator=checked, row_costs=row_costs, single=True
            )
        grid, tuned = self._search(training, y, row_groups(groups, training.X.shape[0]), began)
        left = None if self.time_limit is None else max(0.0, self.time_limit - (time.monotonic() - began))
        alone = {name: getattr(self, name) for name in ("costs", "tol", "max_iter", "n_jobs")}
        last = LinearRejectSVC(**alone, C=grid.best[0], time_limit=left)
        task = FitTask(self, X, y, sample_weight, verbose=bool(self.verbose))
        try:
            found = (last._fit_classes if several else last._fit)(training, task)  # noqa: SLF001 (its own base)
        finally:
            task.end_line()
        self._commit(checked, FittedLinearSearch.of(found, grid, **tuned))
        if text := warning_text(found.proof, self, by_gap=True):
            warnings.warn(text, ConvergenceWarning, stacklevel=3)  # at the caller of fit, past scikit-learn's decorator
        task.end()
        return self

    def _search(
        self, training: Any, y: ArrayLike, groups: Groups | None, began: float
    ) -> tuple[Grid, dict[str, Any]]:
        """Give the costs of all C, and what tuning found for the best: a scale and shift, or the rule of classes."""
        until = None if self.time_limit is None else began + SEARCHING * self.time_limit
        limits = Limits(self.tol, self.max_iter, 0.0, self.n_jobs, until)  # no kernel values to keep
        Cs = checked_Cs(self.Cs)
        training.weights(float(Cs[-1]))  # raises an error if they overflow
        tune = self.cuts == "tuned"
        if isinstance(training, ClassTraining):
            search: Any = LinearClassSearch.of(replace(training, rule=linear_class_rule(training.rule)), y, groups)
            splits, machines = search.splits, training.n_classes
        else:
            splits, machines = checked_splits(self.cv, y, groups, training.sign, training.sample_weight), 1
        fits = len(Cs) * len(splits.trains) * machines
        with SearchLine(type(self).__name__, fits, shown=bool(self.verbose)) as line:
            done = count(1)
            folds = LinearFolds(*linear_rows(training.X), Cs, limits, lambda: line.report(next(done)))
            if isinstance(training, ClassTraining):
                grid, rule, optimal = replace(search, fits=folds).run(limits, tuned=tune, shown=False)
                tuned: dict[str, Any] = {"rule": rule}
            else:
                grid, sigmoid, optimal = chosen(training, splits, folds, tune=tune)
                tuned = {"tuned": sigmoid}
        finished = np.isfinite(grid.costs)
        if text := complaint_of_fits(self, optimal | ~finished, finished, "Cs"):
            warnings.warn(text, ConvergenceWarning, stacklevel=4)  # at the caller of fit, past scikit-learn's decorator
        return grid, tuned

    @property
    def C_(self) -> float:
        """The chosen C."""
        return self._now.grid.best[0]

    best_score_ = fitted("grid.best_score", "Minus the mean cost when each fold is decided by the others' choice.")
    cv_reject_rate_ = fitted("grid.rejected", "Share of the held-out rows that the chosen C rejects.")
    cv_results_ = fitted("grid.results", "The whole search in the form of `GridSearchCV`.")
    n_splits_ = fitted("grid.n_splits", "The number of folds.")
    score_scale_ = fitted("scale", "The score is this times the score that training gave, plus `score_shift_`.")
    score_shift_ = fitted("shift", "What is added to the score that training gave, times `score_scale_`.")
