"""Regularisation paths of the hard problems, judged as their fits are; shared by the tests and ``verification/``."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from abstain import reject_svc_path
from adversary_cases import EXTENDED, Case, Objectives, Verdict, gram, weights

PATH_GAP = 1e-6  # largest relative gap that `RegularizationPath.at` may leave


def check_path(case: Case, values: int = 5) -> Verdict:
    """Follow the path of a case and judge what it gives at random C."""
    options = {name: value for name, value in case.options.items() if name != "C"}
    C_max = max(10.0, case.options["C"])
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        try:
            path = reject_svc_path(case.X, case.y, sample_weight=case.weight, C_min=1e-3, C_max=C_max, **options)
        except (ValueError, ConvergenceWarning) as refusal:
            return Verdict("refused", faults=[] if len(str(refusal)) > 40 else [str(refusal)])
    K, faults, worst, refused = gram(case, path.problem.kernel), [], 0.0, 0
    rng = np.random.default_rng(case.seed)
    for C in np.exp(rng.uniform(math.log(1e-3), math.log(C_max), values)):
        at = Case(case.seed, case.X, case.y, case.weight, {**case.options, "C": float(C)}, case.about)
        problem = Objectives(K, case.y, weights(at), case.options["costs"])
        try:
            beta, intercept = path.at(float(C))
        except ValueError:
            refused += 1
            continue
        beta = beta.astype(EXTENDED)
        faults += problem.dual_faults(beta)
        F = problem.expansion(beta)
        # the intercept of a linear path far from the origin lacks the digits, so that the judge chooses the bias
        bias = problem.best_bias(F) if case.options["kernel"] == "linear" else EXTENDED(intercept)
        true = problem.relative_gap(beta, F + bias, F)
        worst = max(worst, true)
        if not true <= PATH_GAP:
            faults.append(f"a gap of {true:.3g} at C={C:.4g}")
    return Verdict("refused at some C" if refused else "optimal", PATH_GAP, worst, faults)


def line_gaps(case: Case, path: Any, Cs: np.ndarray) -> list[float]:
    """Give the true relative gap on the path's own lines at each C, without the fits that `at` falls back to."""
    K, gaps = gram(case, path.problem.kernel), []
    for C in Cs:
        at = Case(case.seed, case.X, case.y, case.weight, {**case.options, "C": float(C)}, case.about)
        problem = Objectives(K, case.y, weights(at), case.options["costs"])
        beta, bias = path._interpolated(float(C))
        beta = beta.astype(EXTENDED)
        F = problem.expansion(beta)
        gap = problem.relative_gap(beta, F + (problem.best_bias(F) if bias is None else EXTENDED(bias)), F)
        gaps.append(math.inf if problem.dual_faults(beta) else abs(gap))
    return gaps
