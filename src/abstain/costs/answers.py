"""The table of costs whose actions are the answers, one for each class, and a reject."""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from abstain.costs.reading import SCALE
from abstain.costs.table import CostTable
from abstain.labels import Labels

MOST = 6  # classes or actions named in a sentence


class AnswerTable(CostTable):
    """What each answer and a reject cost, given the true class: two classes in the order negative, reject, positive."""

    verb = "deciding"

    @classmethod
    def blank(cls, labels: Labels) -> Self:
        """Return the table of the answers and a reject of these classes, without costs: those of rows come later."""
        named = tuple(labels.classes.tolist()) if labels.n_classes > 2 else None
        values = np.full((labels.n_classes, len(labels.answers)), np.nan)
        return object.__new__(cls).filled(named, labels.answers, values)

    @property
    def symmetric(self) -> bool:
        """Whether all errors cost the same and all rejects, so that the classes may be exchanged."""
        return bool(self.even_rows.all())

    @property
    def even_rows(self) -> NDArray[np.bool_]:
        """Whether the answers and rejects of each row cost the same for all classes; of one table a single value."""
        same = (self.wrong == self.wrong[..., :1]).all(axis=-1)
        return np.asarray(same & (self.reject_costs == self.reject_costs[..., :1]).all(axis=-1))

    @property
    def flat(self) -> tuple[NDArray[np.float64], float] | None:
        """The cost e_k of each wrong answer k, whatever is true, and that of a reject, in their own unit.

        None for other costs, for rejects that cost half of some e_k or more, and for costs per row.
        """
        if self.per_row:
            return None
        n, off = self.n_classes, ~np.eye(self.n_classes, dtype=bool)
        wrong, reject = self.errors.T[off].reshape(n, n - 1), self.reject_costs
        if (wrong != wrong[:, :1]).any() or (reject != reject[0]).any() or not (reject[0] < 0.5 * wrong[:, 0]).all():
            return None
        of_class = self.unitless[:, [self.answers.index(k) for k in range(n)]]
        return of_class.T[off].reshape(n, n - 1)[:, 0], float(self.unitless[0, self.hands_on.index(True)])

    @property
    def can_hand_on(self) -> Any:
        """Whether rejecting ever pays; of two classes with costs per row, by row."""
        in_closed_form = self.n_classes == 2 or self.per_row
        return super().can_hand_on if in_closed_form else self.largest_scale > 1.0 + SCALE  # type: ignore[attr-defined]

    rejects = can_hand_on

    def named(self, labels: Labels) -> CostTable:
        """Return the costs for these classes, with a row for each in their order; they must be those that y has."""
        known = tuple(labels.classes.tolist())
        if self.labels is not None:
            self.check_names(known)
            if self.n_classes > 2:
                return self
            return self.with_values(self.values[..., :: labels.orientation], labels.answers)
        if len(known) == self.n_classes:
            turned = labels.answers != self.answers
            return self.with_values(self.values[..., ::-1, :], labels.answers) if turned else self
        if not self.symmetric:
            raise ValueError(
                f"costs={self!r} differ between a positive and a negative class, but y has {len(known)} classes; name "
                "them all: Costs.from_table({truth: {answer: cost}}, reject=...). "
                "Only binary classification is supported with costs by side."
            )
        errors = self.errors[0, 1] * (1.0 - np.eye(len(known)))  # all cost the same, and all rejects
        values = np.column_stack([errors, np.full(len(known), self.reject_costs[0])])
        return object.__new__(type(self)).filled(known, labels.answers, values)

    def check_rows(self, values: NDArray[np.float64], known: list[Any], actions: list[Any]) -> None:
        """Raise an error unless correct answers cost 0 and all others more, as in `Costs`."""
        truth, action = np.indices(values.shape[1:])
        correct = np.array(self.answers)[action] == truth
        if (values[:, correct] != 0).any() or (values[:, ~correct] <= 0).any():
            raise ValueError(
                f"row_costs must be 0 for correct answers, and positive for other answers and for rejects, of the "
                f"classes {known} and the actions {actions}, an array in this order; subtract from each class's costs "
                "that of its correct answer."
            )

    def in_words(self) -> str:
        """Return the costs in a few words."""
        mean = self.with_values(self.values.mean(axis=0)) if self.per_row else self
        if self.n_classes == 2:
            wrong, missed, *rejects = (float(cost) for cost in mean.of_two)
            reject = " / ".join(f"{cost:g}" for cost in dict.fromkeys(rejects))
            words = f"false positive {wrong:g}, false negative {missed:g}, reject {reject}"
        else:
            words = f"error {_range(mean.wrong)}, reject {_range(mean.reject_costs)}"
        return f"each row has its own costs: {words} on average" if self.per_row else words

    def facts(self) -> dict[str, Any]:
        """Return the costs by name, as the command line prints them."""
        reject = {"reject costs": self.reject}  # type: ignore[attr-defined]
        if self.n_classes == 2:
            wrong, missed, *_ = (float(cost) for cost in self.of_two)
            return {"false positive costs": wrong, "false negative costs": missed} | reject
        low, high = float(self.wrong.min()), float(self.wrong.max())
        return {"error costs": low if low == high else f"{_range(self.wrong)}, by class"} | reject

    def as_rows(self) -> NDArray[np.float64]:
        """Return the costs of rows as `row_table` reads them; of two classes those of `of_two`."""
        return np.column_stack(self.of_two) if self.n_classes == 2 else self.values

    @property
    def of_two(self) -> tuple[Any, ...]:
        """c_fp, c_fn, r_neg and r_pos of two classes, of each row with costs per row."""
        cells = ((0, 2), (-1, 0), (0, 1), (-1, 1))
        return tuple(self.values[..., self.answers[truth], action] for truth, action in cells)

    @property
    def wrong(self) -> NDArray[np.float64]:
        """The costs of all errors."""
        return np.asarray(self.errors[..., ~np.eye(self.n_classes, dtype=bool)])


def _range(values: NDArray[np.float64]) -> str:
    low, high = values.min(), values.max()
    return f"{low:g}" if low == high else f"{low:g} to {high:g}"
