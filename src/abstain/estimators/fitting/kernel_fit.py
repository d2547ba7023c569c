"""Fit and certify the machines of a training, of any number of classes; their parts by scikit-learn's names."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

from abstain.compressed import checked_rows
from abstain.dual.proof import Proof, joint_proof
from abstain.estimators.fitting.attributes import fitted, read_only
from abstain.estimators.fitting.decide import Fitted, FittedMixin, ProvenMixin, RejectMixin
from abstain.estimators.fitting.pair_fit import Fits, fitted_classes, fitted_pairs
from abstain.estimators.fitting.posing import Posed
from abstain.estimators.fitting.solving import solved
from abstain.estimators.fitting.training import Training
from abstain.kernels import Kernel, Matrix
from abstain.machines.kernel_machine import KernelMachine, OneVsOneMachine
from abstain.machines.linear_machine import LinearMachine


@dataclass(frozen=True, eq=False)
class FittedMachines(Fitted):
    """A fitted machine of each task, scored together.

    Attributes
    ----------
    proofs : sequence of Proof
        How good each of them is.
    largest_row_cost : float or None
        The largest cost of a training row, if they had costs of their own.
    """

    proofs: Sequence[Proof]
    largest_row_cost: float | None = None

    @property
    def proof(self) -> Proof:
        """The proof of all machines together."""
        return joint_proof(self.proofs)


@dataclass(frozen=True, eq=False, kw_only=True)
class FittedSVC(FittedMachines):
    """A fitted `RejectSVC`.

    Attributes
    ----------
    n_support : ndarray of int32, shape (n_classes,)
        The number of support vectors of each class.
    sets : ndarray of int8, shape (n_samples,), or (n_classes, n_samples) for more than two classes, or None
        Which piece of the loss each training row lies on; None for pairs of classes.
    n_knots : int
        The largest number of knots of the losses, which determines the number of sets.
    """

    n_support: NDArray[np.int32]
    sets: NDArray[np.int8] | None
    n_knots: int


def fitted_svc(
    training: Training, solver: Any, C: float, gamma: float | str, start: NDArray[np.float64] | None = None
) -> FittedSVC:
    """Fit all machines with this C and gamma; a single one may start from the coefficients `start` of all rows."""
    posed, codes = training.posed(C, gamma), None
    if training.n_classes == 2:
        first = solved(solver, posed, None if start is None else start[posed.kept])
        codes = posed.sets(posed.problem.sets(first.solution.beta))
        machine: Any = posed.machine(first.machine)
        proofs: Sequence[Proof] = (first.proof(solver.tol),)
    elif not training.by_pairs:
        problems = posed_tasks(training, posed, C)
        fits = fitted_classes(solver, problems)
        beta = _coefficients(fits, fits.support, len(training.code)).toarray()[:, posed.kept]
        codes = np.stack([one.sets(one.problem.sets(own)) for one, own in zip(problems, beta, strict=True)])
        machine, proofs = _joined(training, posed, fits), tuple(fits.proofs)
    else:
        fits = fitted_pairs(solver, posed, training.code[posed.kept])
        machine, proofs = _joined(training, posed, fits), fits.proofs
    held = np.bincount(training.code[machine.support], minlength=training.n_classes).astype(np.int32)
    n_knots = max(loss.n_knots for loss in training.losses)
    given = (machine, training.rule, proofs, training.largest_row_cost)
    return FittedSVC(*given, n_support=held, sets=codes, n_knots=n_knots)


def posed_tasks(training: Training, posed: Posed, C: float) -> list[Posed]:
    """Pose all tasks over the rows of the first of them."""
    code, weight = training.code[posed.kept], training.weights(C)[posed.kept]
    problems = []
    for task in training.tasks:
        own = task.take(posed.kept)
        problems.append(replace(posed.problem, sign=own.sign(code), loss=own.loss, weight=own.weight(code, weight)))
    return [replace(posed, problem=problem) for problem in problems]


def _joined(training: Training, posed: Posed, fits: Fits) -> KernelMachine:
    """Return machines of classes, or of pairs of classes, as one on the support vectors of all."""
    pairs, n_rows = training.by_pairs, len(training.code)
    support = np.flatnonzero(np.bincount(fits.support, minlength=n_rows))
    held = np.bincount(training.code[support], minlength=training.n_classes)
    if pairs:
        support = support[np.argsort(training.code[support], kind="stable")]  # by class, as in SVC
    place = np.empty(n_rows, dtype=np.int32)
    place[support] = np.arange(len(support))
    coef = _coefficients(fits, place[fits.support], len(support))
    vectors = _vectors(posed, support)
    given = (_biases(fits, vectors), support, n_rows)
    if pairs:
        return OneVsOneMachine(posed.kernel, vectors, coef, *given, held)
    return KernelMachine(posed.kernel, vectors, coef.toarray(), *given)


def _coefficients(fits: Fits, columns: NDArray[np.integer], n_columns: int) -> csr_array:
    """Return the coefficients of each machine, (n_machines, n_columns), in these columns one after another."""
    beta = csr_array((fits.coef, columns, fits.starts), shape=(len(fits.bias), n_columns))
    beta.sort_indices()
    return beta


def _vectors(posed: Posed, support: NDArray[np.intp]) -> Matrix:
    """Return the support vectors as the machine keeps them: sparse if given so, unless they had to be centred."""
    kernel, X = posed.kernel, posed.X
    if isinstance(kernel, Kernel) and kernel.name == "precomputed":
        return np.empty((0, 0))
    if not isinstance(kernel, Kernel) or (issparse(X) and not posed.as_posed):
        return X[support]
    return posed.problem.X[np.searchsorted(posed.kept, support)]


def _biases(fits: Fits, vectors: Matrix) -> NDArray[np.float64]:
    """Return the biases; those of linear machines are moved to the centre of all vectors."""
    if not fits.linear or issparse(vectors) or not len(vectors):
        return fits.bias
    centre = 2.0 * (0.5 * vectors).mean(axis=0)
    return np.asarray(fits.bias + [machine.weights @ (centre - machine.centre) for machine in fits.linear])


class ExpansionMixin(FittedMixin):
    """An estimator whose machine is a `KernelMachine`, a `LinearMachine`, or several on the same rows."""

    kernel: Any
    tol: float
    cache_size: float
    max_iter: int
    n_jobs: int | None

    def _settings(self, task: Any, time_limit: float | None) -> dict[str, Any]:
        """Return the settings of every solver of a kernel expansion; a `FitTask` gets its reports."""
        return {
            "tol": float(self.tol),
            "cache_size": float(self.cache_size),
            "max_iter": int(self.max_iter),
            "time_limit": time_limit,
            "n_jobs": self.n_jobs,
            "progress": task.report if task.watched else None,
        }

    @property
    def _pairwise(self) -> bool:
        return isinstance(self.kernel, str) and self.kernel == "precomputed"

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.sparse = not self._pairwise
        tags.input_tags.pairwise = self._pairwise
        return tags

    def _checked(self, X: Any) -> Any:
        return checked_rows(self, X, dense=self._pairwise, reset=False)

    def _expansion(self, name: str) -> KernelMachine:
        machine = self._now.machine
        if isinstance(machine, KernelMachine):
            return machine
        raise AttributeError(f"{name} exists for machines expanded on training rows only; this one has coef_.")

    @property
    def support_(self) -> NDArray[np.intp]:
        """Indices of the support vectors among the training rows."""
        return read_only(self._expansion("support_").support)

    @property
    def support_vectors_(self) -> NDArray[np.float64] | csr_array:
        """The support vectors; empty for a precomputed kernel."""
        return read_only(self._expansion("support_vectors_").vectors)

    @property
    def dual_coef_(self) -> NDArray[np.float64]:
        """Signed coefficients of the support vectors, (1, n_SV); of several classes, a row for each machine.

        Without costs they have the layout of scikit-learn's `SVC`, (n_classes - 1, n_SV).
        """
        machine = self._expansion("dual_coef_")
        if isinstance(machine, OneVsOneMachine):
            return read_only(machine.dual_coef)
        return read_only(np.atleast_2d(machine.coef))

    @property
    def intercept_(self) -> NDArray[np.float64]:
        """The bias of each machine; shape (1,) for two classes."""
        return read_only(np.atleast_1d(self._now.machine.intercept))

    @property
    def coef_(self) -> NDArray[np.float64]:
        """Weights of the features, shape (n_machines, n_features), for the linear kernel only; one for two classes."""
        machine = self._now.machine
        linear = machine if isinstance(machine, LinearMachine) else machine.linear
        if linear is None:
            raise AttributeError("coef_ exists for kernel='linear' only; other kernels have dual_coef_.")
        return read_only(np.atleast_2d(linear.weights))

    machine_ = fitted[KernelMachine | LinearMachine]("machine", "What scores rows.")


class KernelRowsMixin(ExpansionMixin, RejectMixin, ProvenMixin):
    """A rejecting classifier with such a machine."""
