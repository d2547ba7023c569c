"""The average of several machines: a classifier with the mean of their probabilities, and its cost on held-out rows.

::

    p(x) = 1/M sum_m p_m(x)        decided by Chow's rule: the action of least expected cost

On a fold, machine m has the parameters that other folds choose, and the average its probabilities there::

    p_i = 1/M sum_m p_{m j_m(v) i}      j_m(v) = argmin_j mean_{l in v} c_mjl

with c_mjl the cost of its candidate j on fold l. So the average has one candidate for each view v of the folds: for
each fold those that test none of its rows, which choose the parameters that decide it, and last all.
"""

from collections.abc import Sequence
from inspect import signature
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.utils import get_tags

from abstain.candidates.candidate_costs import Rows
from abstain.candidates.machines import AVERAGE, MACHINES
from abstain.candidates.trials import Choice, Trials, views_of
from abstain.estimators.fitting.bases import BaseEstimator, ClassifierMixin, MetaEstimatorMixin

LEAST = 1e-12  # less may be what rounding leaves of 0, and its logarithm is noise


class MachineAverage(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    """A classifier with the mean of the probabilities of several.

    Parameters
    ----------
    estimators : sequence of (str, classifier)
        Their names, and classifiers with `predict_proba`.

    Attributes
    ----------
    estimators_ : list of classifiers
        Fitted.
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    """

    _fits_row_costs: ClassVar[bool] = True  # so that a ThresholdRejector passes them on
    _parameter_constraints: ClassVar[dict[str, Any]] = {"estimators": ["array-like"]}

    def __init__(self, estimators: Sequence[tuple[str, Any]] = ()) -> None:
        self.estimators = estimators

    @classmethod
    def of(cls, fitted: dict[str, Any]) -> Self:
        """Average classifiers that are fitted, by name."""
        found = cls([(name, clone(one)) for name, one in fitted.items()])
        return found._around([*fitted.values()])

    def fit(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        row_costs: Any = None,
    ) -> Self:
        """Fit each classifier; groups and costs of rows are for those whose `fit` takes them."""
        given = {"sample_weight": sample_weight, "groups": groups, "row_costs": row_costs}
        given = {name: value for name, value in given.items() if value is not None}
        parts = [clone(one) for _, one in self.estimators]
        for one in parts:
            taken = signature(one.fit).parameters
            one.fit(X, y, **{name: value for name, value in given.items() if name in taken})
        return self._around(parts)

    def _around(self, parts: list[Any]) -> Self:
        self.estimators_, self.classes_ = parts, parts[0].classes_
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(parts[0], name):
                setattr(self, name, getattr(parts[0], name))
        return self

    @property
    def parts(self) -> dict[str, Any]:
        """The fitted classifiers by name."""
        return {name: one for (name, _), one in zip(self.estimators, self.estimators_, strict=True)}

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """The mean of the probabilities; none is below `LEAST`."""
        return np.maximum(sum(one.predict_proba(X) for one in self.estimators_) / len(self.estimators_), LEAST)

    def predict(self, X: Any) -> NDArray[Any]:
        """The likeliest class."""
        return np.asarray(self.classes_[self.predict_proba(X).argmax(axis=1)])

    def __sklearn_tags__(self) -> Any:
        tags, inner = super().__sklearn_tags__(), [get_tags(one).input_tags for _, one in self.estimators]
        tags.input_tags.sparse = all(one.sparse for one in inner)
        tags.input_tags.allow_nan = all(one.allow_nan for one in inner)
        return tags


def averaged(found: Sequence[Trials], rows: Rows) -> Trials:
    """What the average of these machines costs, one candidate for each view of the folds: those are kept for it."""
    folds, shared = len(rows.splits.trains), rows.splits.shared
    choice, common = Choice.of(found, shared), Choice.common(found)
    at = np.flatnonzero(common)
    costs, kept = np.full((folds + 1, folds), np.nan), np.eye(folds + 1, dtype=bool)
    parameters, rejected = [dict[str, Any]()] * (folds + 1), float("nan")
    for view, seen in enumerate(views_of(folds, shared)):
        if view < folds and not common[view]:
            continue
        own = -1 if view == folds else int(np.searchsorted(at, view))
        best = [(one, one.best_of(seen[at], own)) for one in choice.trials]
        said = [None if place is None else one.said.get(place) for one, place in best]
        parameters[view] = {one.name: one.parameters[place or 0] for one, place in best}
        tested = [int(rows.splits.tests[fold].astype(bool).sum()) for fold in at]
        if all(each is not None and [len(p) for p in each] == tested for each in said):
            means = [sum(each) / len(found) for each in zip(*said, strict=True)]
            costs[view, at], rejected = rows.costs_of(means, at), rows.rejected(means, at)  # last those of all folds
    return Trials(AVERAGE, parameters, costs, kept=kept, rejected=rejected)


def machine_of(classifier: Any) -> tuple[str, dict[str, Any]] | None:
    """The name of the machine that made a classifier, and its tuned parameters; None for other classifiers."""
    if isinstance(classifier, CalibratedClassifierCV):
        classifier = classifier.estimator
    if type(classifier) is MachineAverage:
        *names, last = [name for name, _ in classifier.estimators]
        return f"{AVERAGE} of {', '.join(names)} and {last}", {}
    for name, machine in MACHINES.items():
        if type(classifier) is type(machine.make()):
            return name, {key: getattr(classifier, key) for key in machine.candidates[0]}
    return None
