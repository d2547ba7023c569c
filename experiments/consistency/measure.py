"""Excess risk over Bayes' against the number of training rows, where Bayes' risk is known in closed form."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from harness import Task
from harness.rules import fixed, platt, symmetric
from harness.search import Array, Decide, Rule, Search, Signs
from scipy import stats

from abstain import Costs, RejectSVC
from abstain.datasets import Gaussians, make_gaussians
from abstain.losses.tangent_hinge import double_hinge, hinge

COSTS = {"symmetric": Costs(reject=0.2), "asymmetric": Costs(false_positive=1, false_negative=5, reject=0.3)}
RULES = ("double hinge", "Chow on Platt", "naive")
LAW = {"n_features": 2, "distance": 3.0, "scale": 3.0, "prior": 0.5}
REPEATS = {100: 40, 300: 40, 800: 20, 2400: 12, 7000: 8, 20000: 5}
BATCH = {100: 20, 300: 20, 800: 5, 2400: 3, 7000: 1, 20000: 1}
TEST_ROWS, FOLDS = 20_000, 3
# C(n) = C_0 (n / 1000)^-0.6, that is lambda_n = 1 / (2 n C) of order n^-0.4: it goes to 0, and n lambda_n^2 / log n to
# infinity, as GRKC08's theorem 1 asks. Where C_0 and gamma come from: the same for all rules (the double hinge's
# below, for asymmetric costs); for each rule those of least mean excess risk on pilot samples (`pilot`), an oracle's
# choice; or cross-validation on the rows at hand.
EXPONENT, START = -0.6, 1000
SAME = (10.0, 0.4)
ORACLE: dict[str, dict[str, tuple[float, float]]] = {
    "symmetric": {"double hinge": (10.0, 0.025), "Chow on Platt": (1.0, 0.025), "naive": (1.0, 0.025)},
    "asymmetric": {"double hinge": (10.0, 0.4), "Chow on Platt": (1.0, 0.025), "naive": (10.0, 0.1)},
}
CS, GAMMAS = np.logspace(-2, 3, 6), 0.025 * 2.0 ** np.arange(7)
PILOTS = 5
WAYS = ("same", "oracle", "cross-validated")


def the_law() -> Gaussians:
    """The two classes: round Gaussians, the positive one wider, so that Bayes' regions are rings."""
    return make_gaussians(2, **LAW, random_state=0).law


def scheduled(C: float, n: int, at: int) -> float:
    """The C for n rows that goes with C for `at` rows."""
    return C * (n / at) ** EXPONENT


def draw(law: Gaussians, n: int, seed: int) -> tuple[Array, Signs]:
    """Training rows with signs."""
    X, y = law.sample(n, random_state=seed)
    return X, np.where(y > 0, 1, -1).astype(np.int8)


def excess(law: Gaussians, X: Array, choice: Signs, costs: Costs) -> float:
    """Mean over the rows of the choice's expected cost given x, minus that of Bayes' choice; no label is drawn."""
    prices = costs.table()
    own, best = (law.expected_prices(X, made, prices) for made in (choice, law.bayes_choice(X, prices)))
    return float(np.mean(own - best))


def rule_of(name: str, costs: Costs) -> Rule:
    """The rule by its name; the last two read the scores of a plain SVM."""
    return {"double hinge": fixed(costs.score_thresholds()), "Chow on Platt": platt, "naive": symmetric()}[name]


def learnt(X: Array, sign: Signs, rule: str, costs: Costs, *, C: float, gamma: float) -> Decide:
    """The rule at this C and gamma, as a function of new rows; what it has to learn comes from held-out scores."""
    if rule == "double hinge":
        decide = costs.score_thresholds().decide
    else:
        held_out = Search.of(X, sign, hinge(), np.array([C]), np.array([gamma]), folds=FOLDS, seed=0)
        decide = rule_of(rule, costs)(held_out.scores[0, 0], sign, costs)
    machine = RejectSVC(costs if rule == "double hinge" else None, C=C, gamma=gamma).fit(X, sign)
    return lambda rows: decide(machine.decision_function(rows))


def pilot(kind: str, rule: str, n: int = START, samples: int = PILOTS) -> list[dict[str, Any]]:
    """The mean excess risk of a rule for every pair, on samples that serve no other purpose."""
    law, costs = the_law(), COSTS[kind]
    fresh, _ = law.sample(TEST_ROWS, random_state=3_000_000)
    drawn = [draw(law, n, 4_000_000 + k) for k in range(samples)]
    found = []
    for C in CS.tolist():
        for gamma in GAMMAS.tolist():
            choices = [learnt(*rows, rule, costs, C=C, gamma=gamma)(fresh) for rows in drawn]
            mean = float(np.mean([excess(law, fresh, choice, costs) for choice in choices]))
            found.append({"C": C, "gamma": gamma, "excess": mean})
    return found


def tuned(X: Array, sign: Signs, costs: Costs, rules: tuple[str, ...]) -> dict[str, tuple[float, float]]:
    """C and gamma of each rule by cross-validated cost on the first rows, C then carried on to all by the schedule."""
    at = min(len(sign), START)
    found = {}
    for rule in rules:
        loss = double_hinge(costs) if rule == "double hinge" else hinge()
        search = Search.of(X[:at], sign[:at], loss, CS, GAMMAS, folds=FOLDS, seed=0)
        chosen = search.choose(rule_of(rule, costs), costs, cross_fit=True)
        found[rule] = scheduled(chosen.C, len(sign), at), chosen.gamma
    return found


def pairs_of(way: str, kind: str, X: Array, sign: Signs) -> dict[str, tuple[float, float]]:
    """C and gamma of each rule for these rows."""
    if way == "cross-validated":
        return tuned(X, sign, COSTS[kind], RULES)
    constants = dict.fromkeys(RULES, SAME) if way == "same" else ORACLE[kind]
    return {rule: (scheduled(C, len(sign), START), gamma) for rule, (C, gamma) in constants.items()}


def repeat(n: int, seed: int) -> list[dict[str, Any]]:
    """Every rule, both costs and all ways to C and gamma, on one training sample; one row each."""
    law = the_law()
    X, sign = draw(law, n, seed=1_000_000 + 1000 * seed + n)
    fresh, _ = law.sample(TEST_ROWS, random_state=2_000_000 + 1000 * seed + n)
    rows = []
    for kind, costs in COSTS.items():
        for way in WAYS:
            pairs = pairs_of(way, kind, X, sign)
            for rule, (C, gamma) in pairs.items():
                choice = learnt(X, sign, rule, costs, C=C, gamma=gamma)(fresh)
                found = {"excess": excess(law, fresh, choice, costs), "rejected": float((choice == 0).mean())}
                facts = {"n": n, "seed": seed, "costs": kind, "way": way, "rule": rule, "C": C, "gamma": gamma}
                rows.append({**facts, **found})
    return rows


def repeats(n: int, seeds: list[int]) -> list[dict[str, Any]]:
    """Several training samples of one size."""
    return [row for seed in seeds for row in repeat(n, seed)]


def tasks(fast: bool) -> list[Task]:
    """Some training samples of one size each; and the pilot, a task for each rule and costs."""
    counts = {100: 3, 300: 3} if fast else REPEATS
    samples = [
        Task(f"{n}/{at}", repeats, {"n": n, "seeds": list(range(at, min(at + BATCH[n], count)))})
        for n, count in counts.items()
        for at in range(0, count, BATCH[n])
    ]
    pilots = [Task(f"pilot/{kind}/{rule}", pilot, {"kind": kind, "rule": rule}) for kind in COSTS for rule in RULES]
    return samples if fast else [*pilots, *samples]


def summary(answers: Mapping[str, Any]) -> dict[str, Any]:
    """Mean excess risks with standard errors, and the rivals' paired differences to the double hinge."""
    rows = [row for key, answer in answers.items() if not key.startswith("pilot") for row in answer]
    law = the_law()
    sizes = sorted({row["n"] for row in rows})
    return {
        "law": LAW,
        "sizes": sizes,
        "test_rows": TEST_ROWS,
        "folds": FOLDS,
        "schedule": {"exponent": EXPONENT, "n": START, "same": SAME, "oracle": ORACLE, "pilots": PILOTS},
        "pilot": {key: min(found, key=lambda row: row["excess"]) for key, found in answers.items() if "pilot" in key},
        "grid": {"Cs": CS.tolist(), "gammas": GAMMAS.tolist()},
        "costs": {kind: facts_of(law, costs) for kind, costs in COSTS.items()},
        "curves": {way: {kind: curves(rows, kind, way, sizes) for kind in COSTS} for way in WAYS},
    }


def facts_of(law: Gaussians, costs: Costs) -> dict[str, Any]:
    """Bayes' risk in closed form, its thresholds and how often it decides what."""
    thresholds = costs.thresholds()
    shares = law.rates(thresholds.lower, thresholds.upper).sum(axis=0)
    errors = {"false_positive": costs.false_positive, "false_negative": costs.false_negative}
    return {
        "prices": {**errors, "reject": costs.reject},
        "bayes_risk": law.bayes_risk(costs.table()),
        "thresholds": [thresholds.lower, thresholds.upper],
        "decided": dict(zip(("negative", "reject", "positive"), shares.tolist(), strict=True)),
    }


def curves(rows: list[dict[str, Any]], kind: str, way: str, sizes: list[int]) -> dict[str, Any]:
    """For each rule a point per size."""
    points: dict[str, list[dict[str, Any]]] = {rule: [] for rule in RULES}
    for n in sizes:
        here = sorted(
            (row for row in rows if (row["n"], row["costs"], row["way"]) == (n, kind, way)), key=lambda row: row["seed"]
        )
        found = {rule: np.array([row["excess"] for row in here if row["rule"] == rule]) for rule in RULES}
        for rule in RULES:
            own = [row for row in here if row["rule"] == rule]
            point = {"n": n, **sampled(found[rule]), "rejected": float(np.mean([row["rejected"] for row in own]))}
            point |= {name: float(np.median([row[name] for row in own])) for name in ("C", "gamma")}
            point["minus_double_hinge"] = sampled(found[rule] - found["double hinge"])
            points[rule].append(point)
    return points


def sampled(values: Array) -> dict[str, float]:
    """Mean, standard error and Student's 95 % interval over independent samples."""
    mean, error = float(values.mean()), float(values.std(ddof=1) / np.sqrt(len(values)))
    half = float(stats.t.isf(0.025, df=len(values) - 1)) * error
    return {"mean": mean, "standard_error": error, "low": mean - half, "high": mean + half, "samples": len(values)}
