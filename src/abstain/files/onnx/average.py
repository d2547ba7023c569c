"""The average of several machines as ONNX nodes: the log-odds, or logarithms, of the mean of their probabilities."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

from abstain.candidates.average import LEAST
from abstain.files.format.errors import no_graph
from abstain.files.onnx.rules import probability_nodes
from abstain.files.onnx.scores import Scoring, log_odds, pair
from abstain.rules.readouts import LogOdds, Softmax

if TYPE_CHECKING:
    from abstain.candidates.average import MachineAverage
    from abstain.files.onnx.graph import Value


@dataclass(frozen=True, eq=False)
class AverageScoring:
    """The sums of several machines, and the score that the mean of their probabilities makes.

    Attributes
    ----------
    parts : tuple of (Scoring, Readout)
        Of each machine, and what its scores mean.
    """

    parts: tuple[tuple[Scoring, Any], ...]
    is_probability = True

    @classmethod
    def of(cls, average: MachineAverage) -> Self:
        """Read a fitted average; an error for machines without a graph."""
        found, several = [], len(average.classes_) > 2
        for one in average.estimators_:
            if type(one) is LogisticRegression:
                scoring, readout = Scoring.of_logistic(one, "predict_proba"), Softmax() if several else LogOdds(1.0)
                found.append((Scoring(scoring.coef, scoring.biases, scoring.centre), readout))
            elif (sums := Scoring.of(getattr(one, "machine_", None))) is not None:
                found.append((sums, one.rule_.readout))
            else:
                what = f"has an average of machines with a {type(one).__name__}"
                raise no_graph(what, "; average SVMs and logistic regressions only, or fit with --machine svm")
        return cls(tuple(found))

    @property
    def n_features(self) -> int:
        """The number of columns of X."""
        return self.parts[0][0].n_features

    def score(self, X: Value) -> Value:
        """Return the score of each row in a graph."""
        share, scores = 1.0 / len(self.parts), [(scoring.score(X), readout) for scoring, readout in self.parts]
        if isinstance(self.parts[0][1], LogOdds):
            both = zip(*(pair(score * float(readout.unit)) for score, readout in scores), strict=True)
            return log_odds(*((reduce(add, each) * share).at_least(LEAST) for each in both))
        said = [probability_nodes(readout, score) for score, readout in scores]
        return (reduce(add, said) * share).at_least(LEAST).apply("Log")

    def steepness(self) -> NDArray[np.float64]:
        """How much the log-odds of two classes, or a probability of several, change at most with each sum."""
        return np.array([_steepness(readout) for _, readout in self.parts])


def _steepness(readout: Any) -> float:
    if isinstance(readout, LogOdds):
        return float(readout.unit)
    if isinstance(readout, Softmax):
        return 1.0
    low, high = readout.ends
    if readout.lead is not None:
        return float(readout.lead.scale * max(1.0, readout.lead.slope) / (high - low).min())
    points = np.column_stack([low, readout.tangents, high])
    heights = np.column_stack([0.0 * low, 1.0 / (1.0 + np.exp(-readout.tangents)), 1.0 + 0.0 * high])
    apart, rise = np.diff(points), np.diff(heights)
    return 2.0 * len(low) * float((rise[apart > 0.0] / apart[apart > 0.0]).max(initial=1.0))
