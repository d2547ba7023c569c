"""Machines that are wrong on purpose: the judge of ``adversary_cases`` must object to each."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from abstain import Costs, RejectSVC
from adversary_cases import Case, judge

PUBLISHED = ("support_", "dual_coef_", "intercept_", "duality_gap_", "status_", "tol", "machine_")


def controls(kernel: str = "rbf") -> tuple[Case, dict[str, Any]]:
    """Give a case and, by name, the machine fitted to it (first) and its mutants."""
    rng = np.random.default_rng(0)
    y = np.where(np.arange(120) % 2, 1, -1)
    X = rng.normal(size=(120, 3)) + 0.5 * y[:, np.newaxis]
    case = Case(0, X, y, None, {"kernel": kernel, "C": 1e4, "costs": Costs(1, 5, 0.3)}, "control")
    clf = RejectSVC(**case.options).fit(X, y)

    def mutant(score: Any = clf.decision_function, **changes: Any) -> Any:
        return SimpleNamespace(
            **{**{name: getattr(clf, name) for name in PUBLISHED}, **changes}, decision_function=score
        )

    coef, bias = clf.dual_coef_, clf.intercept_
    one, two = coef.copy(), coef.copy()
    one[0, 0] *= 1.001
    inner = np.flatnonzero(clf.sets_[clf.support_] % 2)[:2]
    two[0, inner] += np.array([1.0, -1.0]) * 0.01 * np.abs(coef[0, inner]).min()
    return case, {
        "unchanged": mutant(),
        "a coefficient times 1.001": mutant(dual_coef_=one),
        "two coefficients moved, their sum kept": mutant(dual_coef_=two),
        "the bias moved by 0.001": mutant(intercept_=bias + 1e-3),
        "scores moved by 0.001": mutant(lambda X: clf.decision_function(X) + 1e-3),
        "scores from coefficients in single precision": mutant(
            lambda X: (
                clf.machine_.kernel(X, clf.support_vectors_).astype(np.float32) @ coef[0].astype(np.float32)
                + bias.astype(np.float32)
            )
        ),
        "a gap divided by 1000": mutant(dual_coef_=0.99 * coef, duality_gap_=clf.duality_gap_ / 1000),
        "coefficients outside their boxes": mutant(dual_coef_=2.0 * coef),
    }


def missed_controls() -> list[str]:
    """Name the mutants without a fault, and the unchanged machine if it has one."""
    case, machines = controls()
    return [name for name, clf in machines.items() if bool(judge(case, clf).faults) == (name == "unchanged")]
