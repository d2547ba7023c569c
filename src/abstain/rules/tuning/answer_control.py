"""A certified ceiling on the error among accepted answers of several classes: overall, or for each class answered.

Rows with the same answer are a sequence of their own, in decreasing order of confidence, tested as in `risk_control`.
The error among them is P(wrong | answered k, confidence beyond the cut of k). With m ceilings, each is tested at the
level (1 - confidence) / m. The chance that at least one cut is wrongly certified is at most the sum of the levels, so
that all ceilings hold together with the confidence (Bonferroni), and each alone with more.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abstain.rules.by_answer import ByAnswer
from abstain.rules.tuning.risk_control import ErrorBound, _Sequence, certified_step, check_rows
from abstain.rules.tuning.scored_rows import AnsweredRows

__all__ = ["certify_answers"]


def certify_answers(
    rows: AnsweredRows, max_error: float | ByAnswer, confidence: float
) -> tuple[NDArray[np.float64], ErrorBound]:
    """The cuts on the confidence, by class answered, of the largest coverage that can be certified.

    Parameters
    ----------
    rows : AnsweredRows
        Held-out rows, each with weight 1.
    max_error : float or ByAnswer
        The ceiling on the error among all accepted rows, or among those with each answer; answers without a ceiling
        are all accepted.
    confidence : float
        Confidence of the guarantee.
    """
    check_rows(rows)
    if not isinstance(max_error, ByAnswer):
        everything = np.ones(len(rows.answer), dtype=bool)
        asked = f"max_error={max_error} with confidence={confidence:g} cannot be certified on {len(everything)} rows"
        cut, *counts = _cut(_Sequence.of_answers(rows, everything), max_error, 1.0 - confidence, asked)
        return np.full(rows.n_classes, cut), ErrorBound(max_error, confidence, len(everything), *counts)
    cuts, accepted, errors = np.full(rows.n_classes, -np.inf), dict[Any, int](), dict[Any, int]()
    for k, (label, ceiling) in enumerate(zip(max_error.classes, max_error.shares, strict=True)):
        own = rows.answer == k
        accepted[label], errors[label] = int(own.sum()), int(rows.wrong[own].sum())
        if not math.isnan(ceiling):
            asked = (
                f"max_error[{label!r}]={ceiling}, one of {len(max_error.named)} ceilings that hold together with "
                f"confidence={confidence:g}, cannot be certified on the {accepted[label]} rows answered {label!r}"
            )
            level = (1.0 - confidence) / len(max_error.named)
            cuts[k], accepted[label], errors[label] = _cut(_Sequence.of_answers(rows, own), ceiling, level, asked)
    return cuts, ErrorBound(max_error.named, confidence, len(rows.answer), accepted, errors)


def _cut(sequence: _Sequence, ceiling: float, level: float, asked: str) -> tuple[float, int, int]:
    """The cut on the confidence that is certified, the rows accepted and the errors among them."""
    step = certified_step(sequence, np.array([ceiling]), level, asked)
    cut = float(sequence.t[step]) if step < len(sequence.t) - 1 else -math.inf
    return cut, int(sequence.accepted[step, 0]), int(sequence.errors[step, 0])
