"""scikit-learn's SVC, forests and boosting, and MAPIE's conformal sets, tuned by their out-of-fold cost.

Their fits do not depend on the costs: out-of-fold scores of all candidates are computed once, and for each of the costs
and each rule the candidate whose decisions cost least is chosen.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from measure_rules import Decided, Rule, as_is, cost_of, lead_cut, platt, temperature
from measure_sets import Array, Codes, Split
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.model_selection import train_test_split
from sklearn.svm import SVC

TREES, STAGES, LEAVES, SHARES, NODES = 100, (20, 40, 80), (1, 3), ("sqrt", 0.3), (8, 16)
FOLDS_OF_TREES = 3  # the first folds; the other machines use all five
LEVELS = (0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.925, 0.95, 0.975, 0.99)
Read = Callable[[Any, Array], list[Array]]  # the scores of a fitted model; several if it has stages


class Family:
    """Candidates on one split: out-of-fold scores, and test scores of fits to all training rows, each made once."""

    def __init__(self, models: list[Any], read: Read, split: Split, folds: list[Any]) -> None:
        self.split, self.models, self.read = split, models, read
        X, y = split.X, split.y
        self.rows = np.concatenate([test for _, test in folds])
        self.held_out: list[tuple[int, int, Array]] = []
        for k, model in enumerate(models):
            parts = [read(clone(model).fit(X[a], y[a]), X[b]) for a, b in folds]
            self.held_out += [(k, v, np.concatenate(variant)) for v, variant in enumerate(zip(*parts, strict=True))]
        self.tested: dict[int, list[Array]] = {}

    def choose(self, rules: list[Rule], table: Array) -> Decided:
        """Decide the test rows by the candidate and rule of least out-of-fold cost; ties go to the first."""
        y, best = self.split.y[self.rows], None
        for k, v, score in self.held_out:
            for rule in rules:
                decide = rule(score, y, table)
                cost = cost_of(y, decide(score).choice, table)
                if best is None or cost < best[0] - 1e-10:
                    best = cost, k, v, decide
        assert best is not None  # noqa: S101 (every family has candidates)
        _, k, v, decide = best
        return decide(self.test_scores(k)[v])

    def test_scores(self, k: int) -> list[Array]:
        """Scores of the test rows by the k-th model, fitted to all training rows."""
        if k not in self.tested:
            fitted = clone(self.models[k]).fit(self.split.X, self.split.y)
            self.tested[k] = self.read(fitted, self.split.X_test)
        return self.tested[k]


def _margins(model: Any, X: Array) -> list[Array]:
    return [model.decision_function(X)]


def _logs(model: Any, X: Array) -> list[Array]:
    return [_log(model.predict_proba(X))]


def _stages(model: Any, X: Array) -> list[Array]:
    return [_log(p) for stage, p in enumerate(model.staged_predict_proba(X), start=1) if stage in STAGES]


def _log(p: Array) -> Array:
    """Finite where no tree votes for a class; the rows still sum to 1."""
    return np.log((TREES * p + 0.5 / p.shape[1]) / (TREES + 0.5))


def others(split: Split, grid: Mapping[str, Any], tables: Mapping[str, Array]) -> dict[str, dict[str, Decided]]:
    """Method -> costs -> decisions."""
    seed = split.seed
    machines = [SVC(C=C, gamma=gamma, cache_size=500) for C in grid["Cs"] for gamma in grid["gammas"]]
    forests = [
        RandomForestClassifier(TREES, min_samples_leaf=leaf, max_features=share, random_state=seed)
        for leaf in LEAVES
        for share in SHARES
    ]
    shared = {"max_iter": STAGES[-1], "min_samples_leaf": 5, "max_bins": 63, "early_stopping": False}
    boosted = [HistGradientBoostingClassifier(max_leaf_nodes=n, random_state=seed, **shared) for n in NODES]
    svc = Family(machines, _margins, split, split.folds)
    forest = Family(forests, _logs, split, split.folds[:FOLDS_OF_TREES])
    boosting = Family(boosted, _stages, split, split.folds[:FOLDS_OF_TREES])
    chow: list[Rule] = [as_is, temperature]
    found: dict[str, dict[str, Decided]] = {}
    for costs, table in tables.items():
        for method, family, rules in (
            ("SVC + lead", svc, [lead_cut]),
            ("SVC + Platt", svc, [platt]),
            ("SVC + temperature", svc, [temperature]),
            ("forest + Chow", forest, chow),
            ("boosting + Chow", boosting, chow),
        ):
            found.setdefault(method, {})[costs] = family.choose(rules, table)
    sets = Conformal(forests, split)
    found["conformal sets"] = {costs: sets.decided(table) for costs, table in tables.items()}
    forced = {c: np.column_stack([t[:, :-1], np.full(len(t), 1e9)]) for c, t in tables.items()}
    found["SVC, forced"] = {costs: svc.choose([temperature], table) for costs, table in forced.items()}
    return found


class Conformal:
    """MAPIE's split-conformal sets (LAC) of a forest: a set of one class is the answer, any other a reject.

    A fifth of the training rows is held out for the sets. The forest and the level are those of least cost on them.
    """

    def __init__(self, forests: list[Any], split: Split) -> None:
        from mapie.classification import SplitConformalClassifier

        X, y, X_test = split.X, split.y, split.X_test
        kept, held = train_test_split(np.arange(len(y)), test_size=0.2, stratify=y, random_state=split.seed)
        levels = [level for level in LEVELS if (1 - level) * (len(held) + 1) >= 1]
        self.y, self.candidates = y[held], []
        for model in forests:
            fitted = clone(model).fit(X[kept], y[kept])
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                sets = SplitConformalClassifier(fitted, confidence_level=levels, prefit=True)
                sets.conformalize(X[held], y[held])
                named, tested = (sets.predict_set(rows)[1] for rows in (X[held], X_test))
            P = fitted.predict_proba(X_test)
            self.candidates += [(named[:, :, at], tested[:, :, at], P) for at in range(len(levels))]

    def decided(self, table: Array) -> Decided:
        """The decisions of the forest and the level of least cost on the held-out rows."""
        costs = [cost_of(self.y, _singletons(named), table) for named, _, _ in self.candidates]
        _, tested, P = self.candidates[int(np.argmin(np.round(costs, 10)))]
        return Decided(_singletons(tested), np.argmax(P, axis=1), P.max(axis=1))


def _singletons(named: Any) -> Codes:
    return np.where(named.sum(axis=1) == 1, named.argmax(axis=1), named.shape[1])
