"""The choice among candidates, and an estimate of its cost that choosing does not lower."""

import numpy as np
import pytest

from abstain.candidates.trials import Choice, Trials, first_least


def choice_of(*tables):
    names = "abcdef"
    return Choice(
        tuple(
            Trials(name, [{"at": at} for at in range(len(table))], np.array(table, dtype=float))
            for name, table in zip(names, tables, strict=False)
        )
    )


def test_each_fold_is_decided_by_what_the_other_folds_choose():
    rng = np.random.default_rng(0)
    tables = [rng.random((rows, 4)).round(2) for rows in (3, 1, 5)]
    found = choice_of(*tables)
    every = [row for table in tables for row in table]
    paid = []
    for fold in range(4):
        others = [at for at in range(4) if at != fold]
        best = min(every, key=lambda row: sum(row[at] for at in others))
        paid.append(best[fold])
    assert found.cost == pytest.approx(np.mean(paid))
    least = [min(row.mean() for row in table) for table in tables]
    assert [trials.least for trials in found.trials] == pytest.approx(least)
    assert found.chosen.name == "abc"[int(np.argmin(least))]
    assert found.cost > min(least)  # here the others choose otherwise


def test_the_least_is_optimistic_and_the_cost_of_the_choice_is_not():
    """All candidates truly cost 1, and the folds are noise: the least of 12 lies below 1."""
    rng = np.random.default_rng(0)
    draws = [choice_of(*(rng.normal(1, 0.1, (4, 5)) for _ in range(3))) for _ in range(400)]
    honest = np.array([draw.cost for draw in draws])
    least = np.array([draw.chosen.least for draw in draws])
    error = honest.std(ddof=1) / np.sqrt(len(draws))
    assert abs(honest.mean() - 1) < 3.5 * error
    assert least.mean() < 1 - 10 * error  # control


def test_ties_go_to_the_first_and_what_was_not_tried_is_not_chosen():
    found = choice_of([[0.1, np.nan], [0.3, 0.3]], [[0.3, 0.3]])
    assert (found.chosen.name, found.chosen.best, found.chosen.least) == ("a", {"at": 1}, pytest.approx(0.3))
    assert found.cost == pytest.approx(0.3)
    late = choice_of([[np.nan, np.nan]], [[0.4, 0.6]])
    assert late.chosen.name == "b"
    assert np.isnan(late.trials[0].least)
    never = choice_of([[np.nan, 0.1]])
    assert never.chosen.best == {"at": 0}
    assert np.isnan(never.cost)
    assert first_least([0.2, 0.1 + 1e-15, 0.1]) == 1
    assert first_least(1e-15 * np.array([0.2, 0.1 + 1e-15, 0.1])) == 1  # in any unit
