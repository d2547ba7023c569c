"""MachineSearch: the parameters of a machine, or a machine among several, by the cross-validated mean cost."""

import time
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from sklearn import config_context
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_X_y, get_tags, indexable
from sklearn.utils.validation import _num_samples as number_of_rows
from sklearn.utils.validation import validate_data

from abstain.arguments import positive_number, refuse_dask, refuse_lazy, row_weights, warn_caller
from abstain.candidates.average import MachineAverage, averaged
from abstain.candidates.candidate_costs import Rows, few_threads, truth_and_costs, tuned, zero_one
from abstain.candidates.last_fit import around, last_fit, searched_svm, whole_folds
from abstain.candidates.machines import AUTO, AVERAGE, CHOICES, MACHINES, NOTHING, SVMS, auto_machines
from abstain.candidates.trials import Choice, Trials, trials_of
from abstain.costs.table import CostTable
from abstain.estimators.fitting.attributes import fitted
from abstain.estimators.fitting.bases import BaseEstimator, ClassifierMixin, MetaEstimatorMixin
from abstain.estimators.fitting.decide import Fitted, RejectMixin
from abstain.estimators.fitting.parameters import with_parameters
from abstain.estimators.fitting.splitting import Splits, checked_splits, row_groups
from abstain.estimators.search.halving import tested_folds
from abstain.estimators.search.search import SEARCHING
from abstain.estimators.svm.svc_cv import RejectSVCCV
from abstain.estimators.threshold.threshold import ThresholdRejector


@dataclass(frozen=True, eq=False)
class FoundMachine(Fitted):
    """A fitted `MachineSearch`.

    Attributes
    ----------
    own : Fitted
        The fitted value of the machine chosen.
    estimator : ThresholdRejector or RejectSVCCV
        The machine chosen.
    choice : Choice
        The costs of all candidates.
    """

    own: Any
    estimator: Any
    choice: Choice

    @property
    def score(self) -> float:
        """Minus the cost of the choice."""
        return -self.choice.cost


@with_parameters
class MachineSearch(RejectMixin, ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    """Choose or average machines, their parameters by the cross-validated mean cost, and fit them to all rows.

    Parameters
    ----------
    costs : Costs, Actions or None, default=None
        Costs of the errors and of a reject, of any number of classes; or of several actions. None: errors cost 1, and
        nothing is rejected.
    machines : "auto" or sequence of str, default="auto"
        "svm", "laplacian" (the svm with that kernel), "logistic", "forest" and "boosting": one to tune, or several to
        choose among, on the same folds. With "average" among them the others are not chosen among: their probabilities
        are averaged, and Chow's rule decides. "auto": the average of the svm with both kernels; from 2,000 rows on of
        boosted trees too; from 20,000 rows on without the Gaussian kernel; from 50,000 rows on the choice between
        boosted trees and logistic regression. An average needs probabilities, which an svm has at stated costs only;
        without them, or if time ran out before all machines were tried, a machine is chosen. "nothing" reads no feature
        and decides all rows alike: the machine to use if ``choice_.doing_nothing`` is not None.
    svm : RejectSVCCV or None
        The search that stands for "svm", and for "laplacian" with that kernel; its costs, labels, folds and time limit
        are set here.
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
        The machine fitted to all rows; around the fitted machines (``estimator_.parts``) if they are averaged.
    choice_ : Choice
        The costs of all candidates: `chosen`, the machine or "average" with its parameters (`best`), and `cost`, its
        cross-validated mean cost, each fold decided by what the others choose. `doing_nothing` is the cheapest action
        for all rows alike, with its cost, if the machine does not cost less, else None.
    best_score_ : float
        Minus ``choice_.cost``.
    classes_, reject_label_ : ndarray of shape (n_classes,), scalar
        The classes, sorted, and the label of a rejected row.
    n_features_in_, feature_names_in_ : int, ndarray
        Those of the machine.

    Examples
    --------
    >>> from abstain import Costs, MachineSearch
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> search = MachineSearch(Costs(reject=0.2), ("svm", "logistic")).fit(X[50:], y[50:])
    >>> search.choice_.doing_nothing is None
    True
    """

    _judges: ClassVar[bool] = True  # whether the choice of each fold is made without it, for `best_score_`

    costs: CostTable | None = None
    machines: str | Sequence[str] = AUTO
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
        """Choose and fit; `groups` are kept in one fold each, weights and `row_costs` are as in `RejectSVCCV.fit`."""
        began = time.monotonic()
        refuse_dask(X, "MachineSearch")
        self._check_parameters()
        if y is None:
            raise ValueError("MachineSearch requires y to be passed, but the target y is None.")
        refuse_lazy(y, "y")
        X, label = indexable(X, np.asarray(y))
        if NOTHING in self.machines:  # which reads no feature, and so refuses none
            check_X_y(X, y, accept_sparse=True, estimator=self)
        names = auto_machines(len(label), sparse=issparse(X)) if self.machines == AUTO else tuple(self.machines)
        named, stated = (self.pos_label, self.reject_label), self.costs
        stated = zero_one(label, *named) if stated is None and row_costs is None else stated
        truth, costs = truth_and_costs(stated, label, *named, row_costs)
        weight, groups, cv = row_weights(sample_weight, len(truth)), row_groups(groups, len(truth)), self.cv
        present = np.ones(len(truth)) if weight is None else weight
        if isinstance(cv, Integral):  # at most one fold for each row of the rarest class
            cv = max(2, min(int(cv), int(np.unique(truth[present > 0.0], return_counts=True)[1].min())))
        elif not hasattr(cv, "split"):  # an iterator can be read once only
            cv = list(cv)
        splits = checked_splits(cv, label, groups, truth, present)
        sigmoid = any(name in MACHINES and MACHINES[name].sigmoid for name in names)
        used = sigmoid | (np.arange(len(splits.tests)) < tested_folds(splits.tests))
        kept = Splits(splits.trains[used], splits.tests[used], splits.mass[used])
        rows = Rows(X, label, truth, costs, kept, weight, row_costs)
        if weight is not None:  # rows of weight 0 are left out
            rows = rows.take(np.flatnonzero(weight))
        if sigmoid:
            whole_folds(rows.splits)
        if len(splits.trains) == 1:  # all rows that judge the choice have made it
            warn_caller(
                "cv has a single fold, on which the choice is made, so that its cost on other rows is not known: "
                "best_score_ is nan and choice_.doing_nothing is not compared; use two folds or more."
            )
        searches: dict[str, Any] = {}
        own = {"sample_weight": weight, "groups": groups, "row_costs": row_costs}

        def searched(name: str, limit: float | None, scored: Any) -> Trials:
            of_search = cv, limit, scored, not searches
            searches[name] = searched_svm(self, X, label, own, of_search, **SVMS[name])
            return replace(trials_of(searches[name], scored or ()).on(used), name=name)

        found = self._tried(names, rows, searched, began)
        choice = Choice.of(found, kept.shared)
        with few_threads(len(truth)), warnings.catch_warnings(), config_context(enable_metadata_routing=False):
            machine = self._last_fit(choice, rows, searches, began)
        fitted = machine._now  # noqa: SLF001 (of this library)
        found = [rows.blind(fitted.rule.labels.reject_label), *(replace(one, said={}) for one in found)]
        every = Choice.of(found, kept.shared)
        choice = Choice(every.trials[1:], every.shared).against(every.trials[0])
        self._fitted_ = FoundMachine(fitted.machine, fitted.rule, fitted, machine, choice)  # at once, for other threads
        return self

    def _tried(self, names: Sequence[str], rows: Rows, searched: Any, began: float) -> list[Trials]:
        """Try the machines, which share the time, and average them if that is asked for."""
        averaging = AVERAGE in names
        judge = self._judges or len(names) > 1
        shared: dict[str, Any] = {"seed": self.random_state, "n_jobs": self.n_jobs, "verbose": bool(self.verbose)}
        found, wanted = list[Trials](), [name for name in names if name != AVERAGE]
        for at, name in enumerate(wanted):
            left = None if self.time_limit is None else SEARCHING * self.time_limit - (time.monotonic() - began)
            limit = None if left is None else max(0.001, left) / (len(wanted) - at)
            if name in SVMS:
                found.append(searched(name, limit, [] if averaging else None))
            else:
                found.append(tuned(name, rows, limit=limit, keep=averaging, judge=judge, **shared))
        return [*found, self._averaged(found, rows)] if averaging else found

    def _last_fit(self, choice: Choice, rows: Rows, searches: dict[str, Any], began: float) -> Any:
        """Fit the machine chosen, or those that are averaged, to all rows; searches have fitted theirs."""
        chosen, fitted = choice.chosen, dict(searches)
        if chosen.name in MACHINES and np.isnan(chosen.least):
            warnings.warn(
                f"no candidate was finished on all folds within time_limit={self.time_limit}, so {chosen.name!r} is "
                f"fitted with its first parameters, {chosen.best}; raise time_limit, or use fewer rows.",
                ConvergenceWarning,
                stacklevel=3,
            )
        named = {"costs": self.costs, "pos_label": self.pos_label, "reject_label": self.reject_label}
        names = [*chosen.best] if chosen.name == AVERAGE else [chosen.name]
        wanted = [one for one in choice.trials if one.name in names and one.name not in searches]
        for at, one in enumerate(wanted):
            left = None if self.time_limit is None else self.time_limit - (time.monotonic() - began)
            left = None if left is None else left / (len(wanted) - at)
            fitted[one.name] = last_fit(one, rows, left, self.random_state, named)
        if chosen.name != AVERAGE:
            return fitted[chosen.name]
        parts = {name: fitted[name] if name in SVMS else fitted[name].estimator_ for name in names}
        return around(MachineAverage.of(parts), rows, named)

    def _averaged(self, found: list[Trials], rows: Rows) -> Trials:
        """Average them, but for the one that reads no feature."""
        return averaged([one for one in found if one.name != NOTHING], rows)

    def _check_parameters(self) -> None:
        given = CHOICES if self.machines == AUTO else self.machines
        if isinstance(given, str) or not isinstance(given, Iterable) or not (names := list(given)):
            raise ValueError(f"machines={given!r} must be a sequence of names, as in machines=('svm', 'logistic').")
        if unknown := [name for name in names if name not in {*SVMS, *MACHINES, AVERAGE}]:
            known = [*SVMS, *MACHINES, AVERAGE]
            raise ValueError(f"machines={given!r} has {unknown[0]!r}, which is none of {known}.")
        if AVERAGE in names and len({*names} - {AVERAGE, NOTHING}) < 2:
            raise ValueError(f"machines={given!r} has {AVERAGE!r}, and fewer than two machines to average.")
        if self.time_limit is not None:
            positive_number("time_limit", self.time_limit)
        if isinstance(self.cv, Integral) and self.cv < 2:
            raise ValueError(f"cv={self.cv!r} must be at least 2 folds, or a splitter.")
        if self.svm is not None and not isinstance(self.svm, RejectSVCCV):
            raise ValueError(f"svm={self.svm!r} must be a RejectSVCCV, whose search stands for the svm, or None.")

    def _score(self, fitted: Any, X: Any) -> Any:
        if fitted.choice.chosen.name == NOTHING:
            validate_data(fitted.estimator.estimator_, X, reset=False, accept_sparse=True)
        with few_threads(number_of_rows(X)):
            return fitted.estimator._score(fitted.own, X)  # noqa: SLF001 (of this library)

    def _probability(self, fitted: Any, X: Any, score: Any) -> Any:
        with few_threads(number_of_rows(X)):
            return fitted.estimator._probability(fitted.own, X, score)  # noqa: SLF001

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        given = self.machines if isinstance(self.machines, list | tuple) else ()
        tags.classifier_tags.poor_score |= {*given} == {NOTHING}
        known = [MACHINES[name] for name in given if name in MACHINES]
        tags.input_tags.sparse = all(one.takes_sparse for one in known)
        tags.input_tags.allow_nan = 0 < len(known) == len(given) and all(
            get_tags(one.make()).input_tags.allow_nan for one in known
        )
        return tags

    best_estimator_ = fitted[ThresholdRejector | RejectSVCCV]("estimator", "The machine fitted to all rows.")
    choice_ = fitted[Choice]("choice", "The costs of all candidates.")
    best_score_ = fitted[float]("score", "Minus the cross-validated mean cost of the choice.")
    coef_ = fitted[NDArray[np.float64]]("estimator.coef_", "Weights of the features, if the machine has them.")
    feature_importances_ = fitted[NDArray[np.float64]](
        "estimator.feature_importances_", "Importances of the features, if the machine has them."
    )
    n_features_in_ = fitted[int]("estimator.n_features_in_", "The number of features.")
    feature_names_in_ = fitted[NDArray[Any]]("estimator.feature_names_in_", "The names of the features, if any.")
