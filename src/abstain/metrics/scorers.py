"""Metrics as scikit-learn scorers, larger is better, for `GridSearchCV` and `cross_validate`, also with Pipelines."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.metadata_routing import MetadataRequest

from abstain.actions import Actions
from abstain.arguments import real_number
from abstain.class_costs import ClassCosts
from abstain.costs import Costs, checked_costs
from abstain.estimators.unwrap import FittedClassifier, final_estimator
from abstain.labels import free_label
from abstain.metrics import areas, scores

__all__ = ["RejectScorer", "get_scorer"]

# The sign that makes larger better.
_OF_PREDICTIONS = {
    "mean_cost": -1,
    "reject_rate": -1,
    "coverage": 1,
    "error_rate": -1,
    "selective_error": -1,
    "selective_accuracy": 1,
    "sensitivity": 1,
    "positive_predictivity": 1,
}
_OF_SCORES = {"aurc": -1, "e_aurc": -1, "augrc": -1}
_SIGNS = {**_OF_PREDICTIONS, **_OF_SCORES}


class RejectScorer:
    """A metric called as ``scorer(estimator, X, y, sample_weight=None)``; made by `get_scorer`.

    Parameters
    ----------
    name, costs, pos_label, reject_label, cut
        As in `get_scorer`, already checked there.
    """

    def __init__(self, name: str, costs: Any, pos_label: Any, reject_label: Any, cut: float | None) -> None:
        self.name = name
        self.costs = costs
        self.pos_label = pos_label
        self.reject_label = reject_label
        self.cut = cut
        self._request: bool | str | None = None

    def __call__(self, estimator: Any, X: Any, y_true: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Give the metric on these rows, negated if smaller is better."""
        if len(estimator.classes_) > 2:
            return float(_SIGNS[self.name] * self._of_classes(estimator, X, y_true, sample_weight))
        fitted = FittedClassifier.of(estimator, self.pos_label)
        options = {"pos_label": fitted.positive, "sample_weight": sample_weight}
        if self.name in _OF_SCORES:
            own = fitted.even_cut if self.cut is None else fitted.orientation * self.cut
            score, cut = fitted.positive_score(X, own)
            measured = getattr(areas, self.name)(y_true, score, cut=cut, **options)
        else:
            auto = isinstance(self.reject_label, str) and self.reject_label == "auto"
            options["reject_label"] = fitted.reject_label if auto else self.reject_label
            stated = getattr(fitted.rule, "costs", None)
            if self.name in ("reject_rate", "coverage") and isinstance(stated, Actions):
                options["actions"] = stated
            prices = () if self.costs is None else (self.costs,)
            if self.costs is not None and self.pos_label is None and fitted.assumed:
                options["pos_label"] = None  # so that the metric warns if the costs depend on it
            if self.name in scores.OF_ONE_CLASS and self.pos_label is None and fitted.assumed:
                scores.warn_if_assumed(self.name, y_true)
            measured = getattr(scores, self.name)(y_true, estimator.predict(X), *prices, **options)
        return float(_SIGNS[self.name] * measured)

    def _of_classes(self, estimator: Any, X: Any, y_true: ArrayLike, sample_weight: ArrayLike | None) -> float:
        """Give the metric of more than two classes; of scores, by the lead of the highest over the second."""
        if self.name in _OF_SCORES:
            if self.cut is not None:
                raise ValueError(f"cut={self.cut!r} is for two classes; the estimator has {len(estimator.classes_)}.")
            scores_of = getattr(estimator, "decision_function", None) or estimator.predict_proba
            given = {"sample_weight": sample_weight, "classes": estimator.classes_}
            return float(getattr(areas, self.name)(y_true, scores_of(X), **given))
        options = {"pos_label": self.pos_label, "sample_weight": sample_weight, "reject_label": self.reject_label}
        rule = getattr(final_estimator(estimator), "rule_", None)
        if isinstance(self.reject_label, str) and self.reject_label == "auto":
            known = np.asarray(estimator.classes_)
            own = None if rule is None else rule.labels.reject_label
            options["reject_label"] = free_label(known) if own is None else own
        prices = () if self.costs is None else (self.costs,)
        return float(getattr(scores, self.name)(y_true, estimator.predict(X), *prices, **options))

    def __repr__(self) -> str:
        told = {"costs": self.costs, "pos_label": self.pos_label, "reject_label": self.reject_label, "cut": self.cut}
        words = [f"{key}={value!r}" for key, value in told.items() if not (value is None or value == "auto")]
        return f"get_scorer({', '.join([repr(self.name), *words])})"

    def set_score_request(self, *, sample_weight: bool | str | None) -> Self:
        """Request `sample_weight` or not, by True, False, None or an alias, as in scikit-learn."""
        self._request = sample_weight
        return self

    def get_metadata_routing(self) -> MetadataRequest:
        """The request for scikit-learn's metadata routing."""
        request = MetadataRequest(owner=self)
        request.score.add_request(param="sample_weight", alias=self._request)
        return request

    def _accept_sample_weight(self) -> bool:
        """Called by scikit-learn if metadata routing is off."""
        return True


def get_scorer(
    name: str,
    costs: Costs | Actions | None = None,
    *,
    pos_label: Any = None,
    reject_label: Any = "auto",
    cut: float | None = None,
) -> RejectScorer:
    """Give a metric as a scorer, ``scorer(estimator, X, y, sample_weight=None)``, where larger is better.

    Parameters
    ----------
    name : str
        A metric: "mean_cost", "reject_rate", "error_rate", "selective_error", "aurc", "e_aurc" or "augrc", all
        negated, or "coverage", "selective_accuracy", "sensitivity" or "positive_predictivity". The negated ones also
        have names in scikit-learn's style, "neg_mean_cost" and so on.
    costs : Costs or Actions, default=None
        The costs, for "mean_cost" only.
    pos_label : label, default=None
        The positive class. If None, the `pos_label` of the estimator if it has one, else ``classes_[1]``.
    reject_label : label or "auto", default="auto"
        The label of a reject. "auto": the estimator's `reject_label_`, also inside Pipelines and searches.
    cut : float, default=None
        For the areas. If None, where both classes are equally likely: 0 on a decision function, 0.5 on a probability,
        because an area counts both errors equally, whatever they cost.

    Returns
    -------
    RejectScorer
        With ``set_score_request(sample_weight=True)`` it requests weights if metadata routing is on.

    Examples
    --------
    >>> from sklearn.model_selection import GridSearchCV
    >>> from abstain import Costs, RejectSVC
    >>> from abstain.metrics import get_scorer
    >>> costs = Costs(1, 5, 0.3)
    >>> search = GridSearchCV(RejectSVC(costs), {"C": [0.1, 1, 10]}, scoring=get_scorer("mean_cost", costs=costs))
    """
    plain = name.removeprefix("neg_") if isinstance(name, str) else name
    known = plain in _SIGNS if isinstance(plain, str) else False
    if not known or (plain != name and _SIGNS[plain] > 0):
        raise ValueError(f"name={name!r} is not a metric; give one of {', '.join(sorted(_SIGNS))}.")
    if plain == "mean_cost" and costs is None:
        raise ValueError('get_scorer("mean_cost") needs costs: get_scorer("mean_cost", costs=Costs(...)).')
    if plain != "mean_cost" and costs is not None:
        raise ValueError(f'costs={costs!r} with name={name!r}: costs are for "mean_cost" only.')
    stated: Any = costs
    checked = stated if stated is None or isinstance(stated, Actions | ClassCosts) else checked_costs(stated)
    cut = None if cut is None else real_number("cut", cut)
    if plain in _OF_PREDICTIONS and cut is not None:
        raise ValueError(f"cut={cut!r} with name={name!r}: cut is for {', '.join(_OF_SCORES)} only.")
    return RejectScorer(plain, checked, pos_label, reject_label, cut)
