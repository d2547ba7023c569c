"""Drift: the result of `abstain.drift`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abstain.comparison.drift_text import as_html, as_text, sentence_of, words_of
from abstain.metrics.frames import frame_of

__all__ = ["Drift", "DriftTest"]

# Differences between shares, from 0 to 1, in words.
_EFFECTS = ((0.05, "negligible"), (0.15, "small"), (0.3, "moderate"))


@dataclass(frozen=True)
class DriftTest:
    """One test of a batch against the training rows.

    Attributes
    ----------
    name : str
        What is compared: "scores", "novel rows", "rejects", "decisions", or a column.
    kind : str
        "scores", "novel", "rejects", "decisions", "missing" or "category".
    label : object
        The decision with the most significant difference; of a column its name, or its name and the category.
    difference : float
        The test's statistic: the largest difference between the shares of the two samples, from 0 to 1. For scores it
        is Kolmogorov and Smirnov's D; for categories half the sum of all differences.
    p_value : float
        The p-value of this test alone.
    corrected : float
        The p-value corrected for the number of tests.
    here, before : float
        The shares, in the batch and at calibration (of columns: in training), of the rows that differ most: those above
        the score at which the difference is largest, those with this decision or category.
    """

    name: str
    kind: str
    label: Any
    difference: float
    p_value: float
    corrected: float
    here: float
    before: float

    @property
    def effect(self) -> str:
        """The difference in a word: negligible (below 0.05), small (0.15), moderate (0.3) or large."""
        return effect_of(self.difference)

    @property
    def words(self) -> str:
        """The two shares in words."""
        return words_of(self)


@dataclass(frozen=True, eq=False, repr=False)
class Drift:
    """Whether a batch is like the training rows; the result of `abstain.drift`.

    Attributes
    ----------
    tests : tuple of DriftTest
        Those that can be made on these rows.
    level : float
        The largest share of false alarms.
    n_rows, n_calibration : int
        The rows of the batch, and the calibration rows.
    scores : (ndarray, ndarray)
        Rows of the batch and calibration rows, from the most usual to the most unusual: in the gaps around the distinct
        calibration scores (even places) and at them (odd places).
    rank : int
        A row is novel if it is more unusual than the calibration row of this rank, counted from the most unusual.
    choices : (ndarray or None, ndarray or None)
        Rows of the batch and calibration rows by the classifier's decision.
    choice_names : tuple
        The decisions.
    """

    tests: tuple[DriftTest, ...]
    level: float
    n_rows: int
    n_calibration: int
    scores: tuple[NDArray[np.int64], NDArray[np.int64]]
    rank: int
    choices: tuple[NDArray[np.int64] | None, NDArray[np.int64] | None] = (None, None)
    choice_names: tuple[Any, ...] = ()

    @property
    def p_value(self) -> float:
        """The p-value of all tests together; 1 without rows."""
        return min((test.corrected for test in self.tests), default=1.0)

    @property
    def drifted(self) -> bool:
        """Whether the batch is unlike the training rows, at the level."""
        return self.p_value <= self.level

    @property
    def significant(self) -> tuple[DriftTest, ...]:
        """The tests that find a difference, largest differences first."""
        found = (test for test in self.tests if test.corrected <= self.level)
        return tuple(sorted(found, key=lambda test: -test.difference))

    @property
    def effect(self) -> str:
        """The largest significant difference in a word; "none" if there is none."""
        return effect_of(self.significant[0].difference) if self.drifted else "none"

    @property
    def sentence(self) -> str:
        """The verdict in one line."""
        return sentence_of(self)

    def to_frame(self) -> Any:
        """One row per test, in the order of `tests`, as a pandas DataFrame."""
        columns = ("difference", "effect", "here", "before", "p_value", "corrected")
        found = {column: [getattr(test, column) for test in self.tests] for column in columns}
        return frame_of(found, index=[test.name for test in self.tests])

    def __repr__(self) -> str:
        return f"Drift(drifted={self.drifted}, p_value={self.p_value:.3g}, n_rows={self.n_rows}, level={self.level:g})"

    def __str__(self) -> str:
        return as_text(self)

    def _repr_html_(self) -> str:
        """Return the tests as a table, for notebooks."""
        return as_html(self)


def effect_of(difference: float) -> str:
    """A difference between shares in a word."""
    return next((word for bound, word in _EFFECTS if difference < bound), "large")
