"""Costs of answers and a reject, as users state them, and Bayes' rule for them (Chow70, GRKC08 section 2, A14)."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abstain.arguments import positive_number
from abstain.costs import reading
from abstain.costs.answers import AnswerTable
from abstain.costs.cuts import Thresholds
from abstain.html import html_table
from abstain.labels import NO_CLASS, layout


def _cell(truth: int, action: int, doc: str) -> Any:
    """Make a property of two classes: the cost of an action if the class of the first or last action is true."""

    def read(costs: "Costs") -> Any:
        if costs.n_classes != 2:
            raise AttributeError(f"costs of {costs.n_classes} classes have no positive class; see errors and reject.")
        found = costs.values[..., costs.answers[truth], action]
        return found if costs.per_row else float(found)

    return property(read, doc=doc)


class Costs(AnswerTable):
    r"""The cost of each decision, given the true class; checked on construction, never changed.

    ::

        decision \ true class +1       -1
             +1                0        c_fp
             -1                c_fn     0
           reject              r_pos    r_neg

    Rejecting can pay if and only if ``r_neg / c_fp + r_pos / c_fn < 1``. At equality nothing is ever
    rejected; above it an error is raised.

    The class +1 is the positive one: the estimator's or metric's `pos_label`, or the class that sorts last. If the
    costs of the two classes differ and the classes are strings, a missing `pos_label` is reported by a `UserWarning`.
    `from_table` and `from_matrix` with `labels` name the classes instead, need no `pos_label`, and take any number of
    classes. Costs that name no class and are the same for both fit any number of classes too.

    Parameters
    ----------
    false_positive : float, default=1.0
        c_fp, the cost of deciding +1 when -1 is true.
    false_negative : float, default=1.0
        c_fn, the cost of deciding -1 when +1 is true.
    reject : float or (float, float), default=0.5
        The cost of rejecting: one value for both classes, or the pair (negative, positive) = (r_neg, r_pos).
    labels : (label, label) or None, default=None
        The names of -1 and +1, sorted; None if `pos_label` decides.

    Examples
    --------
    >>> from abstain import Costs
    >>> costs = Costs(false_positive=1, false_negative=5, reject=0.25)
    >>> costs.thresholds()
    Thresholds(lower=0.05, upper=0.75)
    """

    def __init__(
        self,
        false_positive: float = 1.0,
        false_negative: float = 1.0,
        reject: Any = 0.5,
        *,
        labels: tuple[Any, Any] | None = None,
    ) -> None:
        if labels is not None:
            if len(labels) != 2:
                raise ValueError(f"labels={labels!r} must be two; Costs.from_table takes any number of classes.")
            if reading.sorted_labels(labels) != tuple(labels):
                raise ValueError(f"labels={labels!r} must be sorted; Costs.from_table takes classes in any order.")
            labels = (reading.sorted_labels(labels)[0], reading.sorted_labels(labels)[1])
            reject = reading.named_rejects(reject, labels, labels)
        c_fp = positive_number("false_positive", false_positive)
        c_fn = positive_number("false_negative", false_negative)
        r_neg, r_pos = reading.pair_of_rejects(reject)
        self.filled(labels, layout(2), np.array([[0.0, r_neg, c_fp], [c_fn, r_pos, 0.0]]))
        reading.check_reject(self)

    @classmethod
    def from_table(cls, table: Mapping[Any, Mapping[Any, float]], *, reject: Any = 0.5) -> "Costs":
        """Read the costs by class name; they then need no `pos_label`, and fit only labels with these classes.

        Parameters
        ----------
        table : dict of label to dict of label to float
            True class -> answer -> cost, for any number of classes. Correct answers cost 0 and may be left out.
        reject : float or dict of label to float, default=0.5
            The cost of rejecting, one for all classes or by the true class.

        Examples
        --------
        >>> from abstain import Costs
        >>> costs = Costs.from_table({"good": {"good": 0, "bad": 1}, "bad": {"good": 5, "bad": 0}}, reject=0.5)
        >>> costs
        Costs.from_table({'bad': {'good': 5.0}, 'good': {'bad': 1.0}}, reject=0.5)
        >>> costs.mean_cost(["good", "bad"], ["bad", "bad"])
        0.5
        """
        labels, errors = reading.error_table(table)
        return cls.of_errors(labels, errors, reading.named_rejects(reject, labels))

    @classmethod
    def from_matrix(cls, matrix: ArrayLike, reject: Any = 0.5, *, labels: Sequence[Any] | None = None) -> "Costs":
        """Read the costs from a square cost matrix, as published with data sets.

        Parameters
        ----------
        matrix : array-like of shape (n_classes, n_classes), or DataFrame
            Rows actual, columns predicted; zeros on the diagonal. Without `labels` there are two classes, the positive
            one second. A data frame whose rows and columns are named by the classes needs no `labels`.
        reject : float, (float, float) or dict of label to float, default=0.5
            As in `Costs`; with `labels` a pair has their order, and a dict is by the true class.
        labels : sequence of labels, default=None
            The classes, in the order of rows and columns; the costs then name their classes, as in `from_table`.

        Examples
        --------
        >>> from abstain import Costs
        >>> Costs.from_matrix([[0, 1], [5, 0]], reject=0.3)
        Costs(false_positive=1.0, false_negative=5.0, reject=0.3)
        >>> Costs.from_matrix([[0, 1], [5, 0]], labels=["good", "bad"], reject=0.3)
        Costs.from_table({'bad': {'good': 5.0}, 'good': {'bad': 1.0}}, reject=0.3)
        """
        labels = reading.named_by(matrix) if labels is None else labels
        if labels is not None:
            own, errors = reading.matrix_table(matrix, labels)
            return cls.of_errors(own, errors, reading.named_rejects(reject, own, labels))
        table = np.asarray(matrix, dtype=np.float64)
        if table.shape != (2, 2):
            raise ValueError(
                f"matrix must be 2 x 2 (rows actual, columns predicted); its shape is {table.shape}. For more classes "
                "name them: labels=[...]."
            )
        if table[0, 0] != 0 or table[1, 1] != 0:
            raise ValueError(
                f"matrix must be 0 on its diagonal, where decisions are correct; it has {table[0, 0]:g} and "
                f"{table[1, 1]:g}. Subtract each row's diagonal entry from that row."
            )
        return cls(false_positive=float(table[0, 1]), false_negative=float(table[1, 0]), reject=reject)

    @classmethod
    def of_errors(cls, labels: tuple[Any, ...], errors: NDArray[np.float64], reject: Any) -> "Costs":
        """Make costs of checked parts: sorted classes, errors (rows truth, columns answer), and the reject costs."""
        if len(labels) == 2:
            return cls(float(errors[0, 1]), float(errors[1, 0]), reject, labels=(labels[0], labels[1]))
        rejects = np.broadcast_to(np.asarray(reject, dtype=np.float64), len(labels))
        found = object.__new__(cls).filled(labels, layout(len(labels)), np.column_stack([errors, rejects]))
        reading.check_reject(found)
        return found

    def with_reject(self, reject: Any) -> "Costs":
        """Return the costs with another cost of rejecting, stated as in the constructor."""
        if self.labels is None:
            return Costs(self.false_positive, self.false_negative, reject)
        return Costs.of_errors(self.labels, self.errors, reading.named_rejects(reject, self.labels, self.labels))

    def plain(self, *, same: bool = True) -> "Costs":
        """Return costs of two classes without names, -1 first; not `same`, with the other class as +1."""
        if self.n_classes > 2 or self.per_row:
            return self
        found = Costs(self.false_positive, self.false_negative, (self.reject_negative, self.reject_positive))
        return found if same else found.swapped()

    def scaled(self, factor: float) -> "Costs":
        """Return the costs with all costs of rejecting times a factor."""
        order = [answer for answer in self.answers if answer != NO_CLASS]
        return self.with_reject(tuple((factor * self.reject_costs[order]).tolist()))

    def swapped(self) -> "Costs":
        """Return the costs with the two classes exchanged and without names: the other one becomes the positive one."""
        return Costs(self.false_negative, self.false_positive, (self.reject_positive, self.reject_negative))

    def with_positive(self, positive: Any) -> "Costs":
        """Return the costs without names, with `positive` as +1; costs that name no classes are returned unchanged."""
        if self.labels is None:
            return self
        if positive not in self.labels:
            raise ValueError(f"positive={positive!r} is not one of the classes {[*self.labels]} of the costs.")
        return self.plain(same=positive == self.labels[1])

    def __repr__(self) -> str:
        if self.per_row:
            return super().__repr__()
        if self.labels is None:
            errors = f"false_positive={self.false_positive}, false_negative={self.false_negative}"
            return f"Costs({errors}, reject={self.reject})"
        table = {
            truth: {answer: cost for answer, cost in zip(self.labels, row, strict=True) if answer != truth}
            for truth, row in zip(self.labels, self.errors.tolist(), strict=True)
        }
        reject = dict(zip(self.labels, self.reject, strict=True)) if isinstance(self.reject, tuple) else self.reject
        return f"Costs.from_table({table}, reject={reject})"

    def _repr_html_(self) -> str:
        """Return the costs as a table, for notebooks."""
        names = self.labels or [("negative", "positive")[self.answers[-1] == k] for k in range(2)]
        columns = ["rejected" if answer == NO_CLASS else f"decided {names[answer]}" for answer in self.answers]
        rows = [(name, *costs) for name, costs in zip(names, self.values.tolist(), strict=True)]
        return html_table("Cost of each decision", ("true class", *columns), rows)

    @property
    def reject(self) -> Any:
        """The cost of rejecting: one number, or one for each class, of two the pair (negative, positive)."""
        costs = tuple(self.reject_costs[[answer for answer in self.answers if answer != NO_CLASS]].tolist())
        return costs[0] if len(set(costs)) == 1 else costs  # equal costs are one number, however they were given

    false_positive = _cell(0, 2, "c_fp, the cost of deciding +1 when -1 is true; of each row with costs per row.")
    false_negative = _cell(-1, 0, "c_fn, the cost of deciding -1 when +1 is true.")
    reject_negative = _cell(0, 1, "r_neg, the cost of rejecting when -1 is true.")
    reject_positive = _cell(-1, 1, "r_pos, the cost of rejecting when +1 is true.")

    @cached_property
    def largest_scale(self) -> float:
        """The largest factor on the reject costs at which rejecting still pays for some probabilities."""
        return reading.largest_scale(self.errors, self.reject_costs)

    @property
    def cut(self) -> Any:
        """The log-odds above which deciding +1 is cheaper than -1, if rejecting is not allowed."""
        return self._towards_positive(self.levels(forced=True)).cuts[0]

    def thresholds(self) -> Thresholds:
        """Return Bayes' thresholds (p_low, p_high) on the probability of the positive class.

        ::

            p_low = r_neg / (c_fn - r_pos + r_neg)     p_high = (c_fp - r_neg) / (c_fp - r_neg + r_pos)
        """
        (_, r_neg, c_fp), (c_fn, r_pos, _) = self.unitless[list(self.answers[::2])].tolist()
        if not self.rejects:
            p = _ratio_to_sum(c_fp, c_fn)
            return Thresholds(p, p)
        p_low = _ratio_to_sum(r_neg, c_fn - r_pos)
        p_high = _ratio_to_sum(c_fp - r_neg, r_pos)
        # Very close to 0 or 1, rounding may swap the two in the last digit.
        return Thresholds(min(p_low, p_high), p_high)

    def score_thresholds(self) -> Thresholds:
        """Return the same thresholds on the log-odds, computed without probabilities that round to 0 or 1.

        ::

            delta_low = log(r_neg / (c_fn - r_pos))     delta_high = log((c_fp - r_neg) / r_pos)
        """
        cuts = self._towards_positive(self.levels()).cuts
        return Thresholds(cuts[0], cuts[-1])

    def _towards_positive(self, levels: Any) -> Any:
        return levels if self.answers[-1] == 1 else levels.turned()


def _ratio_to_sum(a: float, b: float) -> float:
    """Compute a / (a + b) for positive a and b, halved first so that the sum cannot overflow."""
    return 0.5 * a / (0.5 * a + 0.5 * b)
