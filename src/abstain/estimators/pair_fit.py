"""Fit and certify the machines of all pairs of classes: the small ones together, in a few calls, the others one by one."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from scipy.sparse import issparse

from abstain.arguments import threads
from abstain.dual.parts import PartCertificates, Parts, certify_parts, runs
from abstain.dual.problem import DualProblem
from abstain.dual.proof import NEGLIGIBLE, SLACK, Proof, certified_gap
from abstain.dual.solution import DualSolution, PartSolutions, Status
from abstain.estimators.class_training import posed_pair
from abstain.estimators.convergence import SCORED, solved
from abstain.estimators.training import Posed
from abstain.machines.expansion import expand_parts
from abstain.machines.linear_machine import LinearMachine
from abstain.solvers.boundary import part_biases
from abstain.solvers.smo import SMO

__all__ = ["FittedPair", "fitted_pairs", "within"]

TOGETHER = 500_000  # rows of the pairs that are solved in one call: 20 MB of arrays

Pair = tuple[NDArray[np.intp], NDArray[np.int8]]  # rows and their signs


@dataclass(frozen=True, eq=False)
class FittedPair:
    """The machine of one problem: its support vectors by their indices among all training rows, and its proof."""

    support: NDArray[np.intp]
    coef: NDArray[np.float64]
    bias: float
    linear: LinearMachine | None
    proof: Proof


def fitted_pairs(solver: Any, shared: Posed, pairs: Sequence[Pair], code: NDArray[np.intp]) -> list[FittedPair]:
    """Fit the machine of each pair; `code` has the class of each training row."""
    began = time.monotonic()
    found: list[FittedPair | None] = [None] * len(pairs)
    first: dict[int, DualSolution] = {}
    if _can_be_solved_together(solver, shared):
        small = [p for p, (rows, _) in enumerate(pairs) if len(rows) <= SCORED]
        ordered = _Ordered.of(shared, code)
        for begin, end in runs([len(pairs[p][0]) for p in small], TOGETHER):
            some = small[begin:end]
            fits, solutions = _together(within(solver, began), ordered, [pairs[p] for p in some])
            for p, fit in zip(some, fits, strict=True):
                found[p] = fit
            first |= {some[part]: solution for part, solution in solutions.items()}
    rest = [p for p, fit in enumerate(found) if fit is None]
    for p, fit in zip(rest, _apart(solver, began, shared, [pairs[p] for p in rest], [first.get(p) for p in rest]), strict=True):
        found[p] = fit
    return [fit for fit in found if fit is not None]


def within(solver: Any, began: float) -> Any:
    """The solver with what is left of its time."""
    if solver.time_limit is None:
        return solver
    return replace(solver, time_limit=max(0.0, solver.time_limit - (time.monotonic() - began)))


def _can_be_solved_together(solver: Any, shared: Posed) -> bool:
    """Whether the pairs are feature rows with a kernel of the core whose optimum the certificate alone proves."""
    kernel, dense = shared.problem.kernel, shared.as_posed and not issparse(shared.problem.X)
    known = kernel.formula.native and kernel.formula.definite(kernel) and kernel.name not in ("linear", "precomputed")
    return isinstance(solver, SMO) and dense and known


@dataclass(frozen=True, eq=False)
class _Ordered:
    """The shared problem with its rows sorted by class, so that those of a pair lie in two pieces of memory."""

    problem: DualProblem
    kept: NDArray[np.intp]  # indices of the sorted rows among all training rows
    position: NDArray[np.int64]  # of each shared row among the sorted ones

    @classmethod
    def of(cls, shared: Posed, code: NDArray[np.intp]) -> _Ordered:
        whole, order = shared.problem, np.argsort(code[shared.kept], kind="stable")
        position = np.empty(whole.n, dtype=np.int64)
        position[order] = np.arange(whole.n)
        problem = replace(whole, X=whole.X[order], sign=whole.sign[order], weight=whole.weight[order])
        return cls(problem, shared.kept[order], position)


def _together(
    solver: SMO, ordered: _Ordered, pairs: Sequence[Pair]
) -> tuple[list[FittedPair | None], dict[int, DualSolution]]:
    """Solve pairs in one call and certify them by the sums of their machines in float64, computed apart from the solver.

    Where anything but the optimum was found, or where rounding may matter, there is only the solution: such a pair is
    certified, and continued where that helps, by itself.
    """
    whole = ordered.problem
    parts = Parts.of(whole, [ordered.position[rows] for rows, _ in pairs], [sign for _, sign in pairs])
    answers = solver.solve_parts(parts)
    beta = answers.beta
    finite = np.isfinite(beta)
    usable = beta if finite.all() else np.where(finite, beta, 0.0)
    F = expand_parts(whole.kernel, whole.X, parts.rows, parts.starts, usable, solver.n_jobs)
    bias = part_biases(parts, F)
    known = certify_parts(parts, usable, bias, F)
    proven = _proven(known, answers, solver.tol) & np.logical_and.reduceat(finite, parts.starts[:-1])
    support = np.flatnonzero(beta)
    coef, kept = beta[support], ordered.kept[parts.rows[support]]
    ends, starts = np.searchsorted(support, parts.starts).tolist(), parts.starts.tolist()
    fits: list[FittedPair | None] = []
    solutions = {}
    for part, certificate in enumerate(known.certificates()):
        status, iterations, b = answers.status[part], int(answers.iterations[part]), float(bias[part])
        own, rows = slice(ends[part], ends[part + 1]), slice(starts[part], starts[part + 1])
        if proven[part]:
            numbers = certificate.primal, certificate.dual, certificate.relative_gap, certificate.kkt_violation
            fits.append(FittedPair(kept[own], coef[own], b, None, Proof(*numbers, status.value, iterations)))
        else:
            fits.append(None)
            solutions[part] = DualSolution(beta[rows], b, F[rows], status, iterations)
    return fits, solutions


def _proven(known: PartCertificates, answers: PartSolutions, tol: float) -> NDArray[np.bool_]:
    optimal = np.array([status is Status.OPTIMAL for status in answers.status])
    converged = (known.relative_gap <= certified_gap(tol)) & (known.violation <= SLACK * tol)
    return np.asarray(optimal & known.feasible & (known.hidden <= NEGLIGIBLE) & converged)


def _apart(
    solver: Any, began: float, shared: Posed, pairs: Sequence[Pair], first: Sequence[DualSolution | None]
) -> list[FittedPair]:
    """Solve pairs one by one, from the solutions known already; several at a time with several threads."""
    jobs = threads(solver.n_jobs)
    alone = solver if jobs == 1 else replace(solver, n_jobs=1, progress=None)

    def fit(pair: Pair, known: DualSolution | None) -> FittedPair:
        posed = posed_pair(shared, *pair)
        found = solved(within(alone, began), posed, None, known)
        machine = found.machine
        return FittedPair(posed.kept[machine.support], machine.coef, machine.bias, machine.linear, found.proof(solver.tol))

    work = list(zip(pairs, first, strict=True))
    if jobs == 1 or len(work) < 2:
        return [fit(*one) for one in work]
    return list(Parallel(n_jobs=jobs, backend="threading")(delayed(fit)(*one) for one in work))
