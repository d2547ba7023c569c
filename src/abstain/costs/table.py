"""The one table of costs: classes by actions, perhaps for each row.

::

    values[j, a]                the cost of action a when class j is true; values[i, j, a] with costs per row
    sum_j P_j values[j, a]      its expected cost under probabilities P

`Costs(...)`, `Costs.from_table`, `Costs.from_matrix`, `Actions(...)` and `row_costs=` all make this table.
"""

from collections.abc import Sequence
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abstain.arguments import in_own_unit, mean_price
from abstain.costs.cuts import Levels, envelope
from abstain.labels import ENCODED, NO_CLASS, Labels, warn_if_assumed
from abstain.pairs import read_pairs


class CostTable:
    """What each action costs, given the true class; never changed.

    Attributes
    ----------
    labels : tuple or None
        The classes, sorted, if the costs name them.
    answers : tuple of int
        For each action, the position of the class that it answers, or -1.
    hands_on : tuple of bool
        For each action, whether it hands the case on; a reject is one of these.
    names : tuple or None
        The names of the actions; None where they are the answers and a reject.
    values : ndarray of shape (n_classes, n_actions), or (n, n_classes, n_actions)
        The costs. Two classes have the actions negative, reject, positive; more have the answers in the order of the
        classes, then the reject; named actions have the order in which they were stated.
    """

    verb = "taking"  # of an action, in a sentence

    labels: tuple[Any, ...] | None
    answers: tuple[int, ...]
    hands_on: tuple[bool, ...]
    names: tuple[Any, ...] | None
    values: NDArray[np.float64]

    def filled(
        self,
        labels: tuple[Any, ...] | None,
        answers: tuple[int, ...],
        values: NDArray[np.float64],
        names: tuple[Any, ...] | None = None,
        hands_on: tuple[bool, ...] | None = None,
    ) -> Self:
        """Return the table, which was just created, with these parts."""
        values = np.array(values, dtype=np.float64)
        values.setflags(write=False)
        hands_on = tuple(answer == NO_CLASS for answer in answers) if hands_on is None else hands_on
        self.__dict__.update(labels=labels, answers=answers, hands_on=hands_on, names=names, values=values)
        return self

    def with_values(self, values: NDArray[np.float64], answers: tuple[int, ...] | None = None) -> Self:
        """Return the same actions with other costs, which are not checked: of rows, or of classes in another order."""
        labels = None if self.pair else self.labels  # of two, the order of the labels they are for
        answers = self.answers if answers is None else answers
        return object.__new__(type(self)).filled(labels, answers, values, self.names, self.hands_on)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"costs are never changed, so {name!r} cannot be set; make new ones.")

    def __getstate__(self) -> dict[str, Any]:
        """What was stated: what was computed from it since must not change a hash of the pickled costs."""
        computed = ("unitless", "_both_levels", "largest_scale")
        return {name: value for name, value in vars(self).items() if name not in computed}

    def __deepcopy__(self, memo: Any) -> Self:
        """Return the same table, which never changes, with what was computed from it: a clone needs no other."""
        return self

    def _key(self) -> tuple[Any, ...]:
        return self.labels, self.answers, self.hands_on, self.names, self.values.shape, self.values.tobytes()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CostTable) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __repr__(self) -> str:
        rows = f"{len(self.values)} rows, " if self.per_row else ""
        return f"<costs of {rows}{self.n_classes} classes and {self.n_actions} actions>"

    @property
    def n_classes(self) -> int:
        """The number of classes."""
        return int(self.values.shape[-2])

    @property
    def n_actions(self) -> int:
        """The number of actions."""
        return int(self.values.shape[-1])

    @property
    def per_row(self) -> bool:
        """Whether each row has a table of its own."""
        return self.values.ndim == 3

    @property
    def answering(self) -> bool:
        """Whether the actions are the answers and a reject, and have no names of their own."""
        return self.names is None

    @property
    def pair(self) -> bool:
        """Whether one of two classes is answered or the row rejected."""
        return self.answering and self.n_classes == 2

    def titles(self, classes: Sequence[Any], reject: Any = "reject") -> tuple[Any, ...]:
        """Return the names of the actions: their own, or the classes that they answer and `reject`."""
        return self.names or tuple(reject if answer == NO_CLASS else classes[answer] for answer in self.answers)

    @property
    def rejecting(self) -> NDArray[np.bool_]:
        """Whether each action hands the case on, as an array."""
        return np.array(self.hands_on, dtype=bool)

    @property
    def errors(self) -> NDArray[np.float64]:
        """The costs of answering each class, in the order of the classes: rows truth, columns answer."""
        return np.asarray(self.values[..., [self.answers.index(k) for k in range(self.n_classes)]])

    @property
    def reject_costs(self) -> NDArray[np.float64]:
        """The cost of rejecting for each true class, in the order of the classes."""
        return np.asarray(self.values[..., self.hands_on.index(True)])

    symmetric: Any = False  # whether the classes may be exchanged, since errors and rejects cost the same for all

    flat: Any = None  # the cost of each wrong answer and of a reject, where these alone decide: see `AnswerTable`

    @cached_property
    def unitless(self) -> NDArray[np.float64]:
        """The table in a unit of its own, so that a factor on all costs changes no cut, not even in the last digit."""
        return in_own_unit(self.values)

    def table(self) -> NDArray[np.float64]:
        """Return all costs, (n_classes, n_actions): of two classes rows -1, +1 and columns -1, 0 (reject), +1."""
        return self.values.copy()

    def of(self, truth: ArrayLike, choice: ArrayLike) -> NDArray[np.float64]:
        """Return the cost of each choice, an action, given the true class; with costs per row the last axis is rows."""
        at = np.asarray(truth, dtype=np.intp), np.asarray(choice, dtype=np.intp)
        return np.asarray(self.values[(np.arange(len(self.values)), *at)] if self.per_row else self.values[at])

    def take(self, rows: Any) -> Self:
        """Return the costs of these rows; without costs per row, the same for all."""
        return self.with_values(self.values[rows]) if self.per_row else self

    def means(self, probability: NDArray[np.float64], *, unitless: bool = False) -> NDArray[np.float64]:
        """Return the expected cost of each action, on the last axis, under the probabilities of all classes."""
        table = self.unitless if unitless else self.values
        return np.asarray(sum(probability[..., k, np.newaxis] * table[..., k, :] for k in range(self.n_classes)))

    def expected(self, probability: ArrayLike) -> NDArray[np.float64]:
        """Return the expected cost of each action, on the last axis, under probabilities of all classes on that axis.

        Of two classes, at each probability of the positive one; of named actions, of the last one.
        """
        P = np.asarray(probability, dtype=np.float64)
        first_is_positive = self.pair and self.answers[-1] == 0
        P = np.stack([P, 1.0 - P] if first_is_positive else [1.0 - P, P], axis=-1) if self.n_classes == 2 else P
        return self.means(P)

    @property
    def among(self) -> NDArray[np.intp]:
        """The actions of a forced choice: those that do not hand the case on, or all if all do."""
        return np.flatnonzero(self.rejecting if self.rejecting.all() else ~self.rejecting)

    def levels(self, *, forced: bool = False) -> Levels:
        """Return the cheapest action of two classes on the log-odds of the last; with `forced`, of the answers."""
        return self._both_levels[int(forced)]

    @cached_property
    def _both_levels(self) -> tuple[Levels, ...]:
        kinds = range(self.n_actions), self.among.tolist()
        return tuple(envelope(self.unitless, self.rejecting, among) for among in kinds)

    @property
    def can_hand_on(self) -> Any:
        """Whether an action that hands the case on is ever the cheapest; of two classes with costs per row, by row."""
        if self.n_classes > 2:
            return any(self.hands_on)
        found = self.rejecting[np.asarray(self.levels().choices)].any(axis=-1)
        return found if self.per_row else bool(found)

    @property
    def stakes(self) -> NDArray[np.float64]:
        """How much depends on the decision on each row: sum over true classes of the worst answer - the best action."""
        span = self.values[..., self.among].max(axis=-1) - self.values.min(axis=-1)
        return np.asarray(span.sum(axis=-1))

    def cheapest(self, probability: NDArray[np.float64], *, forced: bool = False) -> NDArray[np.intp]:
        """Return the action of least expected cost; ties go to the answers, then to the first.

        Probabilities that are nan, of scores so large that they overflow, hand the case on unless `forced`.
        """
        order = self.among if forced else np.argsort(self.rejecting, kind="stable")
        at = order[np.argmin(self.means(probability, unitless=True)[..., order], axis=-1)]
        if forced or not any(self.hands_on):
            return np.asarray(at)
        return np.where(np.isnan(probability).any(axis=-1), self.hands_on.index(True), at)

    def labels_of(self, y: ArrayLike, *, pos_label: Any = None, reject_label: Any = "auto", rejects: bool) -> Labels:
        """Return the labels of y, with what is predicted for each action."""
        return Labels.of(y, pos_label=pos_label, reject_label=reject_label, rejects=rejects)

    def named(self, labels: Labels) -> "CostTable":
        """Return the costs for these classes, with a row for each in their order; they must be those that y has."""
        self.check_names(tuple(labels.classes.tolist()))
        return self

    def with_reject(self, reject: Any) -> "CostTable":  # noqa: ARG002
        """Return the costs with another cost of rejecting; an error where there is not one reject."""
        raise ValueError(f"costs must be a Costs, whose reject cost is varied, not {self!r}.")

    def in_words(self) -> str:
        """Return the costs in a few words."""
        return repr(self)

    def check_rows(self, values: NDArray[np.float64], known: list[Any], actions: list[Any]) -> None:
        """Raise an error for costs of rows that the costs of all could not be."""

    def as_rows(self) -> NDArray[np.float64]:
        """Return the costs of rows as `row_table` reads them."""
        return self.values

    def plain(self, *, same: bool = True) -> "CostTable":  # noqa: ARG002
        """Return the costs as users state them; named actions know no positive class."""
        return self

    def check_names(self, known: tuple[Any, ...]) -> None:
        """Raise an error unless the costs name exactly these classes."""
        own = self.labels or ()
        if unknown := [label for label in known if label not in own]:
            raise ValueError(
                f"costs={self!r} name the classes {[*own]}, but y has {unknown[0]!r}; name exactly the classes of y."
                + (f" {ENCODED}" if known == (*range(len(known)),) else "")
            )
        if missing := [label for label in own if label not in known]:
            raise ValueError(
                f"costs={self!r} name the class {missing[0]!r}, but y has {[*known]}; name exactly the classes of y, "
                "or add rows of that class."
            )

    def mean_cost(
        self,
        y_true: ArrayLike,
        y_pred: Any,
        *,
        pos_label: Any = None,
        reject_label: Any = "auto",
        sample_weight: ArrayLike | None = None,
    ) -> float:
        """Return the mean cost of the decisions, rejects included.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,)
            True labels.
        y_pred : array-like of shape (n_samples,), or Decisions
            Predicted labels, with `reject_label` for rejected rows, or the names of actions, or what `decide` returns.
        pos_label : label, default=None
            The positive class of two. If None, that of the costs or of the decisions, else the larger of the two.
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
        pairs = read_pairs(y_true, y_pred, pos_label, reject_label, known=self.labels, names=self.names)
        if pairs.labels.n_classes == 2 and not isinstance(getattr(y_pred, "labels", None), Labels):
            warn_if_assumed(self, y_true, pos_label)
        return mean_price(self.named(pairs.labels).of(pairs.truth, pairs.choice), sample_weight)
