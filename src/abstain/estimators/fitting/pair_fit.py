"""Fit and certify the machines of several classes: small problems together in a few calls, the others one by one."""

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
from abstain.dual.proof import (
    NEGLIGIBLE,
    SLACK,
    DualSolution,
    OptimalProofs,
    PartSolutions,
    Proof,
    Status,
    certified_gap,
)
from abstain.estimators.fitting.posing import Posed, can_share_values, part_values, same_sums
from abstain.estimators.fitting.solving import SCORED, FittedMachine, solved
from abstain.machines.kernel_machine import class_pairs
from abstain.machines.linear_machine import LinearMachine
from abstain.solvers.native import SMO, within

TOGETHER = 500_000  # rows of the pairs that are solved in one call: 20 MB of arrays
WHOLE = 1000  # rows of a pair, on average, up to which all kernel values are computed first
FEATURES, CHEAP = 40, 600  # the same for fewer features: 2,500 x 8 in 5 classes takes 1.4 times as long at 1,000
SHOWN = 50_000  # of one call if its progress is shown between calls


@dataclass(frozen=True, eq=False)
class Fits:
    """The machines of several problems, as arrays.

    Attributes
    ----------
    support, coef : ndarray
        Indices of the support vectors among all training rows, and their coefficients, one machine after another.
    starts : ndarray
        Where each machine begins among them, and the end of the last one.
    bias : ndarray of shape (n_machines,)
    proofs : sequence of Proof
    linear : tuple of LinearMachine
        The weights of each machine; empty unless the kernel is linear.
    """

    support: NDArray[np.intp]
    coef: NDArray[np.float64]
    starts: NDArray[np.intp]
    bias: NDArray[np.float64]
    proofs: Sequence[Proof]
    linear: tuple[LinearMachine, ...] = ()

    @classmethod
    def of(cls, each: Sequence[FittedMachine]) -> "Fits":
        """Join machines that were fitted one by one."""
        support, coef = (np.concatenate([getattr(fit, name) for fit in each]) for name in ("support", "coef"))
        starts = np.cumsum([0, *(len(fit.coef) for fit in each)])
        linear = tuple(fit.linear for fit in each if fit.linear is not None)
        proofs = tuple(fit.proof for fit in each)
        return cls(support, coef, starts, np.array([fit.bias for fit in each]), proofs, linear)

    def machine(self, at: int) -> FittedMachine:
        """Return one of them; for kernels that are not linear."""
        own = slice(self.starts[at], self.starts[at + 1])
        return FittedMachine(self.support[own], self.coef[own], float(self.bias[at]), None, self.proofs[at])


def fitted_pairs(solver: Any, shared: Posed, code: NDArray[np.intp]) -> "Fits":
    """Fit the machine of each pair of classes; `code` has the class of each of the shared rows, from 0."""
    began = time.monotonic()
    order = np.argsort(code, kind="stable")  # by class, so that the rows of a pair lie in two pieces of memory
    starts = np.cumsum([0, *np.bincount(code)], dtype=np.int64)  # of the classes in that order, and the end
    pairs = class_pairs(len(starts) - 1)
    found: list[FittedMachine | None] = [None] * len(pairs)
    first: dict[int, DualSolution] = {}
    if can_share_values(solver, shared):
        held = np.diff(starts).tolist()
        lengths = [held[i] + held[j] for i, j in pairs]
        small = [p for p, length in enumerate(lengths) if length <= SCORED]
        by_row = {name: getattr(shared.problem, name)[order] for name in ("X", "sign", "weight")}
        whole = replace(shared.problem, **by_row)
        shares = _worth_sharing(shared, [lengths[p] for p in small])
        values = part_values(solver, shared, held, order) if shares else None
        if values is None and (issparse(whole.X) or not shared.as_posed):
            small = []
        for begin, end in runs([lengths[p] for p in small], TOGETHER if solver.progress is None else SHOWN):
            some = small[begin:end]
            _report(solver, begin, len(pairs))
            parts = _parts(starts, whole, [pairs[p] for p in some], values or {})
            fits, solutions = _together(within(solver, began), parts, shared.kept[order])
            if len(some) == len(pairs) and not solutions:
                return fits
            for part in set(range(len(some))) - set(solutions):
                found[some[part]] = fits.machine(part)
            first |= {some[part]: solution for part, solution in solutions.items()}
    rest = [p for p, fit in enumerate(found) if fit is None]
    work = [(*(order[starts[k] : starts[k + 1]] for k in pairs[p]), first.get(p)) for p in rest]
    for p, fit in zip(rest, _apart(solver, began, shared, work, len(pairs)), strict=True):
        found[p] = fit
    return Fits.of([fit for fit in found if fit is not None])


def fitted_classes(solver: Any, posed: Sequence[Posed]) -> "Fits":
    """Fit the machine of each class against the rest, all problems over the same rows."""
    began, shared = time.monotonic(), posed[0]
    problems = [one.problem for one in posed]
    found: list[FittedMachine | None] = [None] * len(posed)
    few = shared.problem.n <= SCORED and len({problem.loss.n_knots for problem in problems}) == 1
    values = part_values(solver, shared, [shared.problem.n]) if few and can_share_values(solver, shared) else None
    if values is not None:
        fits, first = _together(within(solver, began), Parts.of_all(problems, **values), shared.kept)
        if not first:
            return fits
        found = [None if p in first else fits.machine(p) for p in range(len(posed))]
    else:
        first = {p: answer for p, (answer,) in enumerate(solver.solve_many(problems))}
    for p, one in enumerate(posed):
        if found[p] is None:
            alone = solved(within(solver, began), one, None, first.get(p))
            found[p] = FittedMachine.of(shared.kept, alone, solver.tol)
    return Fits.of([fit for fit in found if fit is not None])


def _parts(
    at: NDArray[np.int64], ordered: DualProblem, pairs: Sequence[tuple[int, int]], values: dict[str, Any]
) -> Parts:
    """Return the problems of pairs of classes, which begin `at` these rows, the first of each pair +1 as in `SVC`."""
    each = np.array(pairs, dtype=np.int64).ravel()
    first, lengths = at[each], at[each + 1] - at[each]
    ends = np.cumsum(lengths)
    rows = np.arange(ends[-1]) + np.repeat(first + lengths - ends, lengths)
    sign = np.repeat(np.tile(np.array([1, -1], dtype=np.int8), len(pairs)), lengths)
    starts = np.zeros(len(pairs) + 1, dtype=np.int64)
    starts[1:] = ends[1::2]
    return Parts.of(ordered, rows, starts, sign, **values)


def _worth_sharing(shared: Posed, lengths: Sequence[int]) -> bool:
    """Whether to compute all kernel values before the pairs, of these numbers of rows, are solved.

    Of a long pair the solver makes single rows when it first needs them, in single precision; of few dense features
    that is faster from shorter pairs on.
    """
    dense = shared.as_posed and not issparse(shared.problem.X)
    most = CHEAP if dense and shared.problem.X.shape[1] < FEATURES else WHOLE
    return bool(lengths) and sum(lengths) <= most * len(lengths)


def _together(solver: SMO, parts: Parts, kept: NDArray[np.intp]) -> "tuple[Fits, dict[int, DualSolution]]":
    """Solve parts in one call and certify them by sums in float64 that are computed apart from the solver.

    Where anything but the optimum was found, or where rounding may matter, the solution is returned too: such a part
    is certified, and continued where that helps, by itself. `kept` has the indices of the rows among all training rows.
    """
    answers = solver.solve_parts(parts)
    beta, F = answers.beta, answers.expansion
    known = certify_parts(parts, beta, F)
    proven = _proven(known, answers, solver.tol) & (not parts.values_first or same_sums(parts, beta, F))
    support = np.flatnonzero(beta)
    starts = np.searchsorted(support, parts.starts)
    proofs = OptimalProofs(known.primal, known.dual, known.relative_gap, known.violation, answers.iterations)
    fits = Fits(kept[parts.rows[support]], beta[support], starts, known.bias, proofs)
    solutions = {}
    for part in np.flatnonzero(~proven).tolist():
        at = slice(parts.starts[part], parts.starts[part + 1])
        ended = answers.status[part], int(answers.iterations[part])
        solutions[part] = DualSolution(beta[at], float(known.bias[part]), F[at], *ended)
    return fits, solutions


def _proven(known: PartCertificates, answers: PartSolutions, tol: float) -> NDArray[np.bool_]:
    optimal = np.array([status is Status.OPTIMAL for status in answers.status])
    converged = (known.relative_gap <= certified_gap(tol)) & (known.violation <= SLACK * tol)
    return np.asarray(optimal & known.feasible & (known.hidden <= NEGLIGIBLE) & converged)


def _apart(solver: Any, began: float, shared: Posed, work: Sequence[Any], total: int) -> list[FittedMachine]:
    """Solve pairs, given by the rows of their classes and what is known already, one by one or one per thread."""
    jobs = threads(solver.n_jobs)
    alone = solver if jobs == 1 else replace(solver, n_jobs=1, progress=None)

    def fit(first: NDArray[np.intp], second: NDArray[np.intp], known: DualSolution | None) -> FittedMachine:
        posed = posed_pair(shared, first, second)
        return FittedMachine.of(posed.kept, solved(within(alone, began), posed, None, known), solver.tol)

    if jobs == 1 or len(work) < 2:
        found: Any = (fit(*one) for one in work)
    else:
        tasks = (delayed(fit)(*one) for one in work)
        found = Parallel(n_jobs=jobs, backend="threading", return_as="generator")(tasks)
    fits: list[FittedMachine] = []
    _report(solver, total - len(work), total)
    for one in found:
        fits.append(one)
        _report(solver, total - len(work) + len(fits), total)
    return fits


def _report(solver: Any, done: int, total: int) -> None:
    if solver.progress is not None:
        solver.progress(done, np.nan, total)


def posed_pair(shared: Posed, first: NDArray[np.intp], second: NDArray[np.intp]) -> Posed:
    """Pose the problem of two classes, the first of them +1 as in `SVC`, on their rows only."""
    whole, rows = shared.problem, np.concatenate([first, second])
    gram = whole.kernel.name == "precomputed"
    X = np.ascontiguousarray(whole.X[np.ix_(rows, rows)]) if gram else whole.X[rows]
    sign = np.repeat(np.array([1, -1], dtype=np.int8), [len(first), len(second)])
    problem = replace(whole, X=X, sign=sign, weight=whole.weight[rows])
    return replace(shared, problem=problem, kept=shared.kept[rows])
