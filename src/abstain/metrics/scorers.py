"""Metrics as scikit-learn scorers, larger is better, for `GridSearchCV` and `cross_validate`, also with Pipelines."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.metadata_routing import MetadataRequest

from abstain.arguments import checked_costs, real_number
from abstain.estimators.unwrap import FittedClassifier, decide
from abstain.metrics import areas
from abstain.metrics.outcomes import read
from abstain.metrics.scores import OF_ONE_CLASS, measured, warn_if_assumed

# The sign that makes larger better.
_OF_SCORES = ("aurc", "e_aurc", "augrc")
_LESS = ("mean_cost", "reject_rate", "error_rate", "selective_error", *_OF_SCORES)
_MORE = ("coverage", "selective_accuracy", "sensitivity", "positive_predictivity")
_SIGNS = dict.fromkeys(_LESS, -1) | dict.fromkeys(_MORE, 1)


@dataclass(eq=False, repr=False)
class RejectScorer:
    """A metric called as ``scorer(estimator, X, y, sample_weight=None, row_costs=None)``; made by `get_scorer`.

    Parameters
    ----------
    name, costs, pos_label, reject_label, cut, by_row
        As in `get_scorer`, already checked there; `by_row` is its `row_costs`.
    """

    name: str
    costs: Any
    pos_label: Any
    reject_label: Any
    cut: float | None
    by_row: bool = False

    def __post_init__(self) -> None:
        self._requests: dict[str, bool | str | None] = {"sample_weight": None, "row_costs": self.by_row or None}

    def __call__(
        self, estimator: Any, X: Any, y_true: ArrayLike, sample_weight: ArrayLike | None = None, row_costs: Any = None
    ) -> float:
        """Return the metric on these rows, negated if smaller is better."""
        fitted = FittedClassifier.of(estimator, self.pos_label if len(estimator.classes_) == 2 else None)
        if (row_costs is not None) is not self.by_row:
            way = "pass row_costs" if self.by_row else "make the scorer by get_scorer(..., row_costs=True)"
            raise ValueError(f"{self!r} was called {'without' if self.by_row else 'with'} row_costs; {way}.")
        if self.name in _OF_SCORES:
            return _SIGNS[self.name] * self._area(fitted, X, y_true, sample_weight)
        return _SIGNS[self.name] * self._of_predictions(fitted, X, y_true, sample_weight, row_costs)

    def _area(self, fitted: FittedClassifier, X: Any, y_true: ArrayLike, weight: Any) -> float:
        """Return the area. Beyond two classes, confidence is the top score minus the runner-up."""
        area = getattr(areas, self.name)
        if len(fitted.classes) > 2:
            if self.cut is not None:
                raise ValueError(f"cut={self.cut!r} is for two classes; the estimator has {len(fitted.classes)}.")
            return float(area(y_true, fitted.score(X), sample_weight=weight, classes=fitted.classes))
        own = fitted.even_cut if self.cut is None else fitted.orientation * self.cut
        score, cut = fitted.towards_positive(fitted.score(X), own)
        return float(area(y_true, score, cut=cut, pos_label=fitted.positive, sample_weight=weight))

    def _of_predictions(
        self, fitted: FittedClassifier, X: Any, y_true: ArrayLike, weight: Any, row_costs: Any
    ) -> float:
        """Return a metric of the decisions, which rows with costs of their own may change."""
        several = len(fitted.classes) > 2
        label, assumed = self.pos_label if several else fitted.positive, self.pos_label is None and fitted.assumed
        if assumed and not several and self.name in OF_ONE_CLASS:
            warn_if_assumed(self.name, y_true)
        options = {  # without a pos_label, so that the metric warns if the costs depend on it
            "pos_label": None if assumed and self.costs is not None else label,
            "reject_label": fitted.reject_label if self.reject_label == "auto" else self.reject_label,
            "sample_weight": weight,
            "row_costs": row_costs if self.name == "mean_cost" else None,
            "classes": fitted.classes,
        }
        takes = row_costs is not None and fitted.rule is not None and fitted.rule.takes_rows
        if takes:
            fitted.rule_for(len(np.asarray(y_true)), row_costs)  # an error if pos_label is not that of the machine
        predicted = decide(fitted.estimator, X, row_costs).label if takes else fitted.estimator.predict(X)
        outcomes = read(y_true, predicted, fitted.costs if self.costs is None else self.costs, **options)
        return measured(self.name, outcomes, label)

    def __repr__(self) -> str:
        stated = {"costs": self.costs, "pos_label": self.pos_label, "reject_label": self.reject_label, "cut": self.cut}
        stated["row_costs"] = self.by_row or None
        words = [f"{key}={value!r}" for key, value in stated.items() if not (value is None or value == "auto")]
        return f"get_scorer({', '.join([repr(self.name), *words])})"

    def set_score_request(self, **requests: bool | str | None) -> Self:
        """Request `sample_weight` and `row_costs` or not, by True, False, None or an alias, as in scikit-learn."""
        if unknown := set(requests) - set(self._requests):
            raise TypeError(f"{sorted(unknown)} cannot be requested; a scorer takes sample_weight and row_costs.")
        self._requests |= requests
        return self

    def get_metadata_routing(self) -> MetadataRequest:
        """The request for scikit-learn's metadata routing."""
        request = MetadataRequest(owner=self)
        for name, alias in self._requests.items():
            request.score.add_request(param=name, alias=alias)
        return request

    def _accept_sample_weight(self) -> bool:
        """Called by scikit-learn if metadata routing is off."""
        return True


def get_scorer(
    name: str,
    costs: Any = None,
    *,
    pos_label: Any = None,
    reject_label: Any = "auto",
    cut: float | None = None,
    row_costs: bool = False,
) -> RejectScorer:
    """Return a metric as a scorer, ``scorer(estimator, X, y, sample_weight=None)``, where larger is better.

    With more than two classes, `pos_label` says which one "sensitivity" and "positive_predictivity" are of.

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
    row_costs : bool, default=False
        Whether rows have costs of their own: the scorer is then called with ``row_costs=...``, and requests them if
        metadata routing is on. "mean_cost" takes no `costs` then, and machines that use costs per row decide by them.

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
    if row_costs and (costs is not None or plain in _OF_SCORES):
        why = "row_costs takes the place of costs" if costs is not None else f"{name} does not depend on costs"
        raise ValueError(f"row_costs=True with costs={costs!r} and name={name!r}: {why}; leave one out.")
    if plain == "mean_cost" and costs is None and not row_costs:
        raise ValueError('get_scorer("mean_cost") needs costs: get_scorer("mean_cost", costs=Costs(...)).')
    if plain != "mean_cost" and costs is not None:
        raise ValueError(f'costs={costs!r} with name={name!r}: costs are for "mean_cost" only.')
    checked = None if costs is None else checked_costs(costs)
    cut = None if cut is None else real_number("cut", cut)
    if plain not in _OF_SCORES and cut is not None:
        raise ValueError(f"cut={cut!r} with name={name!r}: cut is for {', '.join(_OF_SCORES)} only.")
    return RejectScorer(plain, checked, pos_label, reject_label, cut, by_row=bool(row_costs))
