"""Every kind of costs as one list of cases: two classes, several, named actions, each also with costs per row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from abstain.costs.actions import Actions
from abstain.costs.costs import Costs
from abstain.costs.per_row import row_table
from abstain.costs.table import CostTable
from abstain.labels import Labels
from abstain.rules.class_deciders import Cheapest
from abstain.rules.deciders import Cuts
from abstain.rules.readouts import LogOdds, Softmax
from abstain.rules.rule import Rule
from action_cases import CREDIT
from class_cases import GENERAL

TRIAGE = Actions(
    {
        0: {0: 0, 1: 3, 2: 6},
        1: {0: 1, 1: 0, 2: 3},
        2: {0: 2, 1: 1, 2: 0},
        "ask": 0.4,
        "test": {0: 0.5, 1: 0.3, 2: 0.2},
    }
)
N_ROWS = 40


@dataclass(frozen=True)
class Kind:
    """Costs as a user states them, the labels they meet, and whether rows have their own."""

    stated: Any
    labels: Labels
    by_row: bool = False

    @property
    def table(self) -> CostTable:
        """The table for these labels; by row, other costs for each, the first row as stated."""
        named = self.stated.named(self.labels)
        return row_table(varied(named), self.labels, named) if self.by_row else named


def varied(named: CostTable, n: int = N_ROWS, seed: int = 0) -> np.ndarray:
    """Costs of n rows: those of a table, each times a factor of its own and a factor of the row, zeros kept."""
    rng = np.random.default_rng(seed)
    factor = np.exp(rng.normal(scale=0.3, size=(n, *named.values.shape)) + rng.normal(size=(n, 1, 1)))
    factor[0] = 1.0
    return named.values * factor


def _kinds() -> dict[str, Kind]:
    two, three = Labels.of(["a", "b"], rejects=True), Labels.of([0, 1, 2], rejects=True)
    stated = {
        "two": (Costs(1, 5, (0.4, 0.3)), two),
        "two, the first positive": (Costs(1, 5, (0.4, 0.3)), Labels.of(["a", "b"], pos_label="a", rejects=True)),
        "two by name": (Costs.from_table({"a": {"b": 2}, "b": {"a": 3}}, reject={"a": 0.2, "b": 0.9}), two),
        "several": (Costs.from_matrix(GENERAL, labels=[0, 1, 2], reject=[0.2, 0.6, 0.3]), three),
        "several, even": (Costs(reject=0.3), three),
        "actions of two": (CREDIT, CREDIT.labels_of(["bad", "good"], rejects=True)),
        "actions of several": (TRIAGE, TRIAGE.labels_of([0, 1, 2], rejects=True)),
    }
    return {
        f"{name}{', by row' if by_row else ''}": Kind(*given, by_row)
        for name, given in stated.items()
        for by_row in (False, True)
    }


KINDS = _kinds()


def probabilities(kind: Kind, n: int = N_ROWS, seed: int = 0) -> np.ndarray:
    """Probabilities of the classes for n rows, some of them very unequal."""
    return np.random.default_rng(seed).dirichlet(np.full(kind.labels.n_classes, 0.6), n)


def of_row(table: CostTable, row: int) -> CostTable:
    """The costs of one row as a table of their own."""
    return table.with_values(table.values[row]) if table.per_row else table


def rule_of(kind: Kind) -> Rule:
    """The rule that knows the probabilities: log-odds of two classes, logarithms of the probabilities of more."""
    n, named = kind.labels.n_classes, kind.stated.named(kind.labels)
    decider = Cuts(named.levels(), named.levels(forced=True)) if n == 2 else Cheapest()
    rule = Rule(kind.labels, named, LogOdds(1.0) if n == 2 else Softmax(), decider)
    return rule.of_rows(kind.table) if kind.by_row else rule


def score_of(P: np.ndarray) -> np.ndarray:
    """Return the scores of probabilities: log-odds of two classes, logarithms of more."""
    return np.log(P[:, 1]) - np.log(P[:, 0]) if P.shape[1] == 2 else np.log(P)
