"""Fit the classifier of a ThresholdRejector, and score rows that it was not fitted on.

For a promise, scores of folds with a classifier that is then fitted on all rows are not offered: nothing bounds the
errors of that one. In simulations with nearly no regularisation it missed 35 % of a class at a `class_error` of 5 %,
and 44 % of its accepted rows were wrong at a `max_error` of 25 %.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.frozen import FrozenEstimator
from sklearn.utils import _safe_indexing
from sklearn.utils.metaestimators import _safe_split
from sklearn.utils.parallel import Parallel, delayed

from abstain.estimators.fitting.splitting import Groups, held_out_rows, parts_of, splitter
from abstain.labels import NO_CLASS, Labels
from abstain.machines.cross_machine import ClassCalibration, CrossMachine
from abstain.machines.response_machine import ResponseMachine
from abstain.rules.tuning.calibration_size import calibration_sizes
from abstain.rules.tuning.request import Request
from abstain.rules.tuning.scored_rows import ScoredRows

# Reasons why some scores cannot support a promise.
SAME_ROWS = (
    'cv="train" tunes on the rows that the classifier was fitted on, where it makes too few errors; '
    'leave cv out to hold rows out, or use cv="prefit" with other rows.'
)
SAME_SIGMOID = (
    'method="chow" with cv="prefit" fits the sigmoid to the labels of the rows that must certify it; '
    'calibrate the classifier on other rows first, or use method="symmetric".'
)
UNEQUAL_SHARES = (
    "class_error held out a larger share of one class than of another, so that new rows mix the classes otherwise. "
    "Pass X and y that the classifier was not fitted on, or fit again with max_error."
)
ROWS_TWICE = (
    "the splitter given as cv scores some rows more than once, but the test needs independent rows; "
    "use one that scores each row once, such as StratifiedKFold."
)
FOLDS = (
    "scores of folds would belong to other classifiers than the one that decides, which is fitted on all rows: nothing "
    'is promised then; leave cv out to hold rows out, or use cv="prefit" with rows that the classifier was not fitted '
    "on"
)
CROSS = ', or conformal="cross", where the classifiers of the folds decide together'
DEFAULT_CV = 5


@dataclass(frozen=True, eq=False)
class Scored:
    """A machine around a fitted classifier, and scores to tune its thresholds on.

    Attributes
    ----------
    machine : ResponseMachine or CrossMachine
        Around the classifier fitted on all rows, on those without the scores, or given; or around one for each fold.
    score : ndarray of float64, shape (m,) or (m, n_classes), or None
        The scores; None if there is nothing to tune.
    index : ndarray of intp, shape (m,)
        Their rows; a splitter may leave out rows, or score them more than once.
    flaw : str
        Why nothing can be promised on these scores, in other words than that they are not held out; often empty.
    held_out : bool
        Whether the classifier that decides was not fitted on the rows of the scores.
    """

    machine: ResponseMachine | CrossMachine
    score: NDArray[np.float64] | None = None
    index: NDArray[np.intp] = field(default_factory=lambda: np.zeros(0, dtype=np.intp))
    flaw: str = ""
    held_out: bool = False

    def rows(self, code: NDArray[np.intp], weight: NDArray[np.float64] | None) -> ScoredRows | None:
        """Return the rows of the scores, given the classes and weights of all rows; None if there are no scores."""
        if self.score is None:
            return None
        weights = None if weight is None else weight[self.index]
        return ScoredRows.of(self.score, code[self.index], weights, flaw=self.flaw)


def is_prefit(settings: Any) -> bool:
    """Return whether the classifier of a ThresholdRejector is already fitted, and stays as it is."""
    if isinstance(settings.cv, str):
        return settings.cv == "prefit"
    return isinstance(settings.estimator, FrozenEstimator)


def refuse_unused(settings: Any, promise: str) -> None:
    """Raise an error for values of `cv` and `conformal` that a promise cannot use."""
    cv, cross = settings.cv, settings.conformal == "cross"
    if cross and promise == "max_error":
        raise ValueError('conformal="cross" is for class_error; leave it out, and max_error holds rows out.')
    if isinstance(cv, str) and cv == "train":
        raise ValueError(f"{promise} cannot be promised: {SAME_ROWS}")
    if cross and is_prefit(settings):
        raise ValueError(
            'cv="prefit" and FrozenEstimator have one classifier, and conformal="cross" one for each fold; leave one '
            "out."
        )
    if not cross and not is_prefit(settings) and not (isinstance(cv, int) and cv == DEFAULT_CV):
        raise ValueError(f"{promise} with cv={cv!r}: {FOLDS}{CROSS if promise == 'class_error' else ''}.")


@dataclass(frozen=True, eq=False)
class Fitting:
    """One fit of a ThresholdRejector.

    Attributes
    ----------
    settings : ThresholdRejector
    request, labels : Request, Labels
        For these classes.
    X, y, groups
        The rows.
    parameters : dict
        For the classifier's `fit`.
    """

    settings: Any
    request: Request
    labels: Labels
    X: Any
    y: Any
    groups: Groups | None
    parameters: dict[str, Any]

    def scored(self, code: NDArray[np.intp], weight: NDArray[np.float64] | None) -> Scored:
        """Fit the classifier as `cv` says, and score rows if there are thresholds to tune.

        For a promise by the class `code`, rows of weight 0 are not calibrated on.
        """
        if isinstance(self.settings.cv, str) or is_prefit(self.settings):
            return self._on_all_rows()
        if self.request.promise is None:
            return self._by_folds()
        if self.settings.conformal == "cross":
            return self._crossed(code if weight is None else np.where(weight == 0.0, NO_CLASS, code))
        return self._held_out(code)

    def _on_all_rows(self) -> Scored:
        """For "prefit" or "train": tune on the rows given."""
        prefit, given = is_prefit(self.settings), self.settings.estimator
        if not prefit:
            given = clone(given).fit(self.X, self.y, **self.parameters)
        machine, flaw = self._machine(given), "" if prefit else SAME_ROWS
        if machine.classifier is not given:
            machine.classifier.fit(self.X, self.y, **self.parameters)
            flaw = flaw or SAME_SIGMOID
        if not self.request.needs_rows:
            return Scored(machine)
        score = machine.score(self.X)
        return Scored(machine, score, np.arange(len(score)), flaw, held_out=not flaw)

    def _by_folds(self) -> Scored:
        """For `cv` with folds: score the rows left out of each fold, and fit the classifier on all rows."""
        cv, tune, folds = self.settings.cv, self.request.needs_rows, self._folds()
        # a list of folds indexes the full set of rows, and there are fewer inside a fold
        inner = folds if not tune or isinstance(cv, Integral) or hasattr(cv, "split") else None
        machine, groups = self._unfitted(inner)
        found = Scored(machine)
        if tune:
            parts = self._checked(parts_of(folds, self.X, self.y, self.groups))
            tasks = (delayed(self._part_score)(machine, groups, *part) for part in parts)
            found = Scored(machine, np.concatenate(Parallel(n_jobs=self.settings.n_jobs)(tasks)), _tested(parts))
        _fit(machine.classifier, self.X, self.y, groups, self.parameters)
        return found

    def _held_out(self, code: NDArray[np.intp]) -> Scored:
        """For a promise: fit the classifier without the rows that it scores."""
        counts = np.bincount(code)
        sizes = calibration_sizes(self.request, self.labels, counts, self.settings.calibration_size)
        held = held_out_rows(code, sizes, self.groups, self.settings.random_state)
        part = (np.setdiff1d(np.arange(len(code)), held), held)
        self._checked([part], "the calibration rows leave")
        unfitted = self._unfitted(self._folds() if self.request.method.needs_probabilities else None)
        found, score = self._part(*unfitted, *part)
        own = np.bincount(code[held], minlength=len(sizes))
        unequal = self.groups is None and (np.abs(own - counts * (len(held) / len(code))) > 1).any()
        return Scored(found, score, held, UNEQUAL_SHARES if unequal else "", held_out=True)

    def _crossed(self, code: NDArray[np.intp]) -> Scored:
        """For a promise by folds: one classifier for each; together they give p-values, without rows of code -1."""
        parts = self._checked(parts_of(self._folds(), self.X, self.y, self.groups))
        if len(np.unique(index := _tested(parts))) < len(index):
            raise ValueError(f"class_error cannot be promised: {ROWS_TWICE}")
        machine = ResponseMachine.of(self.settings.estimator)
        tasks = (delayed(self._part)(machine, None, *part) for part in parts)
        machines, scores = zip(*Parallel(n_jobs=self.settings.n_jobs)(tasks), strict=True)
        held = [(score, code[test]) for score, (_, test) in zip(scores, parts, strict=True)]
        calibration = ClassCalibration.of(held, self.labels.n_classes)
        return Scored(CrossMachine(tuple(machines), calibration, ()), held_out=True)

    def _folds(self) -> Any:
        """Return the folds of `cv`; for an integer, shuffled if there is a `random_state`."""
        state = self.settings.random_state
        return splitter(self.settings.cv, self.y, self.groups, shuffle=state is not None, random_state=state)

    def _unfitted(self, folds: Any) -> tuple[ResponseMachine, Groups | None]:
        """Return a machine around a clone of the classifier, and the groups for its sigmoid, if it has one."""
        given = clone(self.settings.estimator)
        machine = self._machine(given, folds)
        return machine, None if machine.classifier is given else self.groups

    def _machine(self, given: Any, folds: Any = None) -> ResponseMachine:
        """Return a machine around a classifier, with Platt's sigmoid on its score if it lacks needed probabilities.

        The sigmoid is fitted on held-out scores and the classifier on all rows; if the classifier is already fitted,
        the sigmoid is fitted on the rows given.
        """
        probabilities = self.request.method.needs_probabilities
        if probabilities and not hasattr(given, "predict_proba"):
            if hasattr(given, "classes_"):
                given = CalibratedClassifierCV(FrozenEstimator(given))
            else:
                given = CalibratedClassifierCV(given, cv=folds, ensemble=False, n_jobs=self.settings.n_jobs)
        return ResponseMachine.of(given, probabilities=probabilities)

    def _checked(self, parts: list[tuple[Any, Any]], who: str = "a fold of cv leaves") -> list[tuple[Any, Any]]:
        """Raise an error if a fold has no rows of some class to fit on: it would have no score for it."""
        known = np.unique(np.asarray(self.y))
        for train, _ in parts:
            found = np.unique(_safe_indexing(self.y, train))
            if len(found) < min(len(known), 2):
                raise ValueError(f"{who} only one class to fit on; use fewer folds, or a stratified splitter.")
            if len(found) < len(known):
                missing = np.setdiff1d(known, found).tolist()[0]
                raise ValueError(
                    f"{who} no rows of the class {missing!r} to fit on; use fewer folds, a stratified splitter, or "
                    "more rows of this class."
                )
        return parts

    def _part(
        self, machine: ResponseMachine, groups: Groups | None, train: Any, test: Any
    ) -> tuple[ResponseMachine, NDArray[np.float64]]:
        """Fit a clone of the machine's classifier to some rows; return it with its scores of others."""
        model = clone(machine.classifier)
        X_train, y_train = _safe_split(model, self.X, self.y, train)
        X_test, _ = _safe_split(model, self.X, self.y, test, train)
        parameters = {name: _safe_indexing(value, train) for name, value in self.parameters.items()}
        _fit(model, X_train, y_train, None if groups is None else groups[train], parameters)
        found = ResponseMachine(model, machine.method)
        return found, found.score(X_test)

    def _part_score(self, *part: Any) -> NDArray[np.float64]:
        return self._part(*part)[1]  # without the classifier, which another process would send back


def _tested(parts: list[tuple[Any, Any]]) -> NDArray[np.intp]:
    return np.concatenate([np.asarray(test) for _, test in parts])


def _fit(classifier: Any, X: Any, y: Any, groups: Groups | None, parameters: dict[str, Any]) -> None:
    """Fit the classifier; the folds of its sigmoid respect the groups, if there is a sigmoid and there are groups."""
    if groups is None:
        classifier.fit(X, y, **parameters)
        return
    folds = splitter(classifier.cv, y, groups)  # CalibratedClassifierCV takes no groups, but it takes splits
    splits = list(folds.split(X, y, groups))
    classifier.set_params(cv=splits).fit(X, y, **parameters).set_params(cv=folds)
