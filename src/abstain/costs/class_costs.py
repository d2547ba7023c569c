r"""Costs of answers and rejects for any number of classes, and Bayes' rule for them.

::

    cost of answering k when j is true    errors[j, k], 0 if j = k
    cost of rejecting when j is true      reject[j]

Under probabilities P, the cheapest action is to answer the k of least sum_j P_j errors[j, k], or to reject, at
sum_j P_j reject[j].
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abstain.arguments import mean_price, positive_number
from abstain.class_labels import read_classes
from abstain.costs.cost_tables import CostTable, in_own_unit, named_rejects
from abstain.html import html_table

__all__ = ["ClassCosts"]

_EQUALITY = 1e-9  # a largest scale of the reject costs this close to 1 counts as 1: nothing is ever rejected
_SPAN = 1e15  # of the costs: beyond it, rounding decides which action is the cheapest


@dataclass(frozen=True, repr=False)
class ClassCosts:
    """The cost of each answer and of a reject, given the true class; made by `Costs.from_table` and `from_matrix`.

    Parameters
    ----------
    labels : tuple
        The classes, sorted.
    errors : tuple of tuples of float
        Rows truth, columns answer; 0 on the diagonal, positive elsewhere.
    reject : float or tuple of float
        The cost of rejecting: one value, or one for each true class.

    Examples
    --------
    >>> from abstain import Costs
    >>> table = {"cat": {"dog": 1, "fox": 4}, "dog": {"cat": 1, "fox": 4}, "fox": {"cat": 2, "dog": 2}}
    >>> costs = Costs.from_table(table, reject=0.5)
    >>> costs.mean_cost(["cat", "dog", "fox"], ["fox", "reject", "fox"])
    1.5
    """

    labels: tuple[Any, ...]
    errors: tuple[tuple[float, ...], ...]
    reject: float | tuple[float, ...] = 0.5

    def __post_init__(self) -> None:
        pairs = zip(self.labels, self.errors, strict=True)
        rows = {label: dict(zip(self.labels, row, strict=True)) for label, row in pairs}
        read = CostTable.of(rows)
        if read.labels != tuple(self.labels):
            raise ValueError(f"labels={self.labels!r} must be sorted; Costs.from_table takes classes in any order.")
        reject = named_rejects(self.reject, read.labels, read.labels)
        if isinstance(reject, tuple) and len(set(reject)) == 1:
            reject = reject[0]  # equal costs are stored as one number, however they were given
        object.__setattr__(self, "labels", read.labels)
        object.__setattr__(self, "errors", tuple(map(tuple, read.errors.tolist())))
        object.__setattr__(self, "reject", reject)
        off = self._ratios[~np.eye(len(read.labels), dtype=bool)]
        if not off.max() <= _SPAN * off.min():
            raise ValueError(
                f"the errors, in units of the reject cost of the true class, differ by a factor of more than {_SPAN:g},"
                f" from {off.min():.3g} to {off.max():.3g} of the largest; state costs that differ by less."
            )
        scale = self.largest_scale
        if scale < 1.0 - _EQUALITY:
            largest = (
                f"cost allowed is {scale * reject:.12g}"
                if not isinstance(reject, tuple)
                else f"costs in this ratio are {tuple(float(f'{scale * one:.12g}') for one in reject)}"
            )
            raise ValueError(
                f"reject={self.reject} can never pay: whatever the probabilities of the {len(self.labels)} classes, "
                f"one of the answers is cheaper. The largest reject {largest}."
            )

    @classmethod
    def of(cls, table: CostTable, reject: Any, order: Sequence[Any] | None = None) -> ClassCosts:
        """Make the costs of a table; a sequence of reject costs has the order of `order`."""
        return cls(table.labels, tuple(map(tuple, table.errors.tolist())), named_rejects(reject, table.labels, order))

    @classmethod
    def even(cls, labels: tuple[Any, ...], error: float, reject: float) -> ClassCosts:
        """Make the costs of classes that all have the same error and reject cost."""
        errors = error * (1.0 - np.eye(len(labels)))
        return cls(labels, tuple(map(tuple, errors.tolist())), positive_number("reject", reject))

    def __repr__(self) -> str:
        table = {
            truth: {answer: cost for answer, cost in zip(self.labels, row, strict=True) if answer != truth}
            for truth, row in zip(self.labels, self.errors, strict=True)
        }
        reject = dict(zip(self.labels, self.reject, strict=True)) if isinstance(self.reject, tuple) else self.reject
        return f"Costs.from_table({table}, reject={reject})"

    def _repr_html_(self) -> str:
        """Return the costs as a table, for notebooks."""
        columns = ("true class", *(f"decided {label}" for label in self.labels), "rejected")
        rows = [(name, *costs) for name, costs in zip(self.labels, self.table().tolist(), strict=True)]
        return html_table("Cost of each decision", columns, rows)

    @property
    def rejects(self) -> bool:
        """Whether rejecting ever pays; False if some answer is always as cheap."""
        return self.largest_scale > 1.0 + _EQUALITY

    @property
    def reject_costs(self) -> NDArray[np.float64]:
        """The cost of rejecting for each true class, shape (n_classes,)."""
        return np.broadcast_to(np.asarray(self.reject, dtype=np.float64), len(self.labels)).copy()

    @property
    def answer_costs(self) -> NDArray[np.float64] | None:
        """The cost of each wrong answer if it does not depend on the true class, shape (n_classes,); else None."""
        table, n = np.array(self.errors), len(self.labels)
        off = table.T[~np.eye(n, dtype=bool)].reshape(n, n - 1)
        return off[:, 0].copy() if (off == off[:, :1]).all() else None

    @property
    def symmetric(self) -> bool:
        """Whether all wrong answers cost the same, and all rejects."""
        errors = self.answer_costs
        return errors is not None and bool((errors == errors[0]).all()) and not isinstance(self.reject, tuple)

    @property
    def cuts(self) -> NDArray[np.float64] | None:
        """Bayes' cuts on the log-odds of each class, where at most one class can pass its own; else None.

        ::

            answer k  if  P_k > 1 - reject / e_k,     e_k the cost of the wrong answer k,  reject < e_k / 2
        """
        errors = self.answer_costs
        if errors is None or isinstance(self.reject, tuple) or not (self.reject < 0.5 * errors).all():
            return None
        table, n = self.unitless, len(self.labels)
        wrong, reject = table[:, :-1].T[~np.eye(n, dtype=bool)].reshape(n, n - 1)[:, 0], table[0, -1]
        return np.asarray(np.log((wrong - reject) / reject))

    def tangents(self, k: int) -> list[float]:
        """Log-odds of class k between which answering k turns from more expensive than rejecting to cheaper.

        ::

            P_k reject_k = (1 - P_k) (errors[j, k] - reject_j)      if the rest of the mass is on j

        The least and the largest over j; 0 if answering k never costs more than rejecting.
        """
        table = self.unitless
        reject = table[:, -1]
        more = np.delete(table[:, k] - reject, k)
        at = np.log(more[more > 0]) - np.log(reject[k])
        return sorted({float(at.min()), float(at.max())}) if len(at) else [0.0]

    def table(self) -> NDArray[np.float64]:
        """Return all costs, (n_classes, n_classes + 1): rows true class, columns answer, reject the last one."""
        return np.column_stack([np.array(self.errors), self.reject_costs])

    @property
    def unitless(self) -> NDArray[np.float64]:
        """The table in a unit of its own, the same to the last bit for costs that differ by a factor."""
        return in_own_unit(self.table())

    def cheapest(self, probability: NDArray[np.float64], *, forced: bool = False) -> NDArray[np.intp]:
        """Return the choice of least expected cost: 1 to n, or 0 = reject, unless forced. Ties go to the answers.

        Probabilities that are nan, of scores so large that they overflow, are a reject.
        """
        n = len(self.labels)
        at = np.argmin((probability @ self.unitless)[..., : n if forced else n + 1], axis=-1)
        unknown = np.isnan(probability).any(axis=-1) & (not forced)
        return np.where(unknown | (at == n), 0, at + 1)

    def prices(self, truth: ArrayLike, choice: ArrayLike) -> NDArray[np.float64]:
        """Return the cost of each choice (1 to n, 0 = reject) given the true class (1 to n)."""
        at = np.asarray(truth, dtype=np.intp) - 1, np.asarray(choice, dtype=np.intp) - 1  # -1 is the last column
        priced: NDArray[np.float64] = self.table()[at]
        return priced

    def expected(self, probability: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the expected cost of each answer and, last, of rejecting; probabilities are on the last axis."""
        return np.asarray(probability @ self.table())

    def mean_cost(
        self,
        y_true: ArrayLike,
        y_pred: Any,
        *,
        reject_label: Any = "auto",
        sample_weight: ArrayLike | None = None,
    ) -> float:
        """Return the mean cost of the predictions, rejects included.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,)
            True labels, of the classes that the costs name.
        y_pred : array-like of shape (n_samples,), or ClassDecisions
            Predicted labels, with `reject_label` for rejected rows, or what `decide` returns.
        reject_label : label or "auto", default="auto"
            The label of a reject in `y_pred`; "auto" derives it from the classes.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the mean.
        """
        truth, choice, _ = read_classes(y_true, y_pred, reject_label, self.labels)
        return mean_price(self.prices(truth, choice), sample_weight)

    @property
    def largest_scale(self) -> float:
        """Give the largest factor on the reject costs at which rejecting still pays for some probabilities.

        ::

            max s   s.t.   sum_j P_j errors[j, k] >= s for all k,   sum_j P_j reject_j = 1,   P >= 0

        With a[j, k] = errors[j, k] / reject_j, up to a unit, and x_j = P_j reject_j / s this is a covering problem::

            1 / s = min sum_j x_j   s.t.   sum_j x_j a[j, k] >= 1 for all k,   x >= 0

        It is solved in units in which the largest entry of each row and column is about 1: the solver's tolerances are
        absolute, and costs may differ by many powers of ten.
        """
        from scipy.optimize import linprog  # slow to import, and only costs of several classes need it

        a = self._ratios
        by_truth = a.max(axis=1)
        by_answer = (a / by_truth[:, np.newaxis]).max(axis=0)
        cover = (a / by_truth[:, np.newaxis] / by_answer).T
        found = linprog(by_truth.max() / by_truth, -cover, -1.0 / by_answer, bounds=(0.0, None))
        return float(by_truth.max() / found.fun) * (float(np.max(self.errors)) / float(self.reject_costs.min()))

    @property
    def _ratios(self) -> NDArray[np.float64]:
        """The errors in units of the reject cost of the true class, as shares of a bound of the largest."""
        reject = self.reject_costs
        return np.asarray(np.array(self.errors) / np.max(self.errors) * (reject.min() / reject)[:, np.newaxis])
