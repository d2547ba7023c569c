"""Support vector machines: RejectSVCCV with Bayes' cuts, forced, and rules on the scores of a plain SVM."""

from __future__ import annotations

from typing import Any

import numpy as np
from harness.rules import platt
from harness.search import Search
from measure_trial import CANDIDATES, COSTS, FOLDS, Trial, forced

from abstain import Costs, RejectSVC, RejectSVCCV, ThresholdRejector
from abstain.losses.tangent_hinge import hinge

CS, GAMMAS = 6, 4  # as RejectSVCCV spaces them
RULES = {"SVM + symmetric": "symmetric", "SVM + ROC": "roc", "SVM + Chow": "chow"}


def searched(trial: Trial, costs: Costs | None, cuts: str) -> RejectSVCCV:
    """The library's search; versions without the parameter `cuts` have Bayes' cuts only."""
    stated = costs is not None and "cuts" in RejectSVCCV().get_params()
    chosen = {"cuts": cuts} if stated or cuts != "bayes" else {}
    return RejectSVCCV(costs, Cs=CS, gammas=GAMMAS, cv=trial.folds, **chosen).fit(trial.X, trial.sign)


def facts(machine: RejectSVCCV) -> dict[str, Any]:
    """What the search says its decisions cost, its least mean cost, and the pair."""
    scores = machine.cv_results_["mean_test_score"]
    return {
        "estimate": -float(machine.best_score_),
        "least": -float(np.nanmax(scores)),
        "chosen": f"{machine.C_:g} {machine.gamma_:g}",
        "candidates": len(scores),
    }


def svm(name: str, seed: int) -> list[dict[str, Any]]:
    """The machines of this file on one split, for all costs."""
    trial, rows = Trial.of(name, seed), []
    plain = searched(trial, None, "bayes")
    scale = 1 / (trial.X.shape[1] * trial.X.var())
    widths, Cs = scale * 4.0 ** np.linspace(-2, 2, GAMMAS), np.logspace(-2, 3, CS)
    grid = Search.of(trial.X, trial.sign, hinge(), Cs, widths, folds=FOLDS, seed=seed)
    for key, costs in COSTS.items():
        for method, stated in (("RejectSVCCV", costs), ("RejectSVCCV, forced", forced(costs))):
            machine = searched(trial, stated, "bayes")
            rows.append(trial.judged(key, method, machine.predict(trial.X_test), **facts(machine)))
        for method, rule in RULES.items():
            base = RejectSVC(C=plain.C_, gamma=plain.gamma_)
            ruled = ThresholdRejector(base, costs, method=rule, cv=trial.splitter).fit(trial.X, trial.sign)
            pair = {"chosen": f"{plain.C_:g} {plain.gamma_:g}", "candidates": CANDIDATES}
            rows.append(trial.judged(key, method, ruled.predict(trial.X_test), **pair))
        best = grid.choose(platt, costs, cross_fit=True)
        fitted = RejectSVC(C=best.C, gamma=best.gamma).fit(trial.X, trial.sign)
        found = {"estimate": best.cost, "chosen": f"{best.C:g} {best.gamma:g}", "candidates": grid.scores[..., 0].size}
        choice = best.decide(fitted.decision_function(trial.X_test))
        rows.append(trial.judged(key, "SVM + Chow, by cost", choice, **found))
    return rows
