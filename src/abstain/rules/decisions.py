"""What `decide` returns: decisions on rows, as arrays, a data frame and a table for notebooks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abstain.costs.table import CostTable
from abstain.html import html_table, shortened
from abstain.labels import Labels


@dataclass(frozen=True, eq=False, repr=False)
class Decisions:
    """Decisions on n rows.

    Attributes
    ----------
    label : ndarray of shape (n,)
        What `predict` returns: a class or the reject label; with `Actions`, the name of the action.
    rejected : ndarray of bool, shape (n,)
        True where the row was rejected: where the action hands the case on.
    score : ndarray of float64, shape (n,), or (n, n_classes) for more than two classes
        The decision function. High scores of two classes mean ``labels.classes[1]``, the class that sorts last,
        whichever class is the positive one; `RejectSVC` has the log-odds of that class (see `scored_class`).
    expected_cost : ndarray of float64, shape (n, n_actions)
        The expected cost of each action: of deciding for the negative class, of rejecting, and of deciding for the
        positive class; of more than two classes of answering each, then of rejecting; of `Actions` in their order. For
        two classes P = 1 / (1 + exp(-score)), which is accurate only near the thresholds, where decisions change; far
        from them it is not a calibrated probability. A `ThresholdRejector` uses the wrapped classifier's own
        probabilities instead. nan without costs or without probabilities.
    forced : ndarray of shape (n,)
        What `predict_forced` returns: the cheapest answer, also where the row was rejected.
    labels : Labels
        The classes, sorted, the positive one of two, and the reject label. The metrics of `abstain.metrics` read them
        if they are given the decisions as `y_pred`.
    index : pandas.Index or None, default=None
        The index of the data frame that the rows came from; None for other input.
    novel : ndarray of bool, shape (n,), or None, default=None
        True where a `NoveltyRejector` rejected the row as unlike the training rows; None of other estimators. Nothing
        is known of the costs of such a row: its `expected_cost` is nan.
    costs_decide : bool, default=True
        Whether each label has the least of the expected costs and `forced` the least of the answers'. False where
        something else decides, such as tuned thresholds of a `ThresholdRejector`, cuts on the confidence, or Bartlett
        and Wegkamp's rule: the expected costs are then for information.
    costs : CostTable or None, default=None
        The costs, with the actions that were chosen from.
    """

    label: NDArray[Any]
    rejected: NDArray[np.bool_]
    score: NDArray[np.float64]
    expected_cost: NDArray[np.float64]
    forced: NDArray[Any]
    labels: Labels
    index: Any = None
    novel: NDArray[np.bool_] | None = None
    costs_decide: bool = True
    costs: CostTable | None = None

    def __len__(self) -> int:
        return len(self.label)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({len(self)} rows, {np.sum(self.rejected)} rejected)"

    @property
    def names(self) -> tuple[Any, ...] | None:
        """The names of the actions, if decisions are between named ones."""
        return None if self.costs is None else self.costs.names

    @property
    def scored_class(self) -> Any:
        """The class that high scores of two mean: ``classes_[1]``, not necessarily the positive class."""
        return self.labels.classes.tolist()[1]

    @property
    def reason(self) -> NDArray[np.str_]:
        """Why each row was decided so: "decided", "ambiguous" if deciding would cost more than rejecting, or "novel".

        A row is "novel" if a `NoveltyRejector` rejected it as unlike the training rows; no other estimator does.
        """
        found = np.where(self.rejected, "ambiguous", "decided")
        return found if self.novel is None else np.where(self.novel, "novel", found)

    def to_frame(self) -> Any:
        """Return the decisions as a pandas DataFrame: the index of the rows, and the expected costs as columns.

        For two classes its ``attrs`` name them: "score" the one that high scores mean, "cost_negative" and
        "cost_positive" those that are answered at these costs.
        """
        try:
            import pandas as pd
        except ImportError as error:
            raise ImportError("to_frame() needs pandas; install it, or use the arrays directly.") from error
        frame = pd.DataFrame(self._columns(), index=self.index)
        if self.labels.n_classes == 2:
            frame.attrs["score"] = self.scored_class
            frame.attrs |= {f"cost_{side}": label for side, label in self.labels.sides.items()}
        return frame

    def _columns(self) -> dict[str, NDArray[Any]]:
        """Return the columns by name."""
        scores = {"score": self.score}
        if self.score.ndim > 1:
            known = self.labels.classes.tolist()
            scores = {f"score_{label}": column for label, column in zip(known, self.score.T, strict=True)}
        titles = self.labels.titles
        costs = {f"cost_{title}": column for title, column in zip(titles, self.expected_cost.T, strict=True)}
        return {"label": self.label, "rejected": self.rejected, "reason": self.reason} | scores | costs

    def _repr_html_(self) -> str:
        """Return the first and the last rows as a table, for notebooks."""
        columns = self._columns()
        names = range(len(self)) if self.index is None else self.index
        shown = [
            ("…",) * (1 + len(columns)) if at is None else (names[at], *(column[at] for column in columns.values()))
            for at in shortened(len(self))
        ]
        caption = f"Decisions on {len(self):,} rows, of which {np.sum(self.rejected):,} are rejected"
        if not self.costs_decide and np.isfinite(self.expected_cost).any():
            caption += "; the costs are for information, and thresholds decide"
        return html_table(caption, ("row", *columns), shown)
