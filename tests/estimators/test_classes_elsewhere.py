"""What takes two classes only says so and names the way out; nothing gives nonsense for three."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import abstain
from abstain import Costs, RejectSVC
from class_cases import GENERAL, gaussians, table_costs

X, Y = gaussians(90)
PRICE = Costs(reject=0.2)
NAMED = table_costs(GENERAL, 0.4)
FITTED = RejectSVC(PRICE).fit(X, Y)

REFUSED = {
    "path": (lambda: abstain.reject_svc_path(X, Y, PRICE), "follow one for each class, with y == label"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused_with_a_way_out(name):
    call, text = REFUSED[name]
    with pytest.raises(ValueError, match=text):
        call()


def test_a_sweep_has_the_machines_of_separate_fits():
    machines = abstain.reject_price_sweep(RejectSVC(PRICE), X, Y, [0.3, 0.1])
    for reject, machine in zip((0.3, 0.1), machines, strict=True):
        alone = RejectSVC(Costs(reject=reject)).fit(X, Y)
        np.testing.assert_array_equal(machine.decision_function(X), alone.decision_function(X))
    assert (machines[0].decision_function(X) != machines[1].decision_function(X)).any()


def test_decide_reaches_into_pipelines():
    pipe = make_pipeline(StandardScaler(), RejectSVC(PRICE)).fit(X, Y)
    decisions = abstain.decide(pipe, X)
    np.testing.assert_array_equal(decisions.label, pipe.predict(X))
