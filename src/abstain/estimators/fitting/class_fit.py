"""Fit and certify the machines of several classes."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

from abstain.dual.certificate import sets
from abstain.dual.joint_proof import joint_proof
from abstain.dual.proof import Proof
from abstain.estimators.fitting.class_training import ClassTraining
from abstain.estimators.fitting.convergence import Solved, solved
from abstain.estimators.fitting.decide import Fitted
from abstain.estimators.fitting.pair_fit import FittedMachine, fitted_pairs, within
from abstain.estimators.fitting.training import Posed
from abstain.kernels import Kernel, Matrix
from abstain.machines.class_machine import OneVsOneMachine, OneVsRestMachine

__all__ = ["FittedClasses", "fitted_classes"]


@dataclass(frozen=True, eq=False)
class FittedClasses(Fitted):
    """A fitted `RejectSVC` of several classes.

    Attributes
    ----------
    proofs : tuple of Proof
        How good each machine is.
    n_support : ndarray of int32, shape (n_classes,)
        The number of support vectors of each class.
    sets : ndarray of int8, shape (n_classes, n_samples), or None
        Which piece of its class's loss each training row lies on; None for pairs of classes.
    n_knots : int
        The largest number of knots of the losses, which determines the number of sets.
    """

    rule: Any
    proofs: tuple[Proof, ...]
    n_support: NDArray[np.int32]
    sets: NDArray[np.int8] | None
    n_knots: int

    @property
    def proof(self) -> Proof:
        """The proof of all machines together."""
        return joint_proof(self.proofs)


def fitted_classes(training: ClassTraining, solver: Any, C: float, gamma: float | str) -> FittedClasses:
    """Fit all machines with this C and gamma."""
    shared = training.shared(C, gamma)
    codes = None
    if training.one_vs_rest:
        posed = training.problems(shared)
        solutions = _solved_together(solver, posed)
        codes = np.stack([one.sets(sets(s.problem, s.solution.beta)) for one, s in zip(posed, solutions, strict=True)])
        found = [FittedMachine.of(shared.kept, one, solver.tol) for one in solutions]
    else:
        found = fitted_pairs(solver, shared, training.code[shared.kept])
    beta = _coefficients(found, len(training.code))
    support = np.flatnonzero(np.bincount(beta.indices, minlength=beta.shape[1]))
    n_support = np.bincount(training.code[support] - 1, minlength=training.n_classes)
    if not training.one_vs_rest:
        support = support[np.argsort(training.code[support], kind="stable")]  # by class, as in SVC
    vectors = _vectors(shared, support)
    coef = beta[:, support]
    coef.sort_indices()
    biases = _biases(found, vectors)
    machine: OneVsRestMachine = (
        OneVsRestMachine(shared.kernel, vectors, coef.toarray(), biases, support, beta.shape[1])
        if training.one_vs_rest
        else OneVsOneMachine(shared.kernel, vectors, coef, biases, support, beta.shape[1], n_support)
    )
    n_knots = max(loss.n_knots for loss in training.losses)
    proofs = tuple(one.proof for one in found)
    return FittedClasses(machine, training.rule, proofs, n_support.astype(np.int32), codes, n_knots)


def _solved_together(solver: Any, posed: Sequence[Posed]) -> list[Solved]:
    """Solve problems over the same rows, with one kernel matrix where it fits the memory."""
    began = time.monotonic()
    answers = solver.solve_many([one.problem for one in posed])
    return [solved(within(solver, began), one, None, answer) for one, (answer,) in zip(posed, answers, strict=True)]


def _coefficients(found: Sequence[FittedMachine], n_rows: int) -> csr_array:
    """The coefficients of all training rows in each machine, (n_machines, n_samples)."""
    columns = [one.support for one in found]
    starts = np.cumsum([0, *map(len, columns)])
    values = np.concatenate([one.coef for one in found])
    beta = csr_array((values, np.concatenate(columns), starts), shape=(len(found), n_rows))
    beta.sort_indices()
    return beta


def _vectors(shared: Posed, support: NDArray[np.intp]) -> Matrix:
    """The support vectors as the machine keeps them: sparse if they were given so, unless they had to be centred."""
    kernel, X = shared.kernel, shared.X
    if isinstance(kernel, Kernel) and kernel.name == "precomputed":
        return np.empty((0, 0))
    if not isinstance(kernel, Kernel) or (issparse(X) and not shared.as_posed):
        return X[support]
    return shared.problem.X[np.searchsorted(shared.kept, support)]


def _biases(found: Sequence[FittedMachine], vectors: Matrix) -> NDArray[np.float64]:
    """The biases; those of linear machines are moved to the centre of all vectors."""
    biases = np.array([one.bias for one in found])
    linear = [one.linear for one in found]
    if any(machine is None for machine in linear) or issparse(vectors) or not len(vectors):
        return biases
    centre = 2.0 * (0.5 * vectors).mean(axis=0)
    moved = [machine.weights @ (centre - machine.centre) for machine in linear if machine is not None]
    return np.asarray(biases + moved)
