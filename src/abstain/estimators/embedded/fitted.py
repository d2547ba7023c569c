"""The fitted attributes of FR02's machine, and what to say of a fit that did not end at a local minimum."""

from __future__ import annotations

from typing import Any

import numpy as np

from abstain.costs import Costs
from abstain.estimators.decide import Terms
from abstain.estimators.embedded.training import EmbeddedTraining
from abstain.solvers.embedded.dual import EmbeddedDual
from abstain.solvers.embedded.problem import EmbeddedSolution
from abstain.thresholds import Thresholds


def fitted_attributes(parameters: Any, training: EmbeddedTraining, solution: EmbeddedSolution) -> dict[str, Any]:
    """All that `fit` sets."""
    labels, loss, problem = training.labels, training.problem.loss, training.problem
    if not np.isfinite(solution.objective):
        raise ValueError(f"C={parameters.C:g} times the losses overflows; lower C.")
    bound = solution.lower_bound
    if bound is None and parameters.lower_bound:
        dual = EmbeddedDual(max_iter=int(parameters.max_iter), time_limit=parameters.time_limit)
        bound = dual.solve(problem).lower_bound
    thresholds = Thresholds(-solution.eps if solution.eps else 0.0, solution.eps)
    choice = thresholds.decide(problem.z @ solution.u + solution.b)
    # the price of a reject is only charged where there are any; beyond 1/2, which Costs refuses, there are none
    costs = Costs(reject=min(loss.reject_cost, 0.5))
    return {
        **training.machine(solution),
        "classes_": labels.classes,
        "reject_label_": labels.reject_label,
        "eps_": solution.eps,
        "thresholds_": thresholds,
        "objective_": float(solution.objective),
        "training_risk_": float(costs.prices(problem.sign, choice).mean()),
        **({} if bound is None else {"lower_bound_": float(bound)}),
        "n_iter_": solution.iterations,
        "status_": "inaccurate" if _indefinite(training) and solution.status == "local" else solution.status,
        # the score is no log-odds: nothing is said of probabilities, so `decide` has no expected costs
        "_terms": Terms(labels, costs, cut=0.0, log_odds_per_score=np.nan),
    }


def _indefinite(training: EmbeddedTraining) -> bool:
    return training.factor is not None and not training.factor.definite


def warning_text(parameters: Any, fitted: dict[str, Any], training: EmbeddedTraining) -> str | None:
    """What to tell the user about a fit that ended at no local minimum, with a way out; else None."""
    if fitted["status_"] == "local":
        return None
    advice = {
        "iteration_limit": f"raise max_iter={parameters.max_iter}",
        "time_limit": f"raise time_limit={parameters.time_limit} or lower n_starts={parameters.n_starts}",
        "inaccurate": "scale the features or lower C",
    }[fitted["status_"]]
    if _indefinite(training):
        advice = "the kernel is not positive semidefinite on these rows, and was replaced by one that is; use another"
    return (
        f"{type(parameters).__name__} stopped after {fitted['n_iter_']} steps with status {fitted['status_']!r} "
        f"at objective {fitted['objective_']:.6g}; {advice}."
    )
