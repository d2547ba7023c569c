"""Fit the classifier of a ThresholdRejector, and score rows that it was not fitted on.

For a promise, scores of folds with a classifier that is then fitted on all rows are not offered: nothing bounds the
errors of that one. In simulations with nearly no regularisation it missed 35 % of a class at a `class_error` of 5 %,
and 44 % of its accepted rows were wrong at a `max_error` of 25 %.
"""

from dataclasses import dataclass
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
from abstain.estimators.threshold.fitted_rejector import Tuned, tuned
from abstain.estimators.unwrap import final_estimator
from abstain.estimators.wrapping import has_probabilities
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
Parts = list[tuple[Any, Any]]  # the rows to fit on, and the others


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
    if settings.calibration_size is not None and (cross or is_prefit(settings)):
        rows = "each row of its fold" if cross else "all rows given to fit"
        raise ValueError(f"calibration_size has no effect here, where {rows} calibrates the classifier; leave it out.")
    if not is_prefit(settings) and isinstance(final_estimator(settings.estimator), FrozenEstimator):
        raise ValueError(
            "the last step of the Pipeline is frozen, and the steps before it would be fitted: only a part of the rows "
            f"would serve {promise}. Freeze the whole fitted Pipeline, FrozenEstimator(pipeline)."
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
    code, weight : ndarray of intp, ndarray of float64 or None
        The classes of the rows, and their weights in placing cuts.
    """

    settings: Any
    request: Request
    labels: Labels
    X: Any
    y: Any
    groups: Groups | None
    parameters: dict[str, Any]
    code: NDArray[np.intp]
    weight: NDArray[np.float64] | None

    def tuned(self) -> Tuned:
        """Fit the classifier as `cv` says, score rows if there are thresholds to tune, and place these."""
        if isinstance(self.settings.cv, str) or is_prefit(self.settings):
            return self._on_all_rows()
        if self.request.promise is None:
            return self._by_folds()
        return self._crossed() if self.settings.conformal == "cross" else self._held_out()

    def _on_all_rows(self) -> Tuned:
        """For "prefit" or "train": tune on the rows given."""
        prefit, given = is_prefit(self.settings), self.settings.estimator
        if not prefit:
            given = clone(given).fit(self.X, self.y, **self.parameters)
        machine, flaw = self._machine(given), "" if prefit else SAME_ROWS
        if machine.classifier is not given:
            _fit(machine.classifier, self.X, self.y, None, self.parameters)
            flaw = flaw or SAME_SIGMOID
        if not self.request.needs_rows:
            return tuned(machine, self.request, self.labels, None)
        return self._placed(machine, machine.score(self.X), np.arange(len(self.code)), flaw, held_out=not flaw)

    def _by_folds(self) -> Tuned:
        """For `cv` with folds: score the rows left out of each fold, and fit the classifier on all rows."""
        cv, tune, folds = self.settings.cv, self.request.needs_rows, self._folds()
        # a list of folds indexes the full set of rows, and there are fewer inside a fold
        inner = folds if not tune or isinstance(cv, Integral) or hasattr(cv, "split") else None
        machine, groups = self._unfitted(inner)
        parts = checked_parts(parts_of(folds, self.X, self.y, self.groups), self.y) if tune else []
        tasks = (delayed(self._part_score)(machine, groups, *part) for part in parts)
        scores = Parallel(n_jobs=self.settings.n_jobs)(tasks)
        _fit(machine.classifier, self.X, self.y, groups, self.parameters)
        if not tune:
            return tuned(machine, self.request, self.labels, None)
        return self._placed(machine, np.concatenate(scores), _tested(parts))

    def _held_out(self) -> Tuned:
        """For a promise: fit the classifier without the rows that it scores."""
        code, counts = self.code, np.bincount(self.code)
        sizes = calibration_sizes(self.request, self.labels, counts, self.settings.calibration_size)
        held = held_out_rows(code, sizes, self.groups, self.settings.random_state)
        part = (np.setdiff1d(np.arange(len(code)), held), held)
        checked_parts([part], self.y, "the calibration rows leave")
        unfitted = self._unfitted(self._folds() if self.request.method.needs_probabilities else None)
        found, score = self._part(*unfitted, *part)
        own = np.bincount(code[held], minlength=len(sizes))
        unequal = self.groups is None and (np.abs(own - counts * (len(held) / len(code))) > 1).any()
        return self._placed(found, score, held, UNEQUAL_SHARES if unequal else "", held_out=True)

    def _crossed(self) -> Tuned:
        """For a promise by folds: one classifier for each; together they give p-values, without rows of weight 0."""
        parts = checked_parts(parts_of(self._folds(), self.X, self.y, self.groups), self.y)
        if len(np.unique(index := _tested(parts))) < len(index):
            raise ValueError(f"class_error cannot be promised: {ROWS_TWICE}")
        machine = ResponseMachine.of(self.settings.estimator)
        tasks = (delayed(self._part)(machine, None, *part) for part in parts)
        machines, scores = zip(*Parallel(n_jobs=self.settings.n_jobs)(tasks), strict=True)
        code = self.code if self.weight is None else np.where(self.weight == 0.0, NO_CLASS, self.code)
        held = [(score, code[test]) for score, (_, test) in zip(scores, parts, strict=True)]
        crossed = CrossMachine(tuple(machines), ClassCalibration.of(held, self.labels.n_classes), ())
        return tuned(crossed, self.request, self.labels, None, held_out=True)

    def _placed(self, machine: Any, score: Any, index: Any, flaw: str = "", *, held_out: bool = False) -> Tuned:
        """Place the cuts on the scores of these rows; a splitter may leave out rows, or score them more than once."""
        weight = None if self.weight is None else self.weight[index]
        rows = ScoredRows.of(score, self.code[index], weight, flaw=flaw)
        return tuned(machine, self.request, self.labels, rows, held_out=held_out)

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
        if probabilities and not has_probabilities(given):
            if hasattr(given, "classes_"):
                given = CalibratedClassifierCV(FrozenEstimator(given))
            else:
                given = CalibratedClassifierCV(given, cv=folds, ensemble=False, n_jobs=self.settings.n_jobs)
        return ResponseMachine.of(given, probabilities=probabilities)

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


def checked_parts(parts: Parts, y: Any, who: str = "a fold of cv leaves") -> Parts:
    """Return the parts; an error if one has no rows of some class to fit on: it would have no score for it."""
    known = np.unique(np.asarray(y))
    for train, _ in parts:
        found = np.unique(_safe_indexing(y, train))
        if len(found) < min(len(known), 2):
            raise ValueError(f"{who} only one class to fit on; use fewer folds, or a stratified splitter.")
        if len(found) < len(known):
            missing = np.setdiff1d(known, found).tolist()[0]
            raise ValueError(
                f"{who} no rows of the class {missing!r} to fit on, which leaves {len(found)} of {len(known)} classes; "
                "use fewer folds, a stratified splitter, or more rows of this class."
            )
    return parts


def _tested(parts: Parts) -> NDArray[np.intp]:
    return np.concatenate([np.asarray(test) for _, test in parts])


def _fit(classifier: Any, X: Any, y: Any, groups: Groups | None, parameters: dict[str, Any]) -> None:
    """Fit the classifier; the folds of its sigmoid, if it has one, have enough rows and respect the groups."""
    if isinstance(classifier, CalibratedClassifierCV):
        folds = getattr(classifier.cv, "n_splits", DEFAULT_CV if classifier.cv is None else classifier.cv)
        label, counts = np.unique(np.asarray(y), return_counts=True)
        if isinstance(folds, Integral) and counts.min() < folds:
            raise ValueError(
                f"the probabilities come from a sigmoid, which is fitted in {folds} folds, and the class "
                f"{label.tolist()[counts.argmin()]!r} has {counts.min()} rows there; use more of them, a smaller cv, "
                'or method="symmetric".'
            )
    if groups is None:
        classifier.fit(X, y, **parameters)
        return
    folds = splitter(classifier.cv, y, groups)  # CalibratedClassifierCV takes no groups, but it takes splits
    splits = list(folds.split(X, y, groups))
    classifier.set_params(cv=splits).fit(X, y, **parameters).set_params(cv=folds)
