"""RejectSVC on real data against a general QP solver, case by case; shared by the tests and ``verification/``."""

from __future__ import annotations

import os
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.metrics.pairwise import pairwise_kernels

from abstain.costs.costs import Costs
from abstain.dual.certificate import Certificate, certify
from abstain.dual.problem import DualProblem
from abstain.estimators.svm.svc import RejectSVC
from abstain.kernels import Kernel
from abstain.losses.tangent_hinge import double_hinge
from abstain.solvers.native import ActiveSet
from clarabel_qp import dual_optimum
from problems import entropy

KERNELS = ("linear", "rbf", "poly")
COSTS = (Costs(1, 1, 0.2), Costs(1, 1, 0.45), Costs(1, 5, 0.3), Costs(1, 2, (0.4, 0.1)))
STRENGTHS = (0.1, 1.0, 100.0)
DECADES = tuple(10.0**k for k in range(-3, 7))
# File in the folder that ABSTAIN_DATA names, and the class of its last column that is negative; WDBC is scikit-learn's.
FILES = {"pima": ("pima.csv", 0), "liver": ("liver_bupa.csv", 1), "thyroid": ("thyroid_new.csv", 1)}
DATA_SETS = ("wdbc", *FILES)
PLANE = "plane"  # 700 points in two dimensions, overlapping: a kernel matrix of rank 2

OBJECTIVE_TOLERANCE = 1e-6


@dataclass(frozen=True)
class Case:
    """One machine to fit on one data set."""

    data: str
    kernel: str
    costs: Costs
    C: float

    def __str__(self) -> str:
        prices = f"{self.costs.false_positive:g}, {self.costs.false_negative:g}, {self.costs.reject}"
        return f"{self.data:8} {self.kernel:7} ({prices}) C={self.C:g}"


@dataclass(frozen=True)
class Verdict:
    """What the machine says of itself, and what is so."""

    status: str
    objective: float
    true_objective: float
    optimum: float
    reported_gap: float
    true_gap: float

    @property
    def error(self) -> float:
        """How far the reported objective is from the judge's optimum, relatively."""
        return abs(self.objective - self.optimum) / self.optimum

    @property
    def holds(self) -> bool:
        """Whether the machine is optimal and told the truth about it."""
        true_objective = abs(self.objective - self.true_objective) <= 1e-9 * self.true_objective
        true_gap = abs(self.reported_gap - self.true_gap) <= 1e-9 + 1e-3 * self.true_gap
        return self.status == "optimal" and self.error <= OBJECTIVE_TOLERANCE and true_objective and true_gap


def all_cases(data: str) -> list[Case]:
    return [Case(data, *rest) for rest in product(KERNELS, COSTS, STRENGTHS)]


def covering_cases(data: str) -> list[Case]:
    """A third of them, in which any two settings of two factors meet."""
    indices = product(*(range(len(factor)) for factor in (KERNELS, COSTS, STRENGTHS)))
    return [case for case, index in zip(all_cases(data), indices, strict=True) if sum(index) % 3 == 0]


def load(data: str) -> tuple[np.ndarray, np.ndarray]:
    """Give standardised X, and y in {0, 1}."""
    if data == PLANE:
        rng = np.random.default_rng(0)
        X = rng.normal(size=(700, 2))
        y = (X.sum(axis=1) + rng.normal(size=700) > 0).astype(int)
    elif data == "wdbc":
        X, y = load_breast_cancer(return_X_y=True)
    else:
        file, negative = FILES[data]
        table = np.loadtxt(Path(os.environ["ABSTAIN_DATA"]) / file, delimiter=",", skiprows=1)
        X, y = table[:, :-1], (table[:, -1] != negative).astype(int)
    return (X - X.mean(axis=0)) / X.std(axis=0), y


def judge(case: Case, **settings) -> Verdict:
    """Fit the machine, with other settings of its solver where given, and compare."""
    X, y = load(case.data)
    machine = RejectSVC(case.costs, C=case.C, kernel=case.kernel, coef0=1.0, **settings).fit(X, y)
    sign = np.where(y == 1, 1, -1).astype(np.int8)
    gamma = 1.0 / (X.shape[1] * X.var())
    K = pairwise_kernels(X, metric=case.kernel, filter_params=True, gamma=gamma, coef0=1.0, degree=3)
    problem = DualProblem(Kernel("precomputed"), K, sign, double_hinge(case.costs), np.full(len(X), case.C))
    beta = np.zeros(len(X))
    beta[machine.support_] = machine.dual_coef_[0]
    primal, dual = plain_objectives(K, sign, case, beta, float(machine.intercept_[0]))
    return Verdict(
        status=machine.status_,
        objective=machine.objective_,
        true_objective=primal,
        optimum=dual_optimum(problem),
        reported_gap=machine.duality_gap_,
        true_gap=(primal - dual) / primal,
    )


def exact_cases(data: str) -> list[tuple[Case, bool]]:
    """What the active set must solve on this set: every setting, once and with every row twice; every decade of C."""
    if data == PLANE:
        return [(Case(data, "linear", costs, C), twice) for costs in COSTS for C in DECADES for twice in (False, True)]
    crossed = [(case, twice) for case in all_cases(data) for twice in (False, True)]
    decades = product(KERNELS, COSTS[1:3], DECADES)
    return crossed + [(Case(data, *setting), False) for setting in decades]


def posed(case: Case, *, twice: bool = False) -> DualProblem:
    """The training problem of this case; `twice`: every row given twice."""
    X, y = load(case.data)
    kernel = Kernel(case.kernel, gamma=1.0 / (X.shape[1] * X.var()), coef0=1.0)
    times = 2 if twice else 1
    sign = np.repeat(np.where(y == 1, 1, -1).astype(np.int8), times)
    return DualProblem(kernel, np.repeat(X, times, axis=0), sign, double_hinge(case.costs), np.full(len(sign), case.C))


def gap_allowed(C: float) -> float:
    """The relative gap that counts as exact: C times the rounding of the scores, of each product and sum, is in it."""
    return max(1e-10, 2e-14 * C)


def exact(case: Case, *, twice: bool = False) -> tuple[str, Certificate]:
    """How the active set ends, and the certificate of its coefficients and bias, all else computed again in float64."""
    problem = posed(case, twice=twice)
    solution = ActiveSet().solve(problem)
    return solution.status.value, certify(problem, solution.beta, solution.bias)


def plain_objectives(K, sign, case: Case, beta, bias) -> tuple[float, float]:
    """Primal and dual of docs/theory.md in its own letters, by nothing but NumPy."""
    p_low, p_high = case.costs.thresholds().lower, case.costs.thresholds().upper
    rho = (entropy(p_low) - entropy(p_high)) / (p_high - p_low)
    positive = sign > 0
    B = case.C * np.where(positive, 1 - p_high, p_low)
    D = case.C * (p_high - p_low)
    tau = np.where(positive, entropy(p_high) / (1 - p_high), entropy(p_low) / p_low)
    m, g = sign * (K @ beta + bias), sign * beta
    half_norm = beta @ K @ beta / 2
    primal = half_norm + (B * np.maximum(tau - m, 0) + D * np.maximum(sign * rho - m, 0)).sum()
    dual = (tau * np.minimum(g, B) + sign * rho * np.maximum(g - B, 0)).sum() - half_norm
    return float(primal), float(dual)
