"""How a solver ended, and how good its solution is: the proof that an estimator publishes."""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from operator import attrgetter
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from abstain.dual.certificate import Certificate


class Status(StrEnum):
    """How a solver ended."""

    OPTIMAL = "optimal"  # the violation is below the tolerance
    INACCURATE = "inaccurate"  # no further progress in floating point before the tolerance was reached
    ITERATION_LIMIT = "iteration_limit"
    TIME_LIMIT = "time_limit"


@dataclass(frozen=True, eq=False)
class DualSolution:
    """Coefficients and bias of ``f(x) = sum_i beta_i k(x_i, x) + bias``, as returned by a solver.

    Attributes
    ----------
    beta : float64 array of shape (n,)
        Signed: y_i beta_i >= 0.
    bias : float
    expansion : float64 array of shape (n,)
        sum_j beta_j k(x_i, x_j) at the training rows, as computed by the solver; without bias.
    status : Status
    iterations : int
    """

    beta: NDArray[np.float64]
    bias: float
    expansion: NDArray[np.float64]
    status: Status
    iterations: int


@dataclass(frozen=True, eq=False)
class PartSolutions:
    """Solutions of problems over parts of the same rows, one after another.

    Attributes
    ----------
    beta, expansion : float64 array
        The coefficients of the rows of all parts, and the sums of each part's expansion at its rows.
    status : list of Status
        How the solver ended, for each part.
    iterations : int64 array
        For each part.
    """

    beta: NDArray[np.float64]
    expansion: NDArray[np.float64]
    status: list[Status]
    iterations: NDArray[np.int64]


SLACK = 3.0  # allowed ratio of the violation to tol: 1 for the solver, 1 for its rounding, 1 for a stretched machine
NEGLIGIBLE = 1e-9  # a relative gap below this proves an optimum, whatever the violation after rounding
# a set of fits has the first of these statuses that any of them has
_WORST = (Status.TIME_LIMIT, Status.ITERATION_LIMIT, Status.INACCURATE, Status.OPTIMAL)
CERTIFIED = 10.0  # largest relative gap, in units of tol (at least 1e-3), that counts as optimal


def certified_gap(tol: float) -> float:
    """Return the relative gap up to which a fit to `tol` counts as optimal."""
    return CERTIFIED * max(tol, 1e-3)


@dataclass(frozen=True)
class Proof:
    """What is known about a solution.

    Attributes
    ----------
    objective, dual_objective : float
        The primal and the dual value; the optimum lies between them.
    gap : float
        The duality gap over the primal value: how far from optimal the machine can be.
    violation : float
        The largest violation of the optimality conditions, in units of the score.
    status : {"optimal", "inaccurate", "iteration_limit", "time_limit"}
        How the solver ended. "optimal" only if the certificate and the kernel confirm it.
    iterations : int
    definite : bool
        False if the kernel is not positive semidefinite on the training rows: there may then be several local optima.
    """

    objective: float
    dual_objective: float
    gap: float
    violation: float
    status: str
    iterations: int
    definite: bool = True

    @classmethod
    def of(cls, certificate: Certificate, solution: DualSolution, tol: float, *, definite: bool) -> Self:
        """Make the proof of a solution found to the tolerance `tol`: "optimal" is kept only if it is proven."""
        numbers = (certificate.primal, certificate.dual, certificate.relative_gap, certificate.kkt_violation)
        proof = cls(*numbers, solution.status.value, solution.iterations, definite)
        if solution.status is Status.OPTIMAL and not proof.proves(tol):
            return replace(proof, status=Status.INACCURATE.value)
        return proof

    def proves(self, tol: float) -> bool:
        """Whether the numbers prove an optimum to the tolerance `tol`."""
        converged = self.violation <= SLACK * tol and self.gap <= certified_gap(tol)
        return self.definite and self.gap >= 0.0 and (converged or self.gap <= NEGLIGIBLE)


@dataclass(frozen=True, eq=False)
class OptimalProofs(Sequence[Proof]):
    """The proofs of many machines, all of them optimal, as arrays: each is made when it is asked for."""

    objective: NDArray[np.float64]
    dual_objective: NDArray[np.float64]
    gap: NDArray[np.float64]
    violation: NDArray[np.float64]
    iterations: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.objective)

    def __getitem__(self, at: Any) -> Any:
        numbers = [column[at] for column in self.columns()]
        return tuple(map(Proof, *numbers)) if isinstance(at, slice) else Proof(*numbers)

    def __iter__(self) -> Iterator[Proof]:
        return map(Proof, *self.columns())

    def columns(self) -> tuple[list[Any], ...]:
        """Return the fields of all proofs, in the order of `Proof`."""
        numbers = (self.objective, self.dual_objective, self.gap, self.violation)
        same = ([value] * len(self) for value in (Status.OPTIMAL.value, True))
        return (*(each.tolist() for each in numbers), next(same), self.iterations.tolist(), next(same))


def joint_proof(proofs: Sequence[Proof]) -> Proof:
    """Return the combined proof of machines that were trained independently: the proof for the sum of their problems.

    ::

        objective = sum of objectives,   gap = sum of gaps (not relative) / objective,   violation = the largest

    The status is the worst one: "optimal" only if every machine is.
    """
    if len(proofs) == 1:
        return proofs[0]
    of = attrgetter("objective", "dual_objective", "gap", "violation", "status", "iterations", "definite")
    columns = proofs.columns() if isinstance(proofs, OptimalProofs) else zip(*map(of, proofs), strict=True)
    objectives, duals, gaps, violations, statuses, iterations, definite = columns
    objective, ended = sum(objectives), set(statuses)
    apart = sum(gap * abs(own) for gap, own in zip(gaps, objectives, strict=True))
    return Proof(
        objective=objective,
        dual_objective=sum(duals),
        gap=min(apart / max(abs(objective), sys.float_info.min), sys.float_info.max),
        violation=max(violations),
        status=next(status.value for status in _WORST if status.value in ended),
        iterations=sum(iterations),
        definite=all(definite),
    )


def warning_text(proof: Proof, parameters: Any, *, by_gap: bool = False) -> str | None:
    """Return the warning for a fit that did not converge, with numbers and advice; None if it converged.

    With `by_gap`, `tol` is for the relative duality gap, not for the violation.
    """
    if proof.status == Status.OPTIMAL:
        return None
    advice = {
        Status.ITERATION_LIMIT: f"raise max_iter={parameters.max_iter}, scale the features or lower C",
        Status.TIME_LIMIT: f"raise time_limit={parameters.time_limit}, scale the features or lower C",
        Status.INACCURATE: "scale the features, lower C, or raise tol if this gap is small enough",
    }[Status(proof.status)]
    if not proof.definite:
        advice = "the kernel is not positive semidefinite on these rows, so there may be several optima; use another"
    gap, tol = f"relative duality gap {proof.gap:.3g}", f"(tol={parameters.tol:g})"
    reached = f"{gap} {tol}" if by_gap else f"KKT violation {proof.violation:.3g} {tol}, {gap}"
    return (
        f"{type(parameters).__name__} stopped after {proof.iterations} iterations with status {proof.status!r}: "
        f"{reached}; {advice}."
    )
