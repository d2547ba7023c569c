"""Random hard problems and a judge that trusts no code of the library; shared by the tests and ``verification/``.

The judge takes the published coefficients, recomputes kernel values, losses and both objectives in extended precision
(64 bits of mantissa where the platform has them), and compares the duality gap that it finds with the reported one. The
formulas are those of GRKC08, written as a sum of two hinges, and not the library's tables of knots and slopes.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from abstain import Costs, RejectSVC

EXTENDED = np.longdouble
SHARE, SLACK = 0.5, 1e-8  # a reported gap may be half the true one, or this much below it
BALANCE = 1e-9  # of the sum of all coefficients: what may remain of a sum that is 0
NEAR = 1e3  # means over standard deviations up to which `intercept_` carries enough digits


@dataclass(frozen=True)
class Case:
    """One random problem: rows, labels, weights and the options of the machine."""

    seed: int
    X: Any
    y: np.ndarray
    weight: np.ndarray | None
    options: dict[str, Any]
    about: str

    @property
    def dense(self) -> np.ndarray:
        """The rows (or the Gram matrix) as a dense array."""
        return self.X.toarray() if sparse.issparse(self.X) else self.X

    def __str__(self) -> str:
        return f"seed {self.seed}: {self.about}"


@dataclass(frozen=True)
class Verdict:
    """What one fit ended with, the true numbers, and everything that is wrong with it."""

    status: str
    reported: float = math.nan
    true: float = math.nan
    faults: list[str] = field(default_factory=list)


def random_case(seed: int, *, large: bool = False, path: bool = False) -> Case:
    """Draw a problem; `large` reaches the solver in single precision, `path` keeps it small."""
    rng = np.random.default_rng([seed, large, path])
    n = int(rng.integers(1100, 2500)) if large else int(10 * (6 if path else 40) ** rng.random())
    d = int(rng.integers(1, 12))
    kernel = str(rng.choice(["linear", "rbf"] if large else ["linear", "rbf", "rbf", "poly", "sigmoid", "precomputed"]))
    y = np.where(rng.random(n) < rng.choice([0.5, 0.2]), 1, -1)
    y[:2] = 1, -1
    X = rng.normal(size=(n, d)) + rng.choice([0.0, 0.5, 3.0]) * y[:, np.newaxis]
    X, shape = reshaped(X, rng)
    scale, offset = 10.0 ** rng.uniform(-4, 6), float(rng.choice([0.0, 0.0, 10.0, 1e4, 1e7]))
    scale = scale if rng.random() < 0.4 else 1.0
    X = scale * X + offset
    C = 10.0 ** rng.uniform(-3, 3 if large else 7)
    options: dict[str, Any] = {"kernel": kernel, "C": C, "costs": random_costs(rng)}
    if kernel in ("rbf", "poly", "sigmoid") and rng.random() < 0.3:
        options["gamma"] = float(10.0 ** rng.uniform(-2, 1) / (d * max(X.var(), 1e-300)))
    if kernel in ("poly", "sigmoid"):
        options |= {"coef0": float(rng.choice([0.0, 1.0])), "degree": int(rng.integers(2, 5))}
    stored: Any = X
    if kernel == "precomputed":
        centred = X - X.mean(axis=0)
        squares = ((centred[:, np.newaxis] - centred[np.newaxis]) ** 2).sum(axis=2)
        stored = np.exp(-squares / max(squares.mean(), 1e-300))
    elif rng.random() < 0.25:
        stored = sparse.csr_array(X)
    weight = None
    if rng.random() < 0.4:
        weight = rng.exponential(size=n) * (rng.random(n) < rng.choice([1.0, 0.7]))
        weight[:2] = 1.0
    about = f"{kernel} {n} x {d}, {shape}, scale {scale:.2g}, offset {offset:g}, C={C:.3g}"
    about += f"{', CSR' if sparse.issparse(stored) else ''}{', weights' if weight is not None else ''}"
    return Case(seed, stored, y, weight, options, f"{about}, {options['costs']}")


def reshaped(X: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, str]:
    """Give the rows something that is hard for a solver, and its name."""
    n = len(X)
    kinds = ["plain", "plain", "grid", "repeated", "identical", "cauchy", "outliers 100", "outliers 1000"]
    kind = str(rng.choice(kinds))
    if kind == "grid":
        X = np.round(X)
    elif kind == "repeated":
        X = X[rng.integers(0, max(2, n // 3), n)]
    elif kind == "identical":
        X = np.broadcast_to(X[0], X.shape).copy()
    elif kind == "cauchy":
        X = rng.standard_cauchy(size=X.shape)
    elif kind.startswith("outliers"):
        X[rng.choice(n, size=min(n, 3), replace=False)] *= float(kind.split()[1])
    return X, kind


def random_costs(rng: np.random.Generator) -> Costs | None:
    """Draw no costs, symmetric or asymmetric ones, for which rejecting can pay."""
    kind = rng.integers(3)
    if kind == 0:
        return None
    if kind == 1:
        return Costs(reject=float(rng.choice([0.05, 0.2, 0.45, 1e-3])))
    errors = 10.0 ** rng.uniform(-1, 1, size=2)
    share = rng.uniform(0.05, 0.9) * rng.dirichlet([2.0, 2.0])
    return Costs(*errors.tolist(), reject=(float(share[0] * errors[0]), float(share[1] * errors[1])))


# --- the judge: nothing of the library below this line but published attributes ---------------------------------------


def hinges(costs: Costs | None, y: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Give b, tau, d and rho of each row: loss(m) = b |tau - m|_+ + d |rho - m|_+ (docs/theory.md; hinge: d = 0)."""
    if costs is None:
        one = np.ones(len(y), EXTENDED)
        return one, one, 0 * one, one
    c_fp, c_fn = EXTENDED(costs.false_positive), EXTENDED(costs.false_negative)
    pair = costs.reject if isinstance(costs.reject, tuple) else (costs.reject, costs.reject)
    r_neg, r_pos = (EXTENDED(price) for price in pair)
    high, low = (c_fp - r_neg) / (c_fp - r_neg + r_pos), r_neg / (c_fn - r_pos + r_neg)

    def entropy(p: Any) -> Any:
        return -p * np.log(p) - (1 - p) * np.log1p(-p)

    rho = (entropy(low) - entropy(high)) / (high - low)
    positive = y > 0
    b = np.where(positive, 1 - high, low)
    tau = np.where(positive, entropy(high) / (1 - high), entropy(low) / low)
    return b, tau, np.full(len(y), high - low), y * rho


def gram(case: Case, kernel: Any = None) -> np.ndarray:
    """Compute the kernel matrix in extended precision, from differences of rows, and around the mean for linear.

    A linear kernel of centred rows gives the same problem, because the coefficients sum to 0.
    """
    X, name = case.dense, case.options["kernel"]
    if name == "precomputed":
        return X.astype(EXTENDED)
    X = X.astype(EXTENDED)
    if name == "linear":
        X = X - X.mean(axis=0)
        return _products(X)
    gamma = EXTENDED(kernel.gamma)
    if name in ("rbf", "laplacian"):
        distances = np.zeros((len(X), len(X)), EXTENDED)
        for column in X.T:
            distances += np.abs(column[:, np.newaxis] - column) ** (2 if name == "rbf" else 1)
        return np.exp(-gamma * distances)
    inner = gamma * _products(X) + EXTENDED(kernel.coef0)
    return inner**kernel.degree if name == "poly" else np.tanh(inner)


def _products(X: np.ndarray) -> np.ndarray:
    total = np.zeros((len(X), len(X)), EXTENDED)
    for column in X.T:
        total += column[:, np.newaxis] * column
    return total


@dataclass(frozen=True)
class Objectives:
    """A problem in the judge's own formulas."""

    K: np.ndarray
    y: np.ndarray
    weight: np.ndarray
    costs: Costs | None

    def dual_faults(self, beta: np.ndarray) -> list[str]:
        """Say how the coefficients leave their boxes, or their sum differs from 0."""
        b, _, d, _ = hinges(self.costs, self.y)
        g, top = self.y * beta, self.weight * (b + d)
        faults = []
        outside = float(np.max(np.maximum(-g, g - top) / np.maximum(top.max(), 1e-300)))
        if outside > BALANCE:
            faults.append(f"a coefficient leaves its box by {outside:.2g} of the largest")
        rest = float(abs(beta.sum()) / max(np.abs(beta).sum(), EXTENDED(1e-300)))
        if rest > BALANCE:
            faults.append(f"the coefficients sum to {rest:.2g} of their sum of absolute values")
        return faults

    def relative_gap(self, beta: np.ndarray, f: np.ndarray, F: np.ndarray) -> float:
        """Give (primal - dual) / primal, each from its own sum, at the scores f; F is the expansion."""
        b, tau, d, rho = hinges(self.costs, self.y)
        m, zero = self.y * f, EXTENDED(0)
        half = beta @ F / 2
        primal = half + (self.weight * (b * np.maximum(zero, tau - m) + d * np.maximum(zero, rho - m))).sum()
        g, B = np.clip(self.y * beta, 0, self.weight * (b + d)), self.weight * b
        dual = (tau * np.minimum(g, B) + rho * np.maximum(zero, g - B)).sum() - half
        return float((primal - dual) / primal) if primal > 0 else float(primal - dual)

    def expansion(self, beta: np.ndarray) -> np.ndarray:
        """Give sum_j beta_j k(x_i, x_j)."""
        return (self.K * beta).sum(axis=1)

    def best_bias(self, F: np.ndarray) -> Any:
        """Give a bias that minimises the primal: one of the scores at which a row sits on a knot."""
        b, tau, d, rho = hinges(self.costs, self.y)
        values = np.unique(np.concatenate([self.y * tau - F, self.y * rho - F]))

        def loss(bias: Any) -> Any:
            m = self.y * (F + bias)
            return (self.weight * (b * np.maximum(0, tau - m) + d * np.maximum(0, rho - m))).sum()

        low, high = 0, len(values) - 1
        while high - low > 2:  # the loss is convex in the bias
            left, right = low + (high - low) // 3, high - (high - low) // 3
            low, high = (low, right) if loss(values[left]) <= loss(values[right]) else (left, high)
        return min(values[low : high + 1], key=loss)


def is_too_low(reported: float, true: float) -> bool:
    """Whether a reported gap is below half the true one and also more than 1e-8 below it."""
    return not reported >= min(SHARE * true, true - SLACK)


def weights(case: Case) -> np.ndarray:
    """Give w_i = C s_i."""
    ones = np.ones(len(case.y))
    return EXTENDED(case.options["C"]) * (ones if case.weight is None else case.weight).astype(EXTENDED)


def judge(case: Case, clf: Any, K: np.ndarray | None = None) -> Verdict:
    """Recompute the proof of a fitted machine from its published attributes."""
    faults: list[str] = []
    name = case.options["kernel"]
    K = gram(case, clf.machine_.kernel) if K is None else K
    promised = 10 * max(clf.tol, 1e-3)
    if name == "sigmoid":  # indefinite: the gap bounds nothing, so that only the status is judged
        kept = np.flatnonzero(weights(case))
        K = K[np.ix_(kept, kept)].astype(np.float64)
        lowest = float(np.linalg.eigvalsh(K)[0])
        if clf.status_ == "optimal" and lowest < -1e-6 * len(K) * float(np.abs(K).max()):
            faults.append(f'status "optimal" with an eigenvalue of {lowest:.2g}')
        return Verdict(clf.status_, clf.duality_gap_, math.nan, faults)
    problem = Objectives(K, case.y, weights(case), case.options["costs"])
    beta = np.zeros(len(case.y), EXTENDED)
    beta[clf.support_] = clf.dual_coef_[0]
    faults += problem.dual_faults(beta)
    F = problem.expansion(beta)
    scores = {"decision_function": clf.decision_function(case.X).astype(EXTENDED)}
    if name != "linear":
        scores["dual_coef_ and intercept_"] = F + EXTENDED(clf.intercept_[0])
    elif np.abs(case.dense.mean(axis=0)).max() <= NEAR * max(case.dense.std(), 1e-300):
        # far from the origin one number cannot hold w.x and the bias: only decision_function has the digits there
        scores["coef_ and intercept_"] = case.dense @ clf.coef_[0].astype(EXTENDED) + EXTENDED(clf.intercept_[0])
    worst = -math.inf
    for source, f in scores.items():
        true = problem.relative_gap(beta, f, F)
        if source.startswith("dual_coef_") and not true >= -SLACK:
            faults.append(f"the dual value exceeds the primal one by {-true:.2g}, by {source}")
        true = abs(true)  # scores that were rounded in float64 can lie on either side
        worst = max(worst, true)
        if is_too_low(clf.duality_gap_, true):
            faults.append(f"reported gap {clf.duality_gap_:.3g}, true gap {true:.3g} by {source}")
        if clf.status_ == "optimal" and not true <= promised + SLACK:
            faults.append(f'status "optimal" with a gap of {true:.3g} by {source}, above {promised:g}')
    return Verdict(clf.status_, clf.duality_gap_, worst, faults)


def fitted(case: Case) -> tuple[Any, list[str]]:
    """Fit; give the machine (None if the problem is refused) and what is wrong with how the fit ended."""
    clf = RejectSVC(**case.options)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            clf.fit(case.X, case.y, case.weight)
        except ValueError as refusal:
            return None, [] if len(str(refusal)) > 40 else [f"refused without a reason: {refusal}"]
    warned = [str(one.message) for one in caught if not issubclass(one.category, ConvergenceWarning)]
    if any(issubclass(one.category, ConvergenceWarning) for one in caught) == (clf.status_ == "optimal"):
        warned.append(f"status {clf.status_!r} with {len(caught)} warnings")
    return clf, warned


def check_fit(case: Case) -> Verdict:
    """Fit a case and judge it."""
    clf, faults = fitted(case)
    if clf is None:
        return Verdict("refused", faults=faults)
    verdict = judge(case, clf)
    return Verdict(verdict.status, verdict.reported, verdict.true, faults + verdict.faults)
