"""Other thresholds for the same fitted classifier."""

from __future__ import annotations

from copy import copy
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from abstain.arguments import row_weights
from abstain.estimators.threshold.fitted_rejector import labels_for, tuned
from abstain.machines.cross_machine import CrossMachine
from abstain.rules.tuning.request import Request
from abstain.rules.tuning.scored_rows import ScoredRows

__all__ = ["RetuneMixin"]


class RetuneMixin:
    """`retune` of a `ThresholdRejector`."""

    confidence: float
    pos_label: Any
    _now: Any
    _score: Any

    def retune(
        self,
        X: Any = None,
        y: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        *,
        costs: Any = None,
        reject_rate: Any = None,
        max_error: Any = None,
        class_error: Any = None,
        confidence: float | None = None,
    ) -> Self:
        """Tune other thresholds for the same fitted classifier.

        Parameters
        ----------
        X, y, sample_weight : as in `fit`, default=None
            Rows to tune on, preferably rows that the classifier was not fitted on. By default, the scores that `fit`
            tuned on, if it did.
        costs, reject_rate, max_error, class_error, confidence : as in the constructor
            The new request, in one of four ways. The confidence stays unchanged if it is not given. `max_error` and
            `class_error` need rows that the classifier was not fitted on: those that `fit` held out for one of them,
            those of ``cv="prefit"``, or X, y. For `max_error` the same share of each class must have been held out.

        Returns
        -------
        ThresholdRejector
            A copy with these parameters and the new thresholds, around the same fitted classifier; the original is not
            changed.
        """
        other: Any = copy(self)
        fitted = self._now
        confidence = self.confidence if confidence is None else confidence
        asked = {"costs": costs, "reject_rate": reject_rate, "max_error": max_error, "class_error": class_error}
        other.set_params(**asked, confidence=confidence)
        request = Request.of(other)
        if request.method.needs_probabilities and fitted.machine.method != "predict_proba":
            raise ValueError(
                f"method={request.name!r} needs probabilities, and fit used the decision function; fit again instead."
            )
        labels = labels_for(other, request, np.repeat(fitted.rule.labels.classes, 2))
        request.warn_if_assumed(labels, self.pos_label)
        request = request.of_classes(labels)
        rows, held_out, crossed = fitted.rows, fitted.held_out, isinstance(fitted.machine, CrossMachine)
        if X is not None:
            if crossed:
                raise ValueError('conformal="cross" is calibrated on the rows of its folds; leave out X and y.')
            code = labels.encode(np.asarray(y))
            weight = row_weights(sample_weight, len(code))
            if weight is not None and class_error is not None:
                raise ValueError("sample_weight has no effect here: class_error counts each row once; leave it out.")
            rows, held_out = ScoredRows.of(self._score(fitted, X), code, weight), True
        if request.needs_rows and rows is None and not crossed:
            raise ValueError("retune needs X and y, because fit had no thresholds to tune and kept no scores.")
        other._fitted_ = tuned(fitted.machine, request, labels, rows, held_out=held_out)
        return other
