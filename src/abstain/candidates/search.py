"""MachineSearch: the parameters of a machine, or a machine among several, by the cross-validated mean cost."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import KW_ONLY
from numbers import Integral
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import indexable

from abstain.arguments import positive_number, refuse_dask, row_weights
from abstain.candidates.candidate_costs import Rows, few_threads, truth_and_costs, tuned
from abstain.candidates.machines import MACHINES, NAMES, SVM
from abstain.candidates.trials import Choice, Trials
from abstain.estimators.fitting.decide import RejectMixin
from abstain.estimators.fitting.parameters import with_parameters
from abstain.estimators.fitting.splitting import Splits, checked_splits, row_groups
from abstain.estimators.search.search import SEARCHING
from abstain.estimators.svm.svc_cv import RejectSVCCV
from abstain.estimators.threshold.threshold import ThresholdRejector


@with_parameters
class MachineSearch(RejectMixin, ClassifierMixin, MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """Choose a machine and its parameters by the cross-validated mean cost, then fit it to all rows.

    Parameters
    ----------
    costs : Costs or Actions
        Costs of the errors and of a reject, of any number of classes; or of several actions.
    machines : sequence of str
        Names from `NAMES`: one to tune, or several to choose among, on the same folds.
    svm : RejectSVCCV or None
        The search that stands for "svm"; its costs, labels, folds and time limit are set here.
    cv : int or splitter, default=5
        Folds; a number is lowered to the rows of the rarer class. A splitter must give the same folds each time.
    pos_label, reject_label
        As in `ThresholdRejector`.
    random_state : int or None, default=0
        Seed of the machines.
    time_limit : float or None, default=None
        Seconds; three quarters of it are for the candidates, shared by the machines, and the rest for the last fit.
        Fits look at the clock after a few trees or iterations, and a last fit that would be late has fewer of them.
    n_jobs : int or None, default=None
        Number of threads of the svm and of the forests that are tried.
    verbose : bool, default=False
        Whether to write a line on stderr after two seconds.

    Attributes
    ----------
    best_estimator_ : ThresholdRejector or RejectSVCCV
        The machine fitted to all rows.
    choice_ : Choice
        The costs of all candidates.
    """

    costs: Any = None
    machines: Sequence[str] = NAMES
    _: KW_ONLY
    svm: Any = None
    cv: Any = 5
    pos_label: Any = None
    reject_label: Any = "auto"
    random_state: int | None = 0
    time_limit: float | None = None
    n_jobs: int | None = None
    verbose: bool = False

    def fit(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        row_costs: Any = None,
    ) -> Self:
        """Choose and fit; `groups` are kept in one fold each, and weights and `row_costs` are as in `RejectSVC.fit`."""
        began = time.monotonic()
        refuse_dask(X, "MachineSearch")
        self._check_parameters()
        X, label = indexable(X, np.asarray(y))
        truth, costs = truth_and_costs(self.costs, label, self.pos_label, self.reject_label, row_costs)
        weight, groups, cv = row_weights(sample_weight, len(truth)), row_groups(groups, len(truth)), self.cv
        present = np.ones(len(truth)) if weight is None else weight
        if isinstance(cv, Integral):  # at most one fold for each row of the rarest class
            cv = max(2, min(int(cv), int(np.unique(truth[present > 0.0], return_counts=True)[1].min())))
        elif not hasattr(cv, "split"):  # an iterator can be read once only
            cv = list(cv)
        splits = checked_splits(cv, label, groups, truth, present)
        rows = Rows(X, label, truth, costs, splits, weight, row_costs)
        if weight is not None:  # rows of weight 0 are left out
            rows = rows.take(np.flatnonzero(weight))
        if any(name != SVM and MACHINES[name].sigmoid for name in self.machines):
            _whole_folds(rows.splits)
        shared: dict[str, Any] = {"seed": self.random_state, "n_jobs": self.n_jobs, "verbose": bool(self.verbose)}
        found, fitted = list[Trials](), None
        for at, name in enumerate(self.machines):
            left = None if self.time_limit is None else SEARCHING * self.time_limit - (time.monotonic() - began)
            limit = None if left is None else max(0.001, left) / (len(self.machines) - at)
            if name == SVM:
                own = {"sample_weight": weight, "groups": groups, "row_costs": row_costs}
                fitted = self._fitted_svm(X, label, own, cv, limit)
                found.append(trials_of(fitted))
            else:
                found.append(tuned(name, rows, limit=limit, **shared))
        self.choice_ = Choice.of(found, splits.shared)
        chosen = self.choice_.chosen
        if chosen.name != SVM and np.isnan(chosen.least):
            warnings.warn(
                f"no candidate was finished on all folds within time_limit={self.time_limit}, so {chosen.name!r} is "
                f"fitted with its first parameters, {chosen.best}; raise time_limit, or use fewer rows.",
                ConvergenceWarning,
                stacklevel=2,
            )
        if chosen.name != SVM or fitted is None:
            with few_threads(len(truth)), warnings.catch_warnings(), config_context(enable_metadata_routing=False):
                left = None if self.time_limit is None else self.time_limit - (time.monotonic() - began)
                fitted = self._fitted(chosen, rows, left)
        self.best_estimator_, self._fitted_ = fitted, fitted._now  # noqa: SLF001 (of this library)
        return self

    def _check_parameters(self) -> None:
        given = self.machines
        if isinstance(given, str) or not isinstance(given, Iterable) or not (names := list(given)):
            raise ValueError(f"machines={given!r} must be a sequence of names, as in machines=('svm', 'logistic').")
        if unknown := [name for name in names if name != SVM and name not in MACHINES]:
            raise ValueError(f"machines={given!r} has {unknown[0]!r}, which is none of {[*NAMES]}.")
        if self.time_limit is not None:
            positive_number("time_limit", self.time_limit)
        if isinstance(self.cv, Integral) and self.cv < 2:
            raise ValueError(f"cv={self.cv!r} must be at least 2 folds, or a splitter.")

    def _fitted_svm(self, X: Any, y: Any, own: dict[str, Any], cv: Any, limit: float | None) -> RejectSVCCV:
        """Search for `limit` seconds and fit the svm, for which it has all of the time that is kept for last fits.

        Its warnings name the whole limit, which is the one that can be raised.
        """
        search = RejectSVCCV() if self.svm is None else clone(self.svm)
        search.set_params(costs=self.costs, cv=cv, pos_label=self.pos_label, reject_label=self.reject_label)
        whole = None if limit is None or self.time_limit is None else limit + (1.0 - SEARCHING) * self.time_limit
        search.set_params(time_limit=whole, verbose=self.verbose)
        if whole is not None and limit is not None:
            search._searching = limit / whole  # noqa: SLF001 (the share of its time limit)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            search.fit(X, y, **own)
        for one in caught:
            text = str(one.message).replace(f"time_limit={whole}", f"time_limit={self.time_limit}")
            warnings.warn(text, one.category, stacklevel=3)
        return search.set_params(time_limit=self.time_limit)

    def _fitted(self, trials: Trials, rows: Rows, left: float | None) -> ThresholdRejector:
        machine, splits, parts = MACHINES[trials.name], rows.splits, list[Any]()
        classifier = machine.make(**trials.best, random_state=self.random_state)
        if left is not None:
            trained = int(splits.trains.sum()) if machine.sigmoid else 0
            self._shorten(classifier, trials, len(rows.y) + trained, left)
        if machine.sigmoid:  # on the folds of the search, which respect the groups
            parts = [splits.parts[fold] for fold in _whole_folds(splits)]
            classifier = CalibratedClassifierCV(classifier, cv=parts, ensemble=False)
        labels = {"pos_label": self.pos_label, "reject_label": self.reject_label}
        fitted = ThresholdRejector(classifier, self.costs, method="chow", **labels)
        fitted.fit(rows.X, rows.y, rows.weight, row_costs=rows.row_costs)
        if parts:  # the parameter is then their number
            for one in (fitted.estimator, fitted.estimator_):
                one.set_params(cv=len(parts))
        return fitted

    @staticmethod
    def _shorten(classifier: Any, trials: Trials, rows: int, left: float) -> None:
        """Lower the number of trees or iterations to what the time left allows at the pace of the search."""
        machine = MACHINES[trials.name]
        wanted = int(getattr(classifier, machine.count))
        fewest = 2 if machine.sigmoid else 10  # a sigmoid needs a fit for each fold
        possible = max(fewest, int(min(wanted, max(0.0, left) / (trials.pace * rows)))) if trials.pace > 0.0 else wanted
        if possible >= wanted:
            return
        classifier.set_params(**{machine.count: possible})
        if machine.count != "max_iter" or machine.stages:  # iterations are seldom all needed, and say so if they are
            warnings.warn(
                f"the last fit of {trials.name!r} has {possible} instead of {wanted} trees, because time ran out; "
                "raise the time limit, or use fewer rows.",
                ConvergenceWarning,
                stacklevel=4,
            )

    def _score(self, fitted: Any, X: Any) -> Any:
        return self.best_estimator_._score(fitted, X)  # noqa: SLF001 (of this library)

    def _probability(self, fitted: Any, X: Any, score: Any) -> Any:
        return self.best_estimator_._probability(fitted, X, score)  # noqa: SLF001

    @property
    def n_features_in_(self) -> int:
        """The number of features."""
        return self.best_estimator_.n_features_in_


def _whole_folds(splits: Splits) -> list[int]:
    """Return the folds that test each row once, of repeated folds those of the first repeat; an error without any.

    A sigmoid is fitted to one held-out probability of each row.
    """
    tested, folds = np.zeros(splits.tests.shape[1], dtype=bool), list[int]()
    for fold, test in enumerate(splits.tests > 0):
        if not (tested & test).any():
            tested |= test
            folds.append(fold)
    if missing := int((~tested).sum()):
        raise ValueError(
            "cv must have folds that together test every row once, for the sigmoid of a forest, but folds that do not "
            f"overlap leave out {missing} of {len(tested)} rows; use a number of folds or StratifiedKFold, or leave "
            "the forest out."
        )
    return folds


def trials_of(search: RejectSVCCV) -> Trials:
    """The costs of the last round of a fitted search for C and gamma; `best` of them is the search's own pair."""
    grid = search._now.grid  # noqa: SLF001 (the costs at the cuts that the search chose)
    costs = grid.tuned_near() if grid.best_is_tuned else grid.costs
    last = (grid.rows == grid.rows.max())[:, :, np.newaxis]
    if search.status_ == "time_limit":  # the costs are of its folds' machines; the one of all rows is not theirs
        costs = np.full_like(costs, np.nan)
    return Trials(SVM, search.cv_results_["params"], np.where(last, costs, np.nan).reshape(last.size, -1))
