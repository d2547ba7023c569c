"""What `decide` returns: decisions on rows, as arrays, a data frame and a table for notebooks.

::

    saving = min over answers of e_a - min over actions that hand on of e_a,    e_a the expected cost of action a

the expected loss if the row had to be answered instead. It orders the rows that people review.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abstain.arguments import whole_number
from abstain.costs.table import CostTable
from abstain.frames import DataFrame, frame_of
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
        True where a `NoveltyRejector` finds the row unlike the training rows; None of other estimators. Nothing
        is known of the costs of such a row: its `expected_cost` is nan.
    p_value : ndarray of float64, shape (n,), or None, default=None
        How usual each row is among the training rows, by the guard of a `NoveltyRejector`; None without one.
    over_capacity : ndarray of bool, shape (n,), or None, default=None
        True where `within` answered a row that would have been handed on.
    costs_decide : bool, default=True
        Whether each label has the least of the expected costs and `forced` the least of the answers'. False where
        something else decides, such as tuned thresholds of a `ThresholdRejector`, cuts on the confidence, or Bartlett
        and Wegkamp's rule: the expected costs are then for information.
    costs : CostTable or None, default=None
        The costs, with the actions that were chosen from.
    probability : ndarray of float64, shape (n, n_classes), or None, default=None
        The probability of each class, with the accuracy of the expected costs: good near the thresholds. The expected
        costs follow from it, except for machines of several classes that decide by a threshold on each score: those
        have the probability that each score gives to its class by itself, and these need not sum to 1; here they do.
        None if the scores have no probability scale; nan for novel rows.
    confidence : ndarray of float64, shape (n,), or None, default=None
        Without expected costs, how sure each answer is by the measure that rejects it: of two classes the distance of
        the score from the cut between the answers, of more how far the row is from a reject, below 0 where rejected.
    """

    label: NDArray[Any]
    rejected: NDArray[np.bool_]
    score: NDArray[np.float64]
    expected_cost: NDArray[np.float64]
    forced: NDArray[Any]
    labels: Labels
    index: Any = None
    novel: NDArray[np.bool_] | None = None
    p_value: NDArray[np.float64] | None = None
    over_capacity: NDArray[np.bool_] | None = None
    costs_decide: bool = True
    costs: CostTable | None = None
    probability: NDArray[np.float64] | None = None
    confidence: NDArray[np.float64] | None = None

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
        "over capacity" are rows that `within` answered, although they would have been handed on.
        """
        found = np.where(self.rejected, "ambiguous", "decided")
        found = found if self.novel is None else np.where(self.novel, "novel", found)
        return found if self.over_capacity is None else np.where(self.over_capacity, "over capacity", found)

    @property
    def saving(self) -> NDArray[np.float64]:
        """What handing each row on is expected to save: the cheapest answer's cost minus that of handing it on.

        It is at least 0 where costs reject the row. nan where the costs are unknown, as of novel rows, and where no
        action hands on or none answers.
        """
        hands_on = np.array(self.labels.hands_on)
        if hands_on.all() or not hands_on.any():
            return np.full(len(self), np.nan)
        answers, others = self.expected_cost[:, ~hands_on], self.expected_cost[:, hands_on]
        return np.asarray(answers.min(axis=1) - others.min(axis=1))

    @property
    def queue(self) -> NDArray[np.intp]:
        """The positions of the rejected rows in the order of review.

        Novel rows come first, because nothing is known of them, the smallest p-value first; then the largest `saving`.
        Without expected costs the saving is unknown, and the answers of the least `confidence` come first. Ties keep
        the order of the rows.
        """
        rows = np.flatnonzero(self.rejected)
        novel = np.zeros(len(self), dtype=bool) if self.novel is None else self.novel
        p_value = np.zeros(len(self)) if self.p_value is None else self.p_value
        urgent = self.saving if self.confidence is None else -self.confidence
        first = np.where(novel, p_value, -np.nan_to_num(urgent, nan=-np.inf))
        return rows[np.lexsort((first[rows], ~novel[rows]))]

    def within(self, capacity: int) -> "Decisions":
        """Return the decisions if people can review at most `capacity` rows: those first in the `queue`.

        The other rejected rows get their forced answer, and the reason "over capacity".

        Parameters
        ----------
        capacity : int
            The largest number of rows to hand on, 0 or more.

        Returns
        -------
        Decisions
            If the expected costs are right, no decisions with as many rejects cost less. Without expected costs, the
            rows that are handed on are those whose answer is least sure.

        Examples
        --------
        >>> import numpy as np
        >>> from abstain import Costs, RejectSVC
        >>> X = np.linspace(-2, 2, 60)[:, np.newaxis]
        >>> y = np.sin(9 * X[:, 0]) + 2 * X[:, 0] > 0
        >>> found = RejectSVC(Costs(reject=0.2), kernel="linear").fit(X, y).decide(X)
        >>> found, found.within(3), found.within(3).reason[[29, 22]].tolist()
        (Decisions(60 rows, 16 rejected), Decisions(60 rows, 3 rejected), ['ambiguous', 'over capacity'])
        """
        capacity = whole_number("capacity", capacity, "a number of rows, a whole number of at least 0")
        if all(self.labels.hands_on):
            raise ValueError(
                f"capacity={capacity!r} cannot hold, because every action hands the case on; leave one that answers "
                "out of rejects=(...)."
            )
        over = np.zeros(len(self), dtype=bool)
        over[self.queue[capacity:]] = True
        if not over.any():
            return self
        return replace(
            self,
            label=np.where(over, self.forced.astype(self.label.dtype), self.label),
            rejected=self.rejected & ~over,
            over_capacity=over if self.over_capacity is None else over | self.over_capacity,
            costs_decide=False,
        )

    def take(self, rows: NDArray[np.intp]) -> "Decisions":
        """Return the decisions on these rows."""
        parts: Any = {name: None if (of := getattr(self, name)) is None else of[rows] for name in _OF_ROWS}
        return replace(self, **parts)

    def to_frame(self) -> DataFrame:
        """Return the decisions as a pandas DataFrame: the index of the rows, and the expected costs as columns.

        For two classes ``attrs["score"]`` names the one that high scores mean.
        """
        frame = frame_of(self.columns, self.index)
        if self.labels.n_classes == 2:
            frame.attrs["score"] = self.scored_class
        return frame

    @property
    def columns(self) -> dict[str, NDArray[Any]]:
        """The columns of a table by name: the decision, its scores, probabilities, expected costs and p-values."""

        def named(what: str, names: Any, values: NDArray[np.float64]) -> dict[str, NDArray[Any]]:
            return {f"{what}_{name}": column for name, column in zip(names, values.T, strict=True)}

        known = self.labels.classes.tolist()
        found = {"label": self.label, "rejected": self.rejected, "reason": self.reason}
        found |= {"score": self.score} if self.score.ndim == 1 else named("score", known, self.score)
        found |= {} if self.probability is None else named("probability", known, self.probability)
        found |= named("cost", self.labels.titles, self.expected_cost)
        return found | ({} if self.p_value is None else {"p_value": self.p_value})

    def _repr_html_(self) -> str:
        """Return the first and the last rows as a table, for notebooks."""
        columns = self.columns
        names = range(len(self)) if self.index is None else self.index
        shown = [
            ("…",) * (1 + len(columns)) if at is None else (names[at], *(column[at] for column in columns.values()))
            for at in shortened(len(self))
        ]
        caption = f"Decisions on {len(self):,} rows, of which {np.sum(self.rejected):,} are rejected"
        if self.over_capacity is not None:
            caption += f"; {np.sum(self.over_capacity):,} more are over capacity"
        elif not self.costs_decide and np.isfinite(self.expected_cost).any():
            caption += "; the costs are for information, and thresholds decide"
        return html_table(caption, ("row", *columns), shown)


_OF_ROWS = [one.name for one in fields(Decisions) if one.name not in ("labels", "costs_decide", "costs")]


def joined(parts: "Sequence[Decisions]") -> "Decisions":
    """Put the decisions of one estimator on several batches of rows together, without their index."""
    known = [name for name in _OF_ROWS if name != "index" and getattr(parts[0], name) is not None]
    rows: Any = {name: np.concatenate([getattr(one, name) for one in parts]) for name in known}
    return replace(parts[0], **(rows | {"index": None}))
