"""The training rows of a machine: checked, weighted, and posed as the dual problem."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse

from abstain.arguments import row_weights
from abstain.costs.actions import Actions
from abstain.costs.costs import Costs, costs_of_classes, warn_if_assumed
from abstain.costs.row_costs import RowCosts
from abstain.dual.problem import DualProblem
from abstain.estimators.fitting.kernel_rows import checked_rows
from abstain.estimators.fitting.parameters import margin_loss, stated_costs
from abstain.estimators.fitting.row_training import with_row_costs
from abstain.kernels import Kernel, Matrix, called_kernel, resolve_gamma
from abstain.labels import Labels
from abstain.losses.loss_table import LossTable
from abstain.losses.margin_loss import MarginLoss
from abstain.machines.kernel_machine import KernelMachine
from abstain.rules.action_rule import ActionRule
from abstain.rules.rule import Rule, oriented_costs

__all__ = ["Posed", "Training", "implied_rule", "posed_rows", "resolved_kernel", "symmetric", "training_gram"]

ASYMMETRY = 1e-6  # largest |K_ij - K_ji|, relative to the largest entry, that counts as single-precision rounding
BLOCK = 1024
MOST_DENSE = 25_000_000  # entries of sparse rows that may be made dense: 200 MB
DENSE_SHARE = 0.05  # share of entries other than 0 from which dense rows are faster
CANCELLED = 1e-10  # largest cancellation error of a squared distance, relative to the kernel's width


@dataclass(frozen=True, eq=False)
class Training:
    """Labelled rows, the training loss, and the rule that follows from the loss.

    Attributes
    ----------
    parameters : object
        Those of `RejectSVC`, as attributes.
    X : ndarray or CSR of shape (n_samples, n_features)
        The rows as given; the Gram matrix for a precomputed kernel.
    sign : ndarray of int8, shape (n_samples,)
        +1 for ``classes[1]``, -1 for ``classes[0]``.
    sample_weight : ndarray of shape (n_samples,)
    loss : MarginLoss or LossTable
        With +1 for ``classes[1]``.
    rule : Rule, ActionRule or RowRule
    row_costs : RowCosts or None
        For the positive class.
    stakes : ndarray of shape (n_samples,) or None
        Factors on C from the row costs.
    """

    parameters: Any
    X: Matrix
    sign: NDArray[np.int8]
    sample_weight: NDArray[np.float64]
    loss: MarginLoss | LossTable
    rule: Any
    row_costs: RowCosts | None = None
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
        single: bool = False,
    ) -> Self:
        """Check the arguments of a fit; `validator` is the estimator that scikit-learn's `validate_data` writes to.

        With `single`, rows in float32 stay so.
        """
        margin_loss(stated_costs(parameters.costs), parameters.rule)  # bad costs are an error before X is checked
        named = None if callable(parameters.kernel) else Kernel(parameters.kernel)
        dense = named is not None and named.name == "precomputed"
        rows = checked_rows(validator, X, y, dense=dense, reset=True, single=single)
        rule, loss = implied_rule(parameters, y)
        if isinstance(parameters.costs, Costs):
            warn_if_assumed(parameters.costs, rule.labels.classes, parameters.pos_label)
        weight = row_weights(sample_weight, rows.shape[0])
        ones = np.ones(rows.shape[0])
        training = cls(parameters, rows, rule.labels.encode(y), ones if weight is None else weight, loss, rule)
        return training if row_costs is None else with_row_costs(training, RowCosts.of(row_costs, rows.shape[0]))

    @property
    def labels(self) -> Labels:
        """The classes and the reject label."""
        return self.rule.labels

    @property
    def costs(self) -> Costs | Actions | None:
        """The costs for the positive class."""
        return self.rule.costs

    def weights(self, C: float, trains: NDArray[np.uint8] | None = None) -> NDArray[np.float64]:
        """C s_i for each row, including class weights; an error if the sum of the losses would overflow.

        With `trains`, rows that it does not mark have weight 0 and do not count for "balanced".
        """
        if trains is not None:
            return replace(self, sample_weight=self.sample_weight * trains).weights(C)
        first, second = self._class_weights()
        with np.errstate(over="ignore"):
            weight = C * self.sample_weight * np.where(self.sign > 0, second, first)
            if self.stakes is not None:
                weight = weight * self.stakes
            total = float(np.sum(weight) * self.loss.steepest)
        if not np.isfinite(total):
            raise ValueError(
                f"C={C:g} times the weights (largest sample_weight {self.sample_weight.max():g}) overflows; "
                "lower C or divide the weights by their mean."
            )
        for label, code in zip(self.labels.classes.tolist(), (-1, 1), strict=True):
            if not weight[self.sign == code].any():
                raise ValueError(
                    f"all rows of the class {label!r} have weight zero, which leaves only one class; "
                    "give at least one row of each class a sample_weight and a class_weight above zero."
                )
        return weight

    def _class_weights(self) -> tuple[float, float]:
        """Weights of the two classes, in sorted order.

        "balanced" counts rows by their sample weights, so that a weight of 2 is the same as a repeated row.
        """
        class_weight, known = self.parameters.class_weight, self.labels.classes.tolist()
        if class_weight is None:
            return 1.0, 1.0
        if isinstance(class_weight, str):
            first, second = (float(self.sample_weight[self.sign == code].sum()) for code in (-1, 1))
            half = (first + second) / 2
            return half / first if first else 0.0, half / second if second else 0.0  # 0 is reported by `weights`
        if unknown := [label for label in class_weight if label not in known]:
            raise ValueError(f"class_weight names {unknown!r}, which are not among the classes {known}.")
        first, second = (float(class_weight.get(label, 1.0)) for label in known)
        if not (0 <= first < np.inf and 0 <= second < np.inf):
            raise ValueError(f"class_weight must contain finite numbers >= 0, got {class_weight!r}.")
        return first, second

    def posed(self, C: float, gamma: float | str, *, all_rows: bool = False) -> Posed:
        """Pose the dual problem of the rows with positive weight.

        With `all_rows`, rows of weight 0 are included: their coefficients stay 0, but they are scored like the others.
        """
        weight = self.weights(C)
        kept = np.arange(len(weight)) if all_rows else np.flatnonzero(weight)
        kernel = resolved_kernel(self.parameters, gamma, self.X, self.sample_weight)
        known, X, as_posed = posed_rows(kernel, self.X, kept)
        problem = DualProblem(known, X, self.sign[kept], self.loss.take(kept), weight[kept])
        return Posed(problem, self.X, kernel, kept, as_posed)


def posed_rows(
    kernel: Kernel | Callable[..., Any], X: Matrix, kept: NDArray[np.intp]
) -> tuple[Kernel, Matrix, bool]:
    """Give the kernel and the rows of a problem of some training rows, and whether the machine sees the same ones."""
    every = len(kept) == X.shape[0]
    if isinstance(kernel, Kernel) and kernel.name != "precomputed":
        rows = centrable(kernel, X if every else X[kept])
        dense = faster_dense(kernel, rows)
        return kernel, np.ascontiguousarray(rows.toarray()) if dense else rows, not dense
    gram = symmetric(*training_gram(kernel, X))
    rows = gram if every else np.ascontiguousarray(gram[np.ix_(kept, kept)])
    return Kernel("precomputed"), rows, gram is X


def implied_rule(parameters: Any, y: ArrayLike) -> tuple[Rule | ActionRule, MarginLoss]:
    """Give the rule and the loss that follow from the costs and the classes of y."""
    costs = stated_costs(parameters.costs)
    pos_label, reject_label = parameters.pos_label, parameters.reject_label
    if isinstance(costs, Actions):
        return ActionRule.of(costs, y, pos_label, reject_label), margin_loss(costs, parameters.rule)
    labels = Labels.of(y, pos_label=pos_label, reject_label=reject_label, rejects=costs is not None)
    if costs is not None:
        costs, _ = costs_of_classes(costs, labels.classes, pos_label)
    loss = margin_loss(costs and oriented_costs(costs, labels), parameters.rule)
    return Rule.of_loss(loss, labels, costs), loss


@dataclass(frozen=True, eq=False)
class Posed:
    """The dual problem of some of the training rows.

    Attributes
    ----------
    problem : DualProblem
    X : ndarray or CSR
        All training rows as given.
    kernel : Kernel or callable
        The kernel; a callable kernel is precomputed in the problem.
    kept : ndarray of intp
        Indices of the training rows in the problem.
    as_posed : bool
        Whether the machine's kernel values on the training rows are those of the problem. A callable kernel may give
        others for (X, vectors) than for (X, X), a Gram matrix was averaged if it was not quite symmetric, and sparse
        rows may have been made dense for the solver.
    """

    problem: DualProblem
    X: Matrix
    kernel: Kernel | Callable[..., Any]
    kept: NDArray[np.intp]
    as_posed: bool

    def expansion(self, solved: KernelMachine, n_jobs: int | None) -> NDArray[np.float64]:
        """Give the sums of the problem's machine on the problem's rows, as `machine` predicts them."""
        if self.as_posed:
            return solved.expansion(self.problem.X, n_jobs)
        return self.machine(solved).expansion(self.X[self.kept], n_jobs)

    def machine(self, solved: KernelMachine) -> KernelMachine:
        """Give the machine of the problem with indices among all training rows."""
        support = self.kept[solved.support]
        as_given = not isinstance(self.kernel, Kernel) or (issparse(self.X) and not self.as_posed)
        vectors = self.X[support] if as_given else solved.vectors
        return replace(solved, kernel=self.kernel, vectors=vectors, support=support, n_rows=self.X.shape[0])

    def sets(self, codes: NDArray[np.int8]) -> NDArray[np.int8]:
        """Give the sets of all training rows; a row of weight 0 has coefficient 0."""
        everywhere = np.zeros(self.X.shape[0], dtype=np.int8)
        everywhere[self.kept] = codes
        return everywhere


def resolved_kernel(
    parameters: Any, gamma: float | str, X: Matrix, sample_weight: NDArray[np.float64] | None = None
) -> Kernel | Callable[..., Any]:
    """Give the kernel that an estimator's parameters name, with gamma as a number."""
    if callable(parameters.kernel):
        return parameters.kernel
    kernel = Kernel(parameters.kernel, coef0=float(parameters.coef0), degree=int(parameters.degree))
    return replace(kernel, gamma=resolve_gamma(gamma, X, sample_weight)) if kernel.formula.takes_gamma else kernel


def centrable(kernel: Kernel, X: Matrix) -> Matrix:
    """Make sparse rows dense if they are so far from the origin that distances are accurate only after centring.

    ::

        |x - y|^2 = |x|^2 - 2 x.y + |y|^2      loses eps max|x|^2, in units of 1 / gamma (of the variance if linear)

    Such rows have few zeros, so the dense matrix is not much larger. Dense rows are always centred.
    """
    if not issparse(X) or kernel.name not in ("linear", "rbf"):
        return X
    squares = Kernel("linear").diagonal(X)
    centre = np.asarray(X.mean(axis=0)).ravel()
    variance = float(squares.mean() - centre @ centre)
    scale = kernel.gamma if kernel.name == "rbf" else 1.0 / max(variance, np.finfo(np.float64).tiny)
    lost = np.finfo(np.float64).eps * float(squares.max(initial=0.0)) * scale
    return X if lost <= CANCELLED else np.ascontiguousarray(X.toarray())


def faster_dense(kernel: Kernel, X: Matrix) -> bool:
    """Whether the solver is faster on these sparse rows if they are made dense.

    It multiplies dense rows in single precision, many features at a time, and sparse ones entry by entry.
    """
    if not issparse(X) or not kernel.formula.native or kernel.name == "linear":  # sparse linear ones are fast enough
        return False
    n, d = X.shape
    return n * d <= MOST_DENSE and X.nnz >= DENSE_SHARE * n * d


def training_gram(kernel: Kernel | Callable[..., Any], X: Matrix) -> tuple[NDArray[np.float64], str]:
    """Give the Gram matrix of the training rows, given or computed by a callable kernel, and its name for errors."""
    if isinstance(kernel, Kernel):
        return (X, "X") if kernel.name == "precomputed" else (kernel(X), "kernel(X)")
    gram = np.require(called_kernel(kernel, X, X), requirements=["C", "A", "E"])
    if gram.shape != (X.shape[0], X.shape[0]):
        raise ValueError(
            f"kernel(X, X) must return one value per pair of rows, shape {(X.shape[0], X.shape[0])}, got {gram.shape}."
        )
    if not np.isfinite(gram).all():
        raise ValueError("kernel(X, X) returned NaN or infinity; a kernel must be finite on all pairs of rows.")
    return gram, "kernel(X, X)"


def symmetric(gram: NDArray[np.float64], name: str) -> NDArray[np.float64]:
    """Give the Gram matrix if it is square and symmetric, with rounding averaged out; otherwise an error."""
    if gram.shape[0] != gram.shape[1]:
        raise ValueError(
            f"{name} must be a square matrix of kernel values between the training rows, got shape {gram.shape}."
        )
    worst = 0.0
    for start in range(0, len(gram), BLOCK):
        rows = slice(start, start + BLOCK)
        worst = max(worst, float(np.abs(gram[rows] - gram[:, rows].T).max()))
    if worst == 0.0:
        return gram
    if not worst <= ASYMMETRY * float(np.abs(gram).max()):
        raise ValueError(
            f"{name} must be symmetric, but K[i, j] and K[j, i] differ by up to {worst:.3g}; "
            "a kernel has k(a, b) = k(b, a). Pass (K + K.T) / 2 if the difference is only rounding."
        )
    return 0.5 * gram + 0.5 * gram.T
