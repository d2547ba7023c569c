"""Every value that an estimator calls its machine scores rows by the one method of `Machine`."""

import inspect

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from abstain import Costs, LinearRejectSVC, NoveltyRejector, RejectSVC, ThresholdRejector
from abstain.machines.machine import Machine

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(60, 2)), np.arange(60) % 3


@pytest.mark.parametrize("two", [True, False])
@pytest.mark.parametrize(
    "estimator",
    [
        RejectSVC(Costs(reject=0.2)),
        RejectSVC(),
        LinearRejectSVC(Costs(reject=0.2)),
        ThresholdRejector(LogisticRegression(), Costs(reject=0.2)),
        NoveltyRejector(RejectSVC(Costs(reject=0.2))),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
def test_machines_score_rows(estimator, two):
    y = np.minimum(Y, 1) if two else Y
    machine = estimator.fit(X, y).machine_
    assert isinstance(machine, Machine)
    assert list(inspect.signature(machine.score).parameters) == ["X", "n_jobs"]
    assert machine.score(X).shape == ((60,) if two else (60, 3))


def test_what_does_not_score_is_not_a_machine():
    assert not isinstance(Costs(), Machine)
