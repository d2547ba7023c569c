"""What a fitted classifier says about rows, oriented to the positive class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from abstain.costs import Costs
from abstain.estimators.unwrap import final_estimator, of_final


@dataclass(frozen=True, eq=False)
class Answers:
    """Scores and decisions of a classifier, of a Pipeline or of a search.

    Attributes
    ----------
    name : str
        Class of the classifier behind Pipelines and searches.
    score : ndarray of shape (n,)
        Speaks for the positive class: the decision function, or the probability where there is none.
    cut : float
        Where the forced choice cuts the score.
    pos_label : label
        The positive class.
    costs : Costs or None
        The classifier's own, if it has any.
    predicted : ndarray of shape (n,)
        Labels, rejects among them.
    rejects : bool
        Whether the classifier can reject by itself.
    reject_label : label
        What it calls that; None if it cannot.
    """

    name: str
    score: NDArray[np.float64]
    cut: float
    pos_label: Any
    costs: Costs | None
    predicted: NDArray[Any]
    rejects: bool
    reject_label: Any

    @classmethod
    def of(cls, estimator: Any, X: Any, pos_label: Any = None) -> Self:
        """Ask the classifier."""
        negative, positive = np.asarray(estimator.classes_).tolist()
        own = of_final(estimator, "pos_label") if pos_label is None else pos_label
        if own is not None and own not in (negative, positive):
            raise ValueError(f"pos_label={own!r} is not one of the classes {[negative, positive]}; give one of them.")
        terms = of_final(estimator, "terms_")
        if hasattr(estimator, "decision_function"):
            score = np.asarray(estimator.decision_function(X), dtype=np.float64)
            cut = forced_cut(final_estimator(estimator))
        else:
            score, cut = np.asarray(estimator.predict_proba(X), dtype=np.float64)[:, 1], 0.5
        turned = own is not None and own == negative
        rejects = terms is not None and terms.labels.rejects
        return cls(
            name=type(final_estimator(estimator)).__name__,
            score=-score if turned else score,
            cut=-cut if turned else cut,
            pos_label=negative if turned else positive,
            costs=None if terms is None else terms.costs,
            predicted=np.asarray(estimator.predict(X)),
            rejects=rejects,
            reject_label=terms.labels.reject_label if rejects else None,
        )


def forced_cut(final: Any) -> float:
    """Where the forced choice of a classifier cuts its decision function.

    Our machines know it; of others that have costs it is log(c_fp / c_fn), stated for the positive class while the
    score speaks for ``classes_[1]``; without costs it is 0.
    """
    terms, costs = getattr(final, "terms_", None), getattr(final, "costs", None)
    if terms is not None or costs is None:
        return 0.0 if terms is None else float(terms.cut)
    turned = final.pos_label is not None and final.pos_label == final.classes_[0]
    return -float(costs.cut) if turned else float(costs.cut)
