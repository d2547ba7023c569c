"""One warning of a search about columns in very different units, and none where they do no harm."""

import warnings

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from abstain import Costs, LinearRejectSVCCV, MachineSearch, RejectSVCCV

COSTS = Costs(reject=0.2)
FEW = RejectSVCCV(COSTS, Cs=[1.0], gammas=[1e-3], cv=2, max_iter=300)
SEARCHES = [
    FEW,
    LinearRejectSVCCV(COSTS, Cs=[1e-4], cv=2),
    MachineSearch(COSTS, ("svm", "laplacian"), svm=FEW, cv=2),
]


def heard(model, X, y):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(X, y)
    return [one for one in caught if "standard deviation" in str(one.message)]


@pytest.mark.parametrize("model", SEARCHES, ids=lambda model: type(model).__name__)
@pytest.mark.parametrize("load", [load_breast_cancer, load_wine])
def test_raw_columns_are_named_once_with_the_way_out(model, load):
    X, y = load(return_X_y=True, as_frame=True)
    (warning,) = heard(model, X[::3], (y[::3] > 0).astype(int))
    spread = X[::3].std(ddof=0)
    assert spread.max() > 1000 * spread.min()
    for name in (spread.idxmax(), spread.idxmin()):
        assert f"column {name!r} " in str(warning.message)
    assert "StandardScaler" in str(warning.message)
    assert warning.filename == __file__
    assert heard(make_pipeline(StandardScaler(), model), X[::3], (y[::3] > 0).astype(int)) == []


def test_what_does_no_harm_is_not_named():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 3)) * [1.0, 1.0, 500.0]
    y = X[:, 0] > 0
    rare = np.column_stack([1e3 * X[:, :1], X[:, 1:2] * 1e3, np.arange(60) == 0])  # a category that occurs once
    constant = np.column_stack([X[:, :2], np.full(60, 0.1 + 1e-17)])
    for table in (X, 1e-6 * X, rare, constant, csr_array(X * [1, 1, 10])):
        assert heard(FEW, table, y) == []
    assert len(heard(FEW, X * [1, 1, 4], y)) == 1, "the control should be named"
    wide = X * [1, 1, 10]
    assert heard(RejectSVCCV(COSTS, kernel="precomputed", Cs=[1.0], cv=2, max_iter=300), wide @ wide.T, y) == []
