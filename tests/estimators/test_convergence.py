"""A fit that did not reach the optimum says so, with numbers and a way out."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from abstain import Costs, RejectSVC

ASYMMETRIC = Costs(false_positive=1, false_negative=5, reject=0.3)
TIGHT = {"tol": 1e-9}


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
