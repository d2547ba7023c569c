"""The costs of the three decisions, and Bayes' rule for them (Chow70, GRKC08 section 2, A14 section 2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils._param_validation import InvalidParameterError

from abstain.arguments import mean_price, positive_number, warn_caller
from abstain.class_labels import ClassLabels, has_several_classes
from abstain.costs.actions import Actions
from abstain.costs.class_costs import ClassCosts
from abstain.costs.cost_tables import CostTable, in_own_unit, named_by, named_rejects, reject_costs, sorted_labels
from abstain.costs.thresholds import Thresholds, log_ratio
from abstain.html import html_table
from abstain.labels import ENCODED, classes_of, encode_pair, known_positive

__all__ = ["Costs", "assigned_costs", "checked_costs", "costs_for_classes", "costs_of_classes", "warn_if_assumed"]

# If r_neg/c_fp + r_pos/c_fn is this close to 1, it counts as 1: the band is empty and nothing is rejected.
_EQUALITY = 1e-12


@dataclass(frozen=True, repr=False)
class Costs:
    r"""The cost of each decision, given the true class; validated on construction.

    ::

        decision \ true class +1       -1
             +1                0        c_fp
             -1                c_fn     0
           reject              r_pos    r_neg

    Rejecting can pay if and only if ``r_neg / c_fp + r_pos / c_fn < 1``. At equality nothing is ever
    rejected; above it an error is raised.

    The class +1 is the positive one: the estimator's or metric's `pos_label`, or the class that sorts last. If the
    costs of the two classes differ and the classes are strings, a missing `pos_label` is reported by a `UserWarning`.
    `from_table` and `from_matrix` with `labels` name the classes instead, and need no `pos_label`.

    Parameters
    ----------
    false_positive : float, default=1.0
        c_fp, the cost of deciding +1 when -1 is true.
    false_negative : float, default=1.0
        c_fn, the cost of deciding -1 when +1 is true.
    reject : float or (float, float), default=0.5
        The cost of rejecting: one value for both classes, or the pair (negative, positive) = (r_neg, r_pos).
    labels : (label, label) or None, default=None
        The names of -1 and +1, sorted, in costs made by `from_table`; None if `pos_label` decides.

    Examples
    --------
    >>> from abstain import Costs
    >>> costs = Costs(false_positive=1, false_negative=5, reject=0.25)
    >>> costs.thresholds()
    Thresholds(lower=0.05, upper=0.75)
    """

    false_positive: float = 1.0
    false_negative: float = 1.0
    reject: float | tuple[float, float] = 0.5
    labels: tuple[Any, Any] | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        if self.labels is not None:
            if len(self.labels) != 2:
                raise ValueError(f"labels={self.labels!r} must be two; Costs.from_table takes any number of classes.")
            if sorted_labels(self.labels) != tuple(self.labels):
                raise ValueError(f"labels={self.labels!r} must be sorted; Costs.from_table takes classes in any order.")
            object.__setattr__(self, "labels", sorted_labels(self.labels))
            object.__setattr__(self, "reject", named_rejects(self.reject, sorted_labels(self.labels), self.labels))
        object.__setattr__(self, "false_positive", positive_number("false_positive", self.false_positive))
        object.__setattr__(self, "false_negative", positive_number("false_negative", self.false_negative))
        object.__setattr__(self, "reject", reject_costs(self.reject))
        if self._share > 1.0 + _EQUALITY:
            raise ValueError(self._never_pays())

    def __repr__(self) -> str:
        if self.labels is None:
            errors = f"false_positive={self.false_positive}, false_negative={self.false_negative}"
            return f"Costs({errors}, reject={self.reject})"
        first, last = self.labels
        table = {first: {last: self.false_positive}, last: {first: self.false_negative}}
        reject = dict(zip(self.labels, self.reject, strict=True)) if isinstance(self.reject, tuple) else self.reject
        return f"Costs.from_table({table}, reject={reject})"

    @classmethod
    def from_table(cls, table: Mapping[Any, Mapping[Any, float]], *, reject: Any = 0.5) -> Any:
        """Read the costs by class name; they then need no `pos_label`, and fit only labels with these classes.

        Parameters
        ----------
        table : dict of label to dict of label to float
            True class -> answer -> cost, for any number of classes. Correct answers cost 0 and may be left out.
        reject : float or dict of label to float, default=0.5
            The cost of rejecting, one for all classes or by the true class.

        Returns
        -------
        Costs, or ClassCosts if there are more than two classes

        Examples
        --------
        >>> from abstain import Costs
        >>> costs = Costs.from_table({"good": {"good": 0, "bad": 1}, "bad": {"good": 5, "bad": 0}}, reject=0.5)
        >>> costs
        Costs.from_table({'bad': {'good': 5.0}, 'good': {'bad': 1.0}}, reject=0.5)
        >>> costs.mean_cost(["good", "bad"], ["bad", "bad"])
        0.5
        """
        read = CostTable.of(table)
        if len(read.labels) > 2:
            return ClassCosts.of(read, reject)
        return cls(*read.pair, named_rejects(reject, read.labels), labels=read.labels)

    @classmethod
    def from_matrix(cls, matrix: ArrayLike, reject: Any = 0.5, *, labels: Sequence[Any] | None = None) -> Any:
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
        labels = named_by(matrix) if labels is None else labels
        if labels is not None:
            read = CostTable.of_matrix(matrix, labels)
            if len(read.labels) > 2:
                return ClassCosts.of(read, reject, labels)
            return cls(*read.pair, named_rejects(reject, read.labels, labels), labels=read.labels)
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

    def swapped(self) -> Costs:
        """Give the costs with the two classes exchanged and without names: the other class becomes the positive one."""
        return Costs(self.false_negative, self.false_positive, (self.reject_positive, self.reject_negative))

    def with_positive(self, positive: Any) -> Costs:
        """Give the costs without names, with `positive` as +1; costs that name no classes are returned unchanged."""
        if self.labels is None:
            return self
        if positive not in self.labels:
            raise ValueError(f"positive={positive!r} is not one of the classes {[*self.labels]} of the costs.")
        plain = Costs(self.false_positive, self.false_negative, self.reject)
        return plain if positive == self.labels[1] else plain.swapped()

    @property
    def symmetric(self) -> bool:
        """Whether the two classes have the same costs, so that it does not matter which is positive."""
        return self.false_positive == self.false_negative and self.reject_negative == self.reject_positive

    @property
    def reject_negative(self) -> float:
        """r_neg, the cost of rejecting when -1 is true."""
        return self.reject[0] if isinstance(self.reject, tuple) else self.reject

    @property
    def reject_positive(self) -> float:
        """r_pos, the cost of rejecting when +1 is true."""
        return self.reject[1] if isinstance(self.reject, tuple) else self.reject

    @property
    def rejects(self) -> bool:
        """Whether rejecting ever pays; False at equality, where the two thresholds meet."""
        return self._share < 1.0 - _EQUALITY

    @property
    def cut(self) -> float:
        """The score log(c_fp / c_fn) above which deciding +1 is cheaper than -1, if rejecting is not allowed."""
        (_, _, c_fp), (c_fn, _, _) = self._unitless
        return log_ratio(c_fp, c_fn)

    def thresholds(self) -> Thresholds:
        """Return Bayes' thresholds (p_low, p_high) on the probability of the positive class.

        ::

            p_low = r_neg / (c_fn - r_pos + r_neg)     p_high = (c_fp - r_neg) / (c_fp - r_neg + r_pos)
        """
        (_, r_neg, c_fp), (c_fn, r_pos, _) = self._unitless
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
        if not self.rejects:
            return Thresholds(self.cut, self.cut)
        (_, r_neg, c_fp), (c_fn, r_pos, _) = self._unitless
        return Thresholds(log_ratio(r_neg, c_fn - r_pos), log_ratio(c_fp - r_neg, r_pos))

    def table(self) -> NDArray[np.float64]:
        """Return all costs, (2, 3): rows true class -1, +1; columns choice -1, 0 (reject), +1."""
        return np.array(
            [[0.0, self.reject_negative, self.false_positive], [self.false_negative, self.reject_positive, 0.0]]
        )

    def _repr_html_(self) -> str:
        """Return the costs as a table, for notebooks."""
        names = self.labels or ("negative", "positive")
        columns = ("true class", f"decided {names[0]}", "rejected", f"decided {names[1]}")
        rows = [(name, *costs) for name, costs in zip(names, self.table().tolist(), strict=True)]
        return html_table("Cost of each decision", columns, rows)

    def prices(self, sign: ArrayLike, choice: ArrayLike) -> NDArray[np.float64]:
        """Return the cost of each choice (-1, 0, +1) given the true sign (-1, +1)."""
        truth = (np.asarray(sign, dtype=np.int8) > 0).astype(np.intp)  # broadcast against the choices
        priced: NDArray[np.float64] = self.table()[truth, np.asarray(choice, dtype=np.int8) + 1]
        return priced

    def expected(self, probability: ArrayLike) -> NDArray[np.float64]:
        """Return the expected cost of deciding -1, rejecting and deciding +1 at each probability of the positive class.

        The last axis has length 3.
        """
        p = np.asarray(probability, dtype=np.float64)[..., np.newaxis]
        negative, positive = self.table()
        return np.asarray((1.0 - p) * negative + p * positive)

    def mean_cost(
        self,
        y_true: ArrayLike,
        y_pred: ArrayLike,
        *,
        pos_label: Any = None,
        reject_label: Any = "auto",
        sample_weight: ArrayLike | None = None,
    ) -> float:
        """Return the mean cost of the predictions, rejects included.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,)
            True labels.
        y_pred : array-like of shape (n_samples,), or Decisions
            Predicted labels, with `reject_label` for rejected rows, or what `decide` returns, which has both labels.
        pos_label : label, default=None
            The positive class. If None, that of the costs or of the decisions, else the larger of the two.
        reject_label : label or "auto", default="auto"
            The label of a reject in `y_pred`; "auto" derives it from the labels of `y_true`.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the mean.

        Examples
        --------
        >>> from abstain import Costs
        >>> Costs(1, 5, 0.25).mean_cost([0, 0, 1, 1], [0, 1, -1, 1])
        0.3125
        """
        decided = getattr(y_pred, "labels", None)
        if isinstance(decided, ClassLabels) or has_several_classes(y_true):
            classes = decided.classes if isinstance(decided, ClassLabels) else np.array(classes_of(y_true))
            named = costs_for_classes(self, classes)
            return named.mean_cost(y_true, y_pred, reject_label=reject_label, sample_weight=sample_weight)
        if pos_label is None:
            pos_label = known_positive(y_pred)
        costs, pos_label = assigned_costs(self, y_true, pos_label)
        prices = costs.prices(*encode_pair(y_true, y_pred, pos_label, reject_label))
        return mean_price(prices, sample_weight)

    @property
    def _unitless(self) -> list[list[float]]:
        """The table in its own unit, so that a factor on all costs changes no threshold, not even in the last digit."""
        found: list[list[float]] = in_own_unit(self.table()).tolist()
        return found

    @property
    def _share(self) -> float:
        return self.reject_negative / self.false_positive + self.reject_positive / self.false_negative

    def _never_pays(self) -> str:
        share, names = self._share, ["reject_negative", "reject_positive", "false_positive", "false_negative"]
        if isinstance(self.reject, tuple):
            largest = f"costs in this ratio are ({self.reject[0] / share:.12g}, {self.reject[1] / share:.12g})"
        else:
            largest = f"cost allowed is {self.reject / share:.12g}"
        if self.labels is not None:
            first, last = (f"[{label!r}]" for label in self.labels)
            names = [f"reject{first}", f"reject{last}", f"table{first}{last}", f"table{last}{first}"]
        return (
            f"reject={self.reject} can never pay: {names[0]}/{names[2]} + {names[1]}/{names[3]} = "
            f"{self.reject_negative:g}/{self.false_positive:g} + {self.reject_positive:g}/{self.false_negative:g} = "
            f"{share:g} > 1, so deciding for one of the classes is always cheaper. The largest reject {largest}."
        )


def checked_costs(costs: object, call: str = "{}") -> Costs:
    """Give the costs, or an error that shows how to state them in `call`."""
    if isinstance(costs, Costs):
        return costs
    if isinstance(costs, ClassCosts):
        raise InvalidParameterError(
            f"costs name {len(costs.labels)} classes, {[*costs.labels]}, but this takes two classes only; RejectSVC, "
            "RejectSVCCV, ThresholdRejector and the metrics of predictions take any number."
        )
    stated = call.format("Costs(false_positive=1, false_negative=5, reject=0.3)")
    if isinstance(costs, Actions):
        raise InvalidParameterError(
            f"Actions are not supported here yet, only by RejectSVC, RejectSVCCV, mean_cost and "
            f'ThresholdRejector(method="chow"); use {stated} instead of costs={costs!r}.'
        )
    # a ValueError and a TypeError, as for scikit-learn's own parameters
    raise InvalidParameterError(f"costs={costs!r} must be a Costs, not a {type(costs).__name__}; write {stated}.")


def costs_of_classes(costs: Costs, y: ArrayLike, pos_label: Any) -> tuple[Costs, Any]:
    """Give the costs without names, and the positive class for which they are stated; names must be those of y."""
    if costs.labels is None:
        return costs, pos_label
    if unknown := [label for label in classes_of(y) if label not in costs.labels]:
        raise ValueError(
            f"costs={costs!r} name the classes {[*costs.labels]}, but y has {unknown[0]!r}; name the classes of y. "
            + ENCODED
        )
    positive = costs.labels[1] if pos_label is None else pos_label
    if positive not in costs.labels:
        raise ValueError(f"pos_label={pos_label!r} is not one of the classes {[*costs.labels]} of the costs.")
    return costs.with_positive(positive), positive


def assigned_costs(costs: Any, y: ArrayLike, pos_label: Any) -> tuple[Costs, Any]:
    """Check costs, and give them and the positive class as `costs_of_classes` does; warn if that class is assumed."""
    checked = checked_costs(costs)
    warn_if_assumed(checked, y, pos_label)
    return costs_of_classes(checked, y, pos_label)


def costs_for_classes(costs: Costs | ClassCosts, classes: NDArray[Any]) -> ClassCosts:
    """Give the costs by class for these sorted classes, all of which they must name, and no other."""
    known = tuple(classes.tolist())
    if costs.labels is not None:
        if set(costs.labels) != set(known):
            odd = sorted(set(costs.labels) ^ set(known), key=str)
            raise ValueError(
                f"costs name the classes {[*costs.labels]}, but y has {[*known]}; {odd[0]!r} is not in both. Name "
                "exactly the classes of y."
            )
        assert isinstance(costs, ClassCosts)  # noqa: S101 (two names cannot be those of more classes)
        return costs
    if not (isinstance(costs, Costs) and costs.symmetric):
        raise ValueError(
            f"costs={costs!r} differ between a positive and a negative class, but y has {len(known)} classes; name "
            "them all: Costs.from_table({truth: {answer: cost}}, reject=...)."
        )
    return ClassCosts.even(known, costs.false_positive, costs.reject_negative)


def warn_if_assumed(costs: Costs, y: ArrayLike, pos_label: Any) -> None:
    """Warn if the costs differ by class, and only the sort order of two strings says which one is positive."""
    if costs.labels is not None or costs.symmetric or pos_label is not None:
        return
    classes = classes_of(y)
    if len(classes) == 1 and isinstance(classes[0], str):
        warn_caller(
            f"pos_label is not given, and the costs differ by class: which class is positive is taken from the sort "
            f"order of the labels, of which y has only {classes[0]!r}. Pass pos_label, or name the classes with "
            "Costs.from_table."
        )
    elif len(classes) == 2 and isinstance(classes[0], str):
        negative, positive = classes
        warn_caller(
            f"pos_label is not given, and the costs differ by class: {positive!r} is taken as the positive class "
            f"because it sorts last, so false_negative={costs.false_negative:g} is the cost of deciding {negative!r} "
            f"when {positive!r} is true. Pass pos_label={positive!r} or pos_label={negative!r}, or name the classes "
            "with Costs.from_table."
        )


def _ratio_to_sum(a: float, b: float) -> float:
    """Compute a / (a + b) for positive a and b, halved first so that the sum cannot overflow."""
    return 0.5 * a / (0.5 * a + 0.5 * b)
