"""A fit that did not reach the optimum says so, with numbers and a way out."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from abstain import Costs, RejectSVC
from abstain.dual.certificate import Certificate
from abstain.dual.solution import DualSolution, Status
from abstain.estimators.convergence import checked_status

ASYMMETRIC = Costs(false_positive=1, false_negative=5, reject=0.3)


def test_iteration_limit(data):
    with pytest.warns(
        ConvergenceWarning, match=r"stopped after 2 iterations .*KKT violation .*raise max_iter=2"
    ) as got:
        clf = RejectSVC(max_iter=2, solver="smo").fit(*data)
    assert len(got) == 1
    assert got[0].filename == __file__
    assert clf.status_ == "iteration_limit"
    assert clf.duality_gap_ > 0
    assert np.isfinite(clf.decision_function(data[0])).all()


def test_time_limit():
    X = np.random.default_rng(0).normal(size=(4000, 10)) * 1e3
    y = np.random.default_rng(1).integers(0, 2, 4000)
    with pytest.warns(ConvergenceWarning, match=r"raise time_limit=0.05"):
        clf = RejectSVC(kernel="linear", C=1e6, time_limit=0.05).fit(X, y)
    assert clf.status_ == "time_limit"


def test_none_when_optimal(data):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        RejectSVC(ASYMMETRIC).fit(*data)


@pytest.mark.parametrize(
    ("violation", "gap", "indefinite", "status"),
    [
        (1e-3, 1e-2, False, Status.OPTIMAL),
        (1e-2, 1e-12, False, Status.OPTIMAL),  # rounding in the scores, nothing left to gain
        (1e-2, 1e-2, False, Status.INACCURATE),
        (0.0, 0.0, True, Status.INACCURATE),
    ],
)
def test_a_solver_is_believed_only_as_far_as_the_certificate_goes(violation, gap, indefinite, status):
    proof = Certificate(1.0, 1.0 - gap, gap, gap, violation)
    said = DualSolution(np.zeros(2), 0.0, np.zeros(2), Status.OPTIMAL, 7)
    assert checked_status(said, proof, 1e-3, indefinite=indefinite) is status


def test_a_limit_stays_a_limit():
    said = DualSolution(np.zeros(2), 0.0, np.zeros(2), Status.TIME_LIMIT, 7)
    assert checked_status(said, Certificate(1.0, 1.0, 0.0, 0.0, 0.0), 1e-3, indefinite=False) is Status.TIME_LIMIT
