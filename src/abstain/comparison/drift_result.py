"""Drift: the result of `abstain.drift`, as values, in one sentence, as a text table and for notebooks."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abstain.frames import DataFrame, frame_of
from abstain.html import aligned, html_table

_NAMED = 3  # differences in the sentence
_LINES = 20  # tests in the tables
_HEAD = ("", "here", "before", "difference", "p-value", "corrected")
# What each kind of test compares, after the share here, and in a table.
_KINDS = {
    "scores": (
        "of the rows are as unusual as the most unusual {before} at calibration",
        "scores above the largest difference",
    ),
    "novel": ("of the rows are novel, {before} at calibration", "{name}"),
    "rejects": ("of the rows are rejected by the classifier, {before} at calibration", "{name}"),
    "decisions": ("of the decisions are {value}, {before} at calibration", "decisions: {value}"),
    "missing": ("of the rows have no value in column {column}, {before} in training", "{name}: no value"),
    "category": ("of the rows have {value} in column {column}, {before} in training", "{name}: {value}"),
}
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
        if self.kind == "scores" and self.before == 0:
            return f"{percent(self.here)} of the rows are more unusual than all calibration rows"
        return f"{percent(self.here)} {self._said(0)}"

    @property
    def line(self) -> tuple[str, ...]:
        """The cells of a table."""
        p_values = f"{self.p_value:.2g}", f"{self.corrected:.2g}"
        shares = percent(self.here), percent(self.before)
        return (self._said(1), *shares, f"{self.difference:.3f} {self.effect}", *p_values)

    def _said(self, at: int) -> str:
        """What is compared, in a sentence or in a cell."""
        column, value = self.label if self.kind == "category" else (self.label, self.label)
        names = {"column": repr(str(column)[:60]), "value": repr(str(value)[:60]), "name": self.name}
        return _KINDS[self.kind][at].format(**names, before=percent(self.before))


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
        """The verdict in one line, with the largest significant differences."""
        rows = f"{self.n_rows:,} row{'s' * (self.n_rows != 1)}"
        if not self.tests:
            return f"This batch cannot be compared with the training rows: it has {rows}."
        if not self.drifted:
            count = f"{len(self.tests)} test{'s' * (len(self.tests) != 1)}"
            return f"This batch is like the training rows, as far as {count} on {rows} can tell."
        named = [test.words for at, test in enumerate(self.significant) if at < _NAMED or test.name == "rejects"]
        more = len(self.significant) - len(named)
        listed = "; ".join([*named, *[f"{more} more difference{'s' * (more > 1)}"] * (more > 0)])
        p = "< 1e-16" if self.p_value < 1e-16 else f"= {self.p_value:.1g}"
        if self.effect == "negligible":
            most = percent(self.significant[0].difference)
            return (
                f"This batch differs from the training rows (p {p}), but by little: no share by more than "
                f"{most.removesuffix(' %')} percentage points; {listed}."
            )
        return f"This batch is unlike the training rows (p {p}): {listed}."

    def to_frame(self) -> DataFrame:
        """One row per test, in the order of `tests`, as a pandas DataFrame."""
        columns = ("difference", "effect", "here", "before", "p_value", "corrected")
        found = {column: [getattr(test, column) for test in self.tests] for column in columns}
        return frame_of(found, index=[test.name for test in self.tests])

    def __repr__(self) -> str:
        return f"Drift(drifted={self.drifted}, p_value={self.p_value:.3g}, n_rows={self.n_rows}, level={self.level:g})"

    def __str__(self) -> str:
        lines, notes = self._table()
        return "\n".join([self.sentence, "", *aligned([_HEAD, *lines], left=(0,)), *notes[:-1], "", notes[-1]])

    def _repr_html_(self) -> str:
        """Return the tests as a table, for notebooks."""
        lines, notes = self._table()
        return html_table(self.sentence, ["test", *_HEAD[1:]], lines, " ".join(notes))

    def _table(self) -> tuple[list[tuple[str, ...]], list[str]]:
        """Return a line for each test, the most significant first, and notes on them."""
        order = sorted(self.tests, key=lambda test: (test.corrected, test.p_value))
        more = len(order) - _LINES
        note = (
            f"{self.n_rows:,} rows here, {self.n_calibration:,} at calibration; columns are compared with all training "
            f"rows. p-values corrected for {len(self.tests)} tests; level {self.level:g}."
        )
        return [test.line for test in order[:_LINES]], [*[f"and {more} more, less significant"] * (more > 0), note]


def effect_of(difference: float) -> str:
    """A difference between shares in a word."""
    return next((word for bound, word in _EFFECTS if difference < bound), "large")


def percent(share: float) -> str:
    """A share in percent, with two digits below 10 %."""
    return f"{100 * share:.0f} %" if share >= 0.0995 or share == 0 else f"{100 * share:.2g} %"
