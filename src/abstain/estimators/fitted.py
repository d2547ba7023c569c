"""The fitted attributes of a machine, from the solution of its training problem."""

from __future__ import annotations

from typing import Any

import numpy as np

from abstain.dual.certificate import SET_NAMES, Certificate, sets
from abstain.dual.problem import DualProblem
from abstain.dual.solution import DualSolution
from abstain.estimators.convergence import checked_status, is_indefinite
from abstain.estimators.decide import Terms
from abstain.estimators.training import Training
from abstain.thresholds import Thresholds


def fitted_attributes(
    training: Training, problem: DualProblem, solution: DualSolution, proof: Certificate, terms: Terms, *, tol: float
) -> dict[str, Any]:
    """All that `fit` sets, oriented to ``classes_[1]``: negated if the positive class is ``classes_[0]``."""
    indefinite = is_indefinite(problem, solution.beta)
    labels, towards = terms.labels, terms.labels.orientation
    active = np.flatnonzero(solution.beta)
    support = training.kept[active]
    signs = towards * training.sign[support]
    codes = np.zeros(len(training.sign), dtype=np.int8)  # a row of weight 0 has g = 0
    codes[training.kept] = sets(problem, solution.beta)
    score = problem.loss.thresholds
    return {
        "classes_": labels.classes,
        "reject_label_": labels.reject_label,
        "support_": support,
        "support_vectors_": training.vectors(support),
        "n_support_": np.array([np.sum(signs < 0), np.sum(signs > 0)], dtype=np.int32),
        "dual_coef_": towards * solution.beta[active][np.newaxis],
        "intercept_": np.array([towards * solution.bias]),
        "thresholds_": score if towards > 0 else Thresholds(0.0 - score.upper, 0.0 - score.lower),
        "sets_": codes,
        "set_names_": SET_NAMES[problem.loss.n_knots],
        "n_iter_": solution.iterations,
        "status_": checked_status(solution, proof, tol, indefinite=indefinite).value,
        "objective_": proof.primal,
        "dual_objective_": proof.dual,
        "duality_gap_": proof.relative_gap,
        "_kkt_violation": proof.kkt_violation,
        "_indefinite": indefinite,
        "_terms": terms,
        "_weight": training.weight,
        "_kernel": training.kernel,
        "_X_fit": training.basis(),
    }
