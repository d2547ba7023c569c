"""The training rows of a machine of any number of classes: checked, weighted, and posed as a list of tasks."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abstain.arguments import row_weights
from abstain.costs.per_row import row_table
from abstain.costs.table import CostTable
from abstain.dual.problem import DualProblem
from abstain.dual.tasks import Loss, Task, tasks
from abstain.estimators.fitting.implied import check_costs, implied, of_rows, warn_of_sides
from abstain.estimators.fitting.kernel_rows import checked_rows
from abstain.estimators.fitting.posing import Posed, posed_rows, resolved_kernel
from abstain.kernels import Kernel, Matrix

__all__ = ["Training"]


@dataclass(frozen=True, eq=False)
class Training:
    """Labelled rows, the training losses, and the rule that follows from them.

    Attributes
    ----------
    parameters : object
        Those of `RejectSVC`, as attributes.
    X : ndarray or CSR of shape (n_samples, n_features)
        The rows as given; the Gram matrix for a precomputed kernel.
    code : ndarray of intp, shape (n_samples,)
        The classes of the rows, 0 to n_classes - 1.
    sample_weight : ndarray of shape (n_samples,)
    losses : tuple of MarginLoss or LossTable
        See `tasks`.
    rule : Rule
    row_costs : CostTable or None
        The costs of each row, if rows have their own.
    stakes : ndarray of shape (n_samples,) or None
        Factors on C from the row costs.
    """

    parameters: Any
    X: Matrix
    code: NDArray[np.intp]
    sample_weight: NDArray[np.float64]
    losses: tuple[Loss, ...]
    rule: Any
    row_costs: CostTable | None = None
    stakes: NDArray[np.float64] | None = None

    @classmethod
    def of(
        cls,
        parameters: Any,
        X: Any,
        y: ArrayLike,
        sample_weight: Any,
        *,
        validator: Any,
        row_costs: Any = None,
        linear: bool = False,
    ) -> Self:
        """Check the arguments of a fit; `validator` is the estimator that scikit-learn's `validate_data` writes to.

        A `linear` machine reads rows in float32 as they are, and has a task for each class also without costs.
        """
        check_costs(parameters)  # bad costs are an error before X is checked
        dense = not callable(parameters.kernel) and Kernel(parameters.kernel).name == "precomputed"
        rows = checked_rows(validator, X, y, dense=dense, reset=True, single=linear)
        rule, losses = implied(parameters, y, linear=linear, by_row=row_costs is not None)
        warn_of_sides(parameters, rule)
        given = row_weights(sample_weight, rows.shape[0])
        weight = np.ones(rows.shape[0]) if given is None else given
        training = cls(parameters, rows, rule.labels.encode(y), weight, losses, rule)
        if row_costs is None:
            return training
        own = row_table(row_costs, rule.labels, rule.costs, rows.shape[0])
        stakes, tables = of_rows(parameters, rule, own, training.code, weight)
        return replace(training, losses=tables, row_costs=own, stakes=stakes)

    @property
    def n_classes(self) -> int:
        """The number of classes."""
        return self.rule.labels.n_classes

    @cached_property
    def tasks(self) -> list[Task]:
        """The binary tasks: one for two classes, one for each class, or one for each pair of classes."""
        return tasks(self.n_classes, self.losses, self.stakes)

    @property
    def largest_row_cost(self) -> float | None:
        """The largest cost of a row, if rows have costs of their own."""
        return None if self.row_costs is None else float(self.row_costs.values.max())

    def weights(self, C: float, trains: NDArray[np.int32] | None = None) -> NDArray[np.float64]:
        """Return C s_i for each row, including class weights; an error if the sum of the losses would overflow.

        With `trains`, rows count as often as it says, and those that it does not mark have weight 0. The stakes of a
        task are not included.
        """
        used = self.sample_weight if trains is None else self.sample_weight * trains
        with np.errstate(over="ignore"):
            weight = C * used * self._class_weights(used)[self.code]
            staked = weight if self.stakes is None else weight * self.stakes
            total = float(np.sum(staked) * max(loss.steepest for loss in self.losses))
        if not np.isfinite(total):
            raise ValueError(
                f"C={C:g} times the weights (largest sample_weight {self.sample_weight.max():g}) overflows; "
                "lower C or divide the weights by their mean."
            )
        held = np.bincount(self.code, weights=weight, minlength=self.n_classes)
        if not held.all():
            label = self.rule.labels.classes.tolist()[int(np.argmin(held))]
            raise ValueError(
                f"all rows of the class {label!r} have weight zero, which leaves the class out; "
                "give at least one row of each class a sample_weight and a class_weight above zero."
            )
        return weight

    def _class_weights(self, used: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the weight of each class.

        "balanced" counts rows by their sample weights, so that a weight of 2 is the same as a repeated row.
        """
        class_weight, known = self.parameters.class_weight, self.rule.labels.classes.tolist()
        if class_weight is None:
            return np.ones(self.n_classes)
        if isinstance(class_weight, str):
            held = np.array([used[self.code == k].sum() for k in range(self.n_classes)])
            # 0 is reported by `weights`
            return np.divide(held.sum() / len(held), held, out=np.zeros(len(held)), where=held > 0)
        if unknown := [label for label in class_weight if label not in known]:
            raise ValueError(f"class_weight names {unknown!r}, which are not among the classes {known}.")
        found = np.array([float(class_weight.get(label, 1.0)) for label in known])
        if not (np.isfinite(found) & (found >= 0)).all():
            raise ValueError(f"class_weight must contain finite numbers >= 0, got {class_weight!r}.")
        return found

    def posed(self, C: float, gamma: float | str, *, all_rows: bool = False) -> Posed:
        """Pose the dual problem of the first task, on the rows with positive weight: other tasks have the same rows.

        With `all_rows`, rows of weight 0 are included: their coefficients stay 0, but they are scored like the others.
        """
        weight = self.weights(C)
        kept = np.arange(len(weight)) if all_rows else np.flatnonzero(weight)
        kernel = resolved_kernel(self.parameters, gamma, self.X, self.sample_weight)
        known, X, as_posed = posed_rows(kernel, self.X, kept)
        task, code = replace(self.tasks[0], negative=None).take(kept), self.code[kept]
        problem = DualProblem(known, X, task.sign(code), task.loss, task.weight(code, weight[kept]))
        return Posed(problem, self.X, kernel, kept, as_posed)
