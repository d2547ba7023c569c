"""Which machines to try and whether to average them: each machine, the choice among several, and their average.

A cell is a split of a set at one of its costs. All machines are tuned on the same folds by one `MachineSearch`; what
other lists of machines would have chosen or averaged follows from the same held-out rows and the same fitted machines.
``python choices.py --only average`` writes average.json.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import cache
from itertools import product
from typing import Any

import numpy as np
from measure_sets import SETS, split
from measure_trial import COSTS
from sklearn.model_selection import StratifiedKFold, train_test_split
from sklearn.preprocessing import StandardScaler

import abstain.candidates.search as library
from abstain import Costs, MachineSearch
from abstain.candidates.average import averaged
from abstain.candidates.candidate_costs import paid, truth_and_costs
from abstain.candidates.trials import Choice

FIRST = 100  # of the seeds, which no other experiment and no choice of ours has used
SMALL_SPLITS = 4
SPLITS = {2500: 3, 6000: 2, 16_000: 2, 32_000: 1}  # training rows of the large sets, and splits
TESTED, FEWEST = 8000, 4000  # rows to test at most, and at least
MOST = {"covtype": 6000}  # rows of sets on which the svm takes too long: it has seven classes
MORE = {"0.1": 0.1, "0.3": 0.3}  # cost of a reject with several classes; an error costs 1
MACHINES = ("svm", "laplacian", "logistic", "boosting", "forest")
FORESTS = 2500  # rows up to which forests are tried
LISTS = (
    ("svm", "laplacian"),
    ("svm", "laplacian", "logistic"),
    ("svm", "laplacian", "forest"),
    ("svm", "laplacian", "logistic", "forest"),
    ("logistic", "boosting"),
    ("laplacian", "boosting"),
    ("svm", "laplacian", "boosting"),
    ("svm", "laplacian", "logistic", "boosting"),
    ("svm", "laplacian", "boosting", "forest"),
    MACHINES,
)
SIZES = {"up to 1,000": (0, 1000), "1,001 to 2,000": (1001, 2000)} | {f"{n:,}": (n, n) for n in SPLITS}
FLOOR = 0.002  # a mean cost below it counts as it: of few errors, ratios say nothing
RULES = ("choice", "average", "least", "one standard error")


@cache
def large() -> dict[str, Any]:
    """Public sets with enough rows: rows and classes as numbers from 0."""
    from public_data import load_covtype, load_letter, load_mitbih

    X, y = load_letter(return_X_y=True)
    found = {"vowels": (X, np.isin(y, [ord(letter) - ord("A") for letter in "AEIOU"]))}
    for name, classes in {"1 v 2": (1, 2), "3 v 2": (3, 2), "6 v 4": (6, 4), "": None}.items():
        found[f"covtype {name}".strip()] = load_covtype(classes=classes, return_X_y=True)
    found["mitbih beats"] = load_mitbih(return_X_y=True)
    return {name: (np.asarray(X, float), np.unique(y, return_inverse=True)[1]) for name, (X, y) in found.items()}


def cells() -> list[str]:
    """All cells: set/training rows/costs/seed, with 0 rows for the share of a small set."""
    seeds = range(FIRST, FIRST + SMALL_SPLITS)
    found = [f"{name}/0/{costs}/{seed}" for name, costs, seed in product(SETS, COSTS, seeds)]
    for (name, (_, y)), (rows, splits) in product(large().items(), SPLITS.items()):
        if rows <= MOST.get(name, rows) and len(y) >= rows + FEWEST:
            named = COSTS if y.max() == 1 else MORE
            found += [f"{name}/{rows}/{costs}/{seed}" for costs in named for seed in range(FIRST, FIRST + splits)]
    return found


def load(wanted: list[str]) -> None:
    """Read the sets."""
    for name in {cell.split("/")[0] for cell in wanted}:
        large() if name in large() else split(name, 0)


def seconds(cell: str) -> float:
    """About how long a cell takes, to begin with the longest."""
    name, rows, _, _ = cell.split("/")
    return max(600, int(rows)) * (4.0 if name in MOST else 1.0)


def table_of(cell: str) -> tuple[Any, dict[str, Any]]:
    """The costs of a cell, and the labels."""
    name, rows, costs, _ = cell.split("/")
    if int(rows) == 0:
        return COSTS[costs], {"pos_label": 1, "reject_label": 0}
    n_classes = int(large()[name][1].max()) + 1
    if n_classes == 2:
        return COSTS[costs], {"pos_label": 1, "reject_label": -1}
    return Costs.from_matrix(1.0 - np.eye(n_classes), MORE[costs], labels=list(range(n_classes))), {"reject_label": -1}


def rows_of(cell: str) -> tuple[Any, Any, Any, Any]:
    """Training rows and test rows, standardised by the training rows."""
    name, rows, _, seed = cell.split("/")
    if int(rows) == 0:
        return split(name, int(seed))
    X, y = large()[name]
    train, rest = train_test_split(np.arange(len(y)), train_size=int(rows), stratify=y, random_state=int(seed))
    if len(rest) > TESTED:
        rest, _ = train_test_split(rest, train_size=TESTED, stratify=y[rest], random_state=int(seed))
    scaler = StandardScaler().fit(X[train])
    return scaler.transform(X[train]), y[train], scaler.transform(X[rest]), y[rest]


class Watched(MachineSearch):
    """A search that keeps what it tried, and the seconds of CPU of each machine."""

    def _fitted_svm(self, *given: Any, **kernel: Any) -> Any:
        return self.timed("laplacian" if kernel else "svm", super()._fitted_svm, *given, **kernel)

    def _averaged(self, found: Any, rows: Any) -> Any:
        self.seen = found, rows
        return self.timed("average", super()._averaged, found, rows)

    def timed(self, name: str, function: Callable[..., Any], *given: Any, **named: Any) -> Any:
        """Call, and add the time to that of a machine."""
        began = time.process_time()
        try:
            return function(*given, **named)
        finally:
            self.took = getattr(self, "took", {})
            self.took[name] = self.took.get(name, 0.0) + time.process_time() - began


def measured(cell: str) -> dict[str, Any]:
    """Each machine, and each list of machines: the costs of test rows, and what cross-validation promised."""
    X, y, X_test, y_test = rows_of(cell)
    costs, named = table_of(cell)
    machines = [name for name in MACHINES if name != "forest" or len(y) <= FORESTS]
    folds = StratifiedKFold(5, shuffle=True, random_state=int(cell.split("/")[3]))
    search = Watched(costs, (*machines, "average"), cv=folds, **named)
    tuned, last_fit = library.tuned, library.last_fit
    library.tuned = lambda name, *given, **more: search.timed(name, tuned, name, *given, **more)
    library.last_fit = lambda one, *given: search.timed(one.name, last_fit, one, *given)
    search.fit(X, y)
    trials, rows = search.seen
    parts = dict(search.best_estimator_.estimator_.estimators)
    parts = dict(zip(parts, search.best_estimator_.estimator_.estimators_, strict=True))
    said = {name: part.predict_proba(X_test) for name, part in parts.items()}
    labels = named.get("pos_label"), named["reject_label"]
    truth, table = truth_and_costs(costs, np.concatenate([y_test, y]), *labels)
    truth = truth[: len(y_test)]

    def cost(p: Any) -> float:
        return float(paid(truth, table, p).mean())

    alone = {name: -float(part.score(X_test, y_test)) if name in ("svm", "laplacian") else cost(said[name])
             for name, part in parts.items()}  # fmt: skip
    least = {one.name: one.least for one in Choice.of(trials, rows.splits.shared).trials}
    found = {"rows": len(y), "machines": {}, "lists": {}, "averaging": round(search.took["average"], 3)}
    for one in trials:
        honest = Choice.of([one], rows.splits.shared).cost
        numbers = (alone[one.name], least[one.name], honest, search.took[one.name])
        found["machines"][one.name] = [round(float(number), 5) for number in numbers]
    for names in LISTS:
        if not {*names} <= {*parts}:
            continue
        some = [one for one in trials if one.name in names]
        chosen = Choice.of(some, rows.splits.shared)
        average = averaged(some, rows)
        both = Choice.of([*some, average], rows.splits.shared)
        best = chosen.chosen.best_of(np.ones(len(rows.splits.trains), bool))
        more = both.chosen.costs[-1] - chosen.chosen.costs[best]
        error = float(more.std(ddof=1) / np.sqrt(len(more)))
        numbers = (alone[chosen.chosen.name], chosen.cost, cost(sum(said[name] for name in names) / len(names)),
                   both.cost, both.chosen.least, float(more.mean()), error)  # fmt: skip
        found["lists"]["+".join(names)] = [round(float(number), 5) for number in numbers]
    return found


def outcomes(cell: dict[str, Any], names: str) -> dict[str, tuple[float, float]]:
    """The cost of test rows by each way to take one of the machines or their average, and what was promised."""
    choice, honest, average, promised, _, more, error = cell["lists"][names]
    found = {"choice": (choice, honest), "average": (average, promised)}
    found["least"] = (average if more <= 0.0 else choice, np.nan)
    found["one standard error"] = (average if more <= error else choice, np.nan)
    return found


def summary(found: dict[str, Any]) -> list[dict[str, Any]]:
    """Costs relative to the svm's: geometric mean over the costs and splits of a set, then over sets."""
    lines = []
    for title, (low, high) in SIZES.items():
        here = {name: cell for name, cell in found.items() if low <= cell["rows"] <= high}
        ways: list[tuple[str, str]] = [(name, "alone") for name in MACHINES]
        ways += [("+".join(names), rule) for names in LISTS for rule in RULES]
        for names, rule in ways:
            sets: dict[str, list[Any]] = {}
            for key, cell in here.items():
                known = cell["machines"] if rule == "alone" else cell["lists"]
                if names in known:
                    numbers = known[names][::2][:2] if rule == "alone" else outcomes(cell, names)[rule]
                    took = [cell["machines"][name][3] for name in names.split("+")]
                    whole = (*numbers, sum(took), max(took), cell["machines"]["svm"][0])
                    sets.setdefault(key.split("/")[0], []).append(whole)
            if len(sets) > 1:
                about = {"rows": title, "machines": names, "way": rule}
                lines.append(about | over_sets([np.array(own) for own in sets.values()]))
    return lines


def over_sets(sets: list[Any]) -> dict[str, Any]:
    """The numbers of some sets: cost, promised, seconds, those of the slowest machine, and the svm's cost, by cell."""

    def level(column: Any) -> Any:
        return np.maximum(column, FLOOR)

    logs = np.array([np.log(level(own[:, 0].mean()) / level(own[:, 4].mean())) for own in sets])
    bias = np.array([(own[:, 1].mean() - own[:, 0].mean()) / level(own[:, 0].mean()) for own in sets])
    seconds = np.concatenate([own[:, 2] for own in sets])
    return {
        "sets": len(sets), "cells": len(seconds), "ratio": round(float(np.exp(logs.mean())), 4),
        "error": round(float(logs.std(ddof=1) / np.sqrt(len(logs))), 4),
        "better": int((logs < -1e-9).sum()), "worse": int((logs > 1e-9).sum()),
        "promised": None if np.isnan(bias).any() else round(float(bias.mean()), 4),
        "seconds": round(float(seconds.mean()), 2),
        "times_slowest": round(float((seconds / np.concatenate([own[:, 3] for own in sets])).mean()), 2),
    }  # fmt: skip
