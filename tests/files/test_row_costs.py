"""Model files of machines fitted with costs per row."""

import numpy as np
import pytest
from sklearn.datasets import make_classification

from abstain import Costs, RejectSVC, RejectSVCCV, load, save, to_onnx
from abstain.estimators.unwrap import FittedClassifier
from abstain.files.codecs.svc_codec import svc_from, svc_parts
from abstain.files.format.errors import ModelFileError
from abstain.files.format.schema import Fields
from problems import random_row_costs

X, Y = make_classification(90, 4, flip_y=0.2, random_state=5)
ROWS = random_row_costs(np.random.default_rng(1), 90)


@pytest.mark.parametrize("costs", [None, Costs(), Costs(1, 3, 0.2)])
@pytest.mark.parametrize("make", [lambda c: RejectSVC(c, C=2), lambda c: RejectSVCCV(c, Cs=3, gammas=2)])
def test_round_trip(costs, make, tmp_path):
    clf = make(costs).fit(X, Y, row_costs=ROWS)
    save(clf, tmp_path / "model.abstain")
    again = load(tmp_path / "model.abstain")
    assert (again.predict(X, row_costs=ROWS) == clf.predict(X, row_costs=ROWS)).all()
    assert np.array_equal(again.decide(X, row_costs=ROWS).expected_cost, clf.decide(X, row_costs=ROWS).expected_cost)
    assert again.set_names_ == clf.set_names_
    if costs is None:
        with pytest.raises(ValueError, match="pass row_costs"):
            again.predict(X)
    else:
        assert (again.predict(X) == clf.predict(X)).all()
        assert again.thresholds_ == clf.thresholds_


@pytest.mark.parametrize("change", [{"largest": -1.0}, {"n_knots": 7}, {"largest": "1"}, {"further": 1}])
def test_forged_costs_are_refused(change):
    clf = RejectSVC(C=2).fit(X, Y, row_costs=ROWS)
    state, arrays = svc_parts(clf)
    assert svc_from(clf, Fields(dict(state), "machine"), arrays, 4).largest_row_cost == ROWS.max()
    state["row_costs"] |= change
    with pytest.raises(ModelFileError):
        svc_from(clf, Fields(state, "machine"), arrays, 4)


def test_what_needs_one_set_of_costs_says_so():
    clf = RejectSVC(C=2).fit(X, Y, row_costs=ROWS)
    pytest.importorskip("onnx")
    with pytest.raises(ValueError, match="state costs and fit again"):
        to_onnx(clf)
    with pytest.raises(ValueError, match="pass row_costs for these rows"):
        _ = FittedClassifier.of(clf).thresholds
