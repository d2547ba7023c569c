"""The training rows of machines for several classes, posed as dual problems over one kernel.

::

    without costs   one problem for each pair of classes, on the rows of the two, with the hinge: scikit-learn's `SVC`
    with costs      one problem for each class against the rest, with a loss tangent where answering it begins to pay
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from abstain.arguments import row_weights
from abstain.class_labels import ClassLabels, has_several_classes
from abstain.costs.actions import Actions
from abstain.costs.class_costs import ClassCosts
from abstain.costs.costs import costs_for_classes
from abstain.estimators.fitting.kernel_rows import checked_rows
from abstain.estimators.fitting.parameters import stated_costs
from abstain.estimators.fitting.training import Posed, Training
from abstain.kernels import Kernel, Matrix
from abstain.losses.hinge import hinge
from abstain.losses.margin_loss import MarginLoss
from abstain.losses.tangent_hinge import tangent_hinge
from abstain.machines.class_machine import class_pairs
from abstain.rules.class_rule import ClassRule, Ladder, VoteRule

__all__ = ["ClassTraining", "implied_class_rule", "posed_pair", "takes_classes"]

AnyRule = ClassRule | VoteRule


@dataclass(frozen=True, eq=False)
class ClassTraining:
    """Labelled rows of several classes, the training losses, and the rule that follows from them.

    Attributes
    ----------
    parameters : object
        Those of `RejectSVC`, as attributes.
    X : ndarray or CSR of shape (n_samples, n_features)
        The rows as given; the Gram matrix for a precomputed kernel.
    code : ndarray of intp, shape (n_samples,)
        The classes of the rows, 1 to n.
    sample_weight : ndarray of shape (n_samples,)
    losses : tuple of MarginLoss
        One for each class, or the hinge alone without costs.
    rule : ClassRule or VoteRule
    """

    parameters: Any
    X: Matrix
    code: NDArray[np.intp]
    sample_weight: NDArray[np.float64]
    losses: tuple[MarginLoss, ...]
    rule: AnyRule

    @classmethod
    def of(
        cls, parameters: Any, X: Any, y: ArrayLike, sample_weight: Any, *, validator: Any, single: bool = False
    ) -> Self:
        """Check the arguments of a fit; `validator` is the estimator that scikit-learn's `validate_data` writes to."""
        named = None if callable(parameters.kernel) else Kernel(parameters.kernel)
        dense = named is not None and named.name == "precomputed"
        rows = checked_rows(validator, X, y, dense=dense, reset=True, single=single)
        rule, losses = implied_class_rule(parameters, y)
        weight = row_weights(sample_weight, rows.shape[0])
        ones = np.ones(rows.shape[0])
        return cls(parameters, rows, rule.labels.encode(y), ones if weight is None else weight, losses, rule)

    @property
    def n_classes(self) -> int:
        """The number of classes."""
        return self.rule.labels.n_classes

    @property
    def one_vs_rest(self) -> bool:
        """Whether there is a machine for each class; otherwise for each pair of classes."""
        return isinstance(self.rule, ClassRule)

    def weights(self, C: float, trains: NDArray[np.uint8] | None = None) -> NDArray[np.float64]:
        """C s_i for each row, including class weights; rows that `trains` does not mark have weight 0."""
        used = self.sample_weight if trains is None else self.sample_weight * trains
        steepest = max(loss.steepest for loss in self.losses)
        with np.errstate(over="ignore"):
            weight = C * used * self._class_weights(used)[self.code - 1]
            total = float(np.sum(weight) * steepest)
        if not np.isfinite(total):
            raise ValueError(
                f"C={C:g} times the weights (largest sample_weight {self.sample_weight.max():g}) overflows; "
                "lower C or divide the weights by their mean."
            )
        held = np.bincount(self.code - 1, weights=weight, minlength=self.n_classes)
        if not held.all():
            label = self.rule.labels.classes.tolist()[int(np.argmin(held))]
            raise ValueError(
                f"all rows of the class {label!r} have weight zero, which leaves the class out; "
                "give at least one row of each class a sample_weight and a class_weight above zero."
            )
        return weight

    def _class_weights(self, used: NDArray[np.float64]) -> NDArray[np.float64]:
        class_weight, known = self.parameters.class_weight, self.rule.labels.classes.tolist()
        if class_weight is None:
            return np.ones(self.n_classes)
        if isinstance(class_weight, str):
            held = np.bincount(self.code - 1, weights=used, minlength=self.n_classes)
            return np.divide(held.sum() / len(held), held, out=np.zeros(len(held)), where=held > 0)
        if unknown := [label for label in class_weight if label not in known]:
            raise ValueError(f"class_weight names {unknown!r}, which are not among the classes {known}.")
        found = np.array([float(class_weight.get(label, 1.0)) for label in known])
        if not (np.isfinite(found) & (found >= 0)).all():
            raise ValueError(f"class_weight must contain finite numbers >= 0, got {class_weight!r}.")
        return found

    def shared(self, C: float, gamma: float | str, *, all_rows: bool = False) -> Posed:
        """Pose the first class against the rest: the rows and the kernel that all problems share."""
        weight, loss = self.weights(C), self.losses[0]
        rule: Any = self.rule
        first = _Weighted(self.parameters, self.X, self.sign(0), self.sample_weight, loss, rule, row_weight=weight)
        return first.posed(1.0, gamma, all_rows=all_rows)

    def problems(self, shared: Posed) -> list[Posed]:
        """Pose the problems of the classes, which share their rows, or of the pairs, each on the rows of its two."""
        if self.one_vs_rest:
            signs = (self.sign(k)[shared.kept] for k in range(self.n_classes))
            whole = shared.problem
            return [
                replace(shared, problem=replace(whole, sign=sign, loss=loss))
                for sign, loss in zip(signs, self.losses, strict=True)
            ]
        rows = [np.flatnonzero(self.code[shared.kept] == k + 1) for k in range(self.n_classes)]
        return [posed_pair(shared, rows[i], rows[j]) for i, j in class_pairs(self.n_classes)]

    def sign(self, k: int) -> NDArray[np.int8]:
        """+1 for the rows of the k-th class, from 0, and -1 for the others."""
        return np.where(self.code == k + 1, 1, -1).astype(np.int8)


@dataclass(frozen=True, eq=False)
class _Weighted(Training):
    """Training rows whose weights at C = 1 are given."""

    row_weight: NDArray[np.float64] = field(default_factory=lambda: np.ones(0))

    def weights(self, C: float, trains: NDArray[np.uint8] | None = None) -> NDArray[np.float64]:
        del trains
        return C * self.row_weight


def posed_pair(shared: Posed, first: NDArray[np.intp], second: NDArray[np.intp]) -> Posed:
    """Pose the problem of two classes, the first of them +1 as in `SVC`, on their rows only."""
    whole, rows = shared.problem, np.concatenate([first, second])
    gram = whole.kernel.name == "precomputed"
    X = np.ascontiguousarray(whole.X[np.ix_(rows, rows)]) if gram else whole.X[rows]
    sign = np.repeat(np.array([1, -1], dtype=np.int8), [len(first), len(second)])
    problem = replace(whole, X=X, sign=sign, weight=whole.weight[rows])
    return replace(shared, problem=problem, kept=shared.kept[rows])


def takes_classes(parameters: Any, y: Any) -> bool:
    """Whether a fit is one of several classes: by y, or by costs that name more than two."""
    return isinstance(parameters.costs, ClassCosts) or has_several_classes(y)


def refuse_row_costs(row_costs: Any) -> None:
    """Raise an error if rows have costs of their own, which are for two classes."""
    if row_costs is not None:
        raise ValueError(
            "row_costs is for two classes, and y or the costs have more; leave it out, and state a cost for each pair "
            "of classes with Costs.from_table({truth: {answer: cost}}, reject=...)."
        )


def implied_class_rule(parameters: Any, y: ArrayLike) -> tuple[AnyRule, tuple[MarginLoss, ...]]:
    """Give the rule and the losses that follow from the costs and the classes of y."""
    costs: Any = parameters.costs
    if isinstance(costs, Actions):
        raise ValueError(  # noqa: TRY004 (a value that does not fit the classes of y)
            f"costs has actions for the two classes {list(costs.labels)}, and y has more; for these use "
            "Costs.from_table({truth: {answer: cost}}, reject=...)."
        )
    if not isinstance(costs, ClassCosts):
        costs = stated_costs(costs)
    labels = ClassLabels.of(y, reject_label=parameters.reject_label, rejects=costs is not None)
    if parameters.pos_label is not None:
        raise ValueError(
            f"pos_label={parameters.pos_label!r} is for two classes, and y has {labels.n_classes}; leave it out, and "
            "name the classes in the costs if they differ: Costs.from_table({truth: {answer: cost}}, reject=...)."
        )
    if not (isinstance(parameters.rule, str) and parameters.rule == "chow"):
        raise ValueError(f'rule={parameters.rule!r} is for two classes, and y has {labels.n_classes}; use rule="chow".')
    if costs is None:
        return VoteRule(labels), (hinge(),)
    named = costs_for_classes(costs, labels.classes)
    losses = tuple(tangent_hinge(named.tangents(k)) for k in range(labels.n_classes))
    return ClassRule(labels, named, tuple(map(ladder, losses)), named.cuts), losses


def ladder(loss: MarginLoss) -> Ladder:
    """Give the probability as a function of the score of a machine with this loss: see `Ladder`."""
    low, high = -loss.negative.knots[-1], loss.positive.knots[-1]
    ends = (loss.thresholds.lower, loss.thresholds.upper) if loss.thresholds.rejects else (loss.thresholds.lower,)
    inner = [(t, float(1.0 / (1.0 + np.exp(-t)))) for t in ends]
    scores, probabilities = zip((low, 0.0), *inner, (high, 1.0), strict=True)
    return Ladder(scores, probabilities)
