"""Logistic regression, a forest and boosting with Chow's rule, each tuned by its out-of-fold cost.

Their fits do not depend on the costs: out-of-fold probabilities of all candidates are computed once, and for each of
the costs the candidate whose decisions cost least is chosen, once with and once without a reject option.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from harness.paid import paid
from harness.rules import sigmoid
from measure_sets import Array, Signs
from measure_trial import COSTS, Trial, thresholds
from scipy.special import expit, logit
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression

from abstain import Costs

TREES, STAGES = 100, (20, 40, 80, 160)
TIE = 1e-10  # mean costs this close differ only by the order of summation
Calibrate = Callable[[Array, Signs], Callable[[Array], Array]]


@dataclass(frozen=True)
class Family:
    """Candidates: each model, simplest first, in each variant that `read` or a calibration gives without a new fit."""

    models: tuple[Any, ...]
    read: Callable[[Any, Array], dict[str, Array]]
    calibrations: Mapping[str, Calibrate] = field(default_factory=dict)


def platt(probability: Array, sign: Signs) -> Callable[[Array], Array]:
    """Platt's sigmoid on the log-odds."""
    a, b = sigmoid(_log_odds(probability), sign)
    return lambda p: expit(a * _log_odds(p) + b)


def isotonic(probability: Array, sign: Signs) -> Callable[[Array], Array]:
    """The monotone least-squares fit of the classes."""
    return IsotonicRegression(y_min=0.0, y_max=1.0, out_of_bounds="clip").fit(probability, sign > 0).predict


def _log_odds(probability: Array) -> Array:
    return logit((TREES * probability + 0.5) / (TREES + 1))  # finite where all trees agree


def _as_is(model: Any, X: Array) -> dict[str, Array]:
    return {"as is": model.predict_proba(X)[:, 1]}


def _stages(model: Any, X: Array) -> dict[str, Array]:
    at = enumerate(model.staged_predict_proba(X), start=1)
    return {f"{stage} trees": p[:, 1] for stage, p in at if stage in STAGES}


def families(seed: int) -> dict[str, Family]:
    """12 x 2 penalties; 8 forests as they are and calibrated in two ways; 6 boosted models at 4 stages."""
    half_decades = np.logspace(-3, 2.5, 12)
    ridge = [LogisticRegression(C=C, max_iter=5000) for C in half_decades]
    lasso = [LogisticRegression(C=C, l1_ratio=1, solver="liblinear", random_state=seed) for C in half_decades]
    forests = [
        RandomForestClassifier(TREES, min_samples_leaf=leaf, max_features=share, random_state=seed)
        for leaf in (20, 8, 3, 1)
        for share in ("sqrt", 0.5)
    ]
    boosted = [
        HistGradientBoostingClassifier(
            max_iter=STAGES[-1],
            learning_rate=rate,
            max_leaf_nodes=leaves,
            min_samples_leaf=least,
            early_stopping=False,
            random_state=seed,
        )
        for leaves, least in ((3, 5), (8, 10), (16, 20))
        for rate in (0.05, 0.15)
    ]
    return {
        "logistic": Family((*ridge, *lasso), _as_is),
        "forest": Family(tuple(forests), _as_is, {"platt": platt, "isotonic": isotonic}),
        "boosting": Family(tuple(boosted), _stages),
    }


class Tuned:
    """A family on one split: its out-of-fold probabilities, and the final fits, each made once."""

    def __init__(self, family: Family, trial: Trial) -> None:
        self.family, self.trial = family, trial
        self.raw = [self._held_out(model) for model in family.models]
        self.held_out = [{**raw, **self._calibrated(raw)} for raw in self.raw]
        self.fits: dict[int, Any] = {}

    def choose(self, costs: Costs, *, reject: bool) -> tuple[int, str, float]:
        """Model and variant of least out-of-fold mean cost; ties go to the first."""
        decide, best = thresholds(costs, reject=reject).decide, (-1, "", np.inf)
        for k, variants in enumerate(self.held_out):
            for variant, probability in variants.items():
                cost = float(paid(costs, self.trial.sign, decide(probability)).mean())
                if cost < best[2] - TIE:
                    best = k, variant, cost
        return best

    def probability(self, k: int, variant: str) -> Array:
        """Probabilities of the test rows by this model, fitted to all training rows."""
        if k not in self.fits:
            self.fits[k] = clone(self.family.models[k]).fit(self.trial.X, self.trial.sign)
        raw = self.family.read(self.fits[k], self.trial.X_test)
        if variant in raw:
            return raw[variant]
        return self.family.calibrations[variant](self.raw[k]["as is"], self.trial.sign)(raw["as is"])

    @property
    def candidates(self) -> int:
        """The number of candidates."""
        return sum(map(len, self.held_out))

    def _held_out(self, model: Any) -> dict[str, Array]:
        X, sign = self.trial.X, self.trial.sign
        found: dict[str, Array] = {}
        for train, test in self.trial.folds:
            fitted = clone(model).fit(X[train], sign[train])
            for variant, probability in self.family.read(fitted, X[test]).items():
                found.setdefault(variant, np.empty(len(sign)))[test] = probability
        return found

    def _calibrated(self, raw: dict[str, Array]) -> dict[str, Array]:
        """Each fold calibrated by the out-of-fold probabilities of the other folds."""
        found = {}
        for name, calibrate in self.family.calibrations.items():
            found[name] = np.empty(len(self.trial.sign))
            for train, test in self.trial.folds:
                found[name][test] = calibrate(raw["as is"][train], self.trial.sign[train])(raw["as is"][test])
        return found


def others(name: str, seed: int, *, few: bool = False) -> list[dict[str, Any]]:
    """All families on one split, for all costs, with and without a reject option; `few`: one model of each."""
    trial, rows = Trial.of(name, seed), []
    for kind, family in families(seed).items():
        tuned = Tuned(replace(family, models=family.models[:1]) if few else family, trial)
        for costs, prices in COSTS.items():
            for reject, method in ((True, f"{kind} + Chow"), (False, f"{kind}, forced")):
                k, variant, estimate = tuned.choose(prices, reject=reject)
                choice = thresholds(prices, reject=reject).decide(tuned.probability(k, variant))
                facts = {"estimate": estimate, "chosen": f"{k} {variant}", "candidates": tuned.candidates}
                rows.append(trial.judged(costs, method, choice, **facts))
    return rows
