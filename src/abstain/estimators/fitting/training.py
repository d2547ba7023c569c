"""What follows from parameters, rows and labels: the rule, the losses, and the training as a list of tasks."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils._param_validation import InvalidParameterError

from abstain.arguments import checked_costs, row_weights, significant
from abstain.compressed import checked_rows
from abstain.costs.per_row import row_table, warn_if_never
from abstain.costs.table import CostTable
from abstain.dual.problem import DualProblem, Loss, Task, tasks
from abstain.estimators.fitting.posing import Posed, posed_rows, resolved_kernel
from abstain.kernels import Kernel, Matrix
from abstain.labels import Labels, warn_if_assumed
from abstain.losses.generalized_hinge import BartlettWegkamp
from abstain.losses.margin_loss import LossTable, MarginLoss
from abstain.losses.tangent_hinge import hinge, row_losses, task_losses, task_tangents
from abstain.rules.class_deciders import Confidence
from abstain.rules.rule import Rule, bayes_rule

_RULES = {"chow": None, "bartlett-wegkamp": BartlettWegkamp()}


def check_costs(parameters: Any) -> None:
    """Raise an error for costs, or a rule, that no y could make right."""
    costs, rule = _stated(parameters.costs), _other_rule(parameters)
    if rule is None:
        return
    if costs is None:
        raise ValueError(
            f"rule={parameters.rule!r} needs costs, got costs=None; state them, as in costs=Costs(reject=0.3)."
        )
    if not costs.pair:
        raise ValueError(f'rule={parameters.rule!r} is for two answers and a reject; use rule="chow" for these costs.')
    rule.loss(costs)


def implied(
    parameters: Any, y: ArrayLike, *, linear: bool = False, by_row: bool = False
) -> tuple[Rule, tuple[MarginLoss, ...]]:
    """Return the rule and the losses that follow from the costs and the classes of y.

    There is one loss for two classes, one for each of several classes, or one for all their pairs, which a machine
    without costs has unless it is `linear`. With `by_row`, the rows have costs of their own: see `of_rows`.
    """
    costs, other = _stated(parameters.costs), _other_rule(parameters)
    labels = fit_labels(parameters, y, costs, rejects=costs is not None or by_row)
    n = labels.n_classes
    if other is not None and (by_row or n > 2):
        why = "row_costs needs" if by_row else f"y has {n} classes, which need"
        only = "" if n == 2 else " Only binary classification is supported with this rule."
        raise ValueError(f'{why} rule="chow", got rule={parameters.rule!r}; leave rule out.{only}')
    if costs is None:
        if by_row:
            return bayes_rule(None, labels, by_row=True), (hinge(),) * (1 if n == 2 else n)
        found = bayes_rule(None, labels, hinge())
        if not linear or n == 2:
            return found, (hinge(),)
        return replace(found, decider=Confidence(np.full(n, -np.inf))), (hinge(),) * n
    named = costs.named(labels)
    if other is not None:
        loss = other.loss(named)
        return bayes_rule(named, labels, loss), (loss,)
    return bayes_rule(named, labels, by_row=by_row), task_losses(named)


def fit_labels(parameters: Any, y: ArrayLike, costs: CostTable | None, *, rejects: bool) -> Labels:
    """Return the labels, as the `pos_label` and `reject_label` of the parameters say."""
    of = Labels.of if costs is None else costs.labels_of
    return of(y, pos_label=parameters.pos_label, reject_label=parameters.reject_label, rejects=rejects)


def _stated(costs: Any) -> CostTable | None:
    return None if costs is None else checked_costs(costs, "RejectSVC({}), or give C by name: RejectSVC(C=...)")


def _other_rule(parameters: Any) -> Any:
    """Return the rule if it is not Chow's: any value with a method ``loss(costs)`` that returns a `MarginLoss`."""
    rule = parameters.rule
    if isinstance(rule, str) and rule in _RULES:
        return _RULES[rule]
    if isinstance(rule, str | type) or not callable(getattr(rule, "loss", None)):
        raise InvalidParameterError(
            f'rule must be "chow", "bartlett-wegkamp" or a BartlettWegkamp(delta), not {rule!r}.'
        )
    return rule


def warn_of_sides(parameters: Any, rule: Rule) -> None:
    """Warn if the costs differ by class, and which class is positive was only assumed."""
    if parameters.costs is not None and rule.labels.n_classes == 2:
        warn_if_assumed(parameters.costs, rule.labels.classes, parameters.pos_label)


def unit_of_stakes(rule: Rule) -> float | None:
    """Return the stake of the costs, as which 1 counts; None if there are none, and the mean of the rows counts."""
    return None if rule.costs is None else float(rule.costs.stakes)


def stakes_and_losses(
    row_costs: CostTable, code: NDArray[np.intp], unit: float
) -> tuple[NDArray[np.float64], tuple[LossTable, ...]]:
    """Return the factors on the weights of rows with these costs, and their losses in each task.

    ::

        stake_i = (stake of row i) / (stake of `costs`, or the mean of the rows if there are none)

    One tangent (a row of two classes that is never rejected) then has the slopes c_fn and c_fp of the cost-weighted
    hinge, up to the divisor. A stake is known before the class is, so that it changes no minimiser.
    """
    stakes = significant(row_costs.stakes / unit)  # the same bits in any unit of the costs
    each = task_tangents(row_costs)[:, np.newaxis] if row_costs.n_classes == 2 else task_tangents(row_costs)
    positive = (1,) if row_costs.n_classes == 2 else range(row_costs.n_classes)
    signs = (np.where(code == k, 1, -1).astype(np.int8) for k in positive)
    return stakes, tuple(row_losses(each[:, at], sign) for at, sign in enumerate(signs))


def of_rows(
    parameters: Any, rule: Rule, row_costs: CostTable, code: NDArray[np.intp], sample_weight: NDArray[np.float64]
) -> tuple[NDArray[np.float64], tuple[LossTable, ...]]:
    """Return the stakes and losses of training rows with these costs, with warnings about the costs."""
    warn_if_never(row_costs)
    unit = unit_of_stakes(rule)
    if unit is None:
        if rule.labels.n_classes == 2:
            warn_if_assumed(row_costs, rule.labels.classes, parameters.pos_label)
        stakes = row_costs.stakes
        # the mean of equal numbers may differ from them by rounding
        same = (stakes == stakes[0]).all()
        unit = float(stakes[0]) if same else float(np.average(stakes, weights=sample_weight))
    return stakes_and_losses(row_costs, code, unit)


def refuse_row_costs_in(what: str, row_costs: Any) -> None:
    """Raise an error if rows have costs of their own where one set of costs is needed."""
    if row_costs is not None:
        raise ValueError(
            f"row_costs must be None: {what} one set of costs for all rows; fit RejectSVC with row_costs at each C or "
            "reject cost instead."
        )


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

    @property
    def by_pairs(self) -> bool:
        """Whether there is a task for each pair of classes."""
        return self.n_classes > 2 and len(self.losses) != self.n_classes

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
            weight = C * used
            if self.parameters.class_weight is not None:
                weight *= self._class_weights(used)[self.code]
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
        first = Task(int(self.n_classes == 2), None, self.losses[0], self.stakes)
        task, code = first.take(kept), self.code[kept]
        problem = DualProblem(known, X, task.sign(code), task.loss, task.weight(code, weight[kept]))
        return Posed(problem, self.X, kernel, kept, as_posed)
