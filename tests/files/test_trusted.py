"""skops reads our estimators when it is given TRUSTED_TYPES, and not without."""

import importlib

import numpy as np
import pytest
import skops.io
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from skops.io.exceptions import UntrustedTypesFoundException

from abstain import (
    TRUSTED_TYPES,
    BartlettWegkamp,
    Costs,
    EmbeddedRejectSVC,
    Forced,
    LinearRejectSVC,
    LinearRejectSVCCV,
    MachineSearch,
    NoveltyRejector,
    OneClassSVM,
    RejectSVC,
    RejectSVCCV,
    ThresholdRejector,
)
from abstain.estimators.novelty.training_ranges import SeenColumns
from looping import looped


@pytest.mark.parametrize(
    "estimator",
    [
        RejectSVC(Costs(1, 3, 0.3)),
        RejectSVC(Costs(reject=0.3), rule=BartlettWegkamp(0.4)),
        RejectSVCCV(Costs(1, 3, 0.3), Cs=2, gammas=2, cv=2),
        MachineSearch(Costs(1, 3, 0.3), cv=2),
        MachineSearch(Costs(1, 3, 0.3), ("logistic",), cv=2),
        LinearRejectSVC(Costs(1, 3, 0.3)),
        LinearRejectSVCCV(Costs(1, 3, 0.3), Cs=2, cv=2),
        ThresholdRejector(LogisticRegression(), class_error=0.2, random_state=0),
        EmbeddedRejectSVC(0.2),
        EmbeddedRejectSVC(0.2, kernel="rbf", lower_bound=True),
        OneClassSVM(nu=0.2),
        ThresholdRejector(EmbeddedRejectSVC(0.2), Costs(1, 3, 0.3)),
        ThresholdRejector(LogisticRegression(), Costs(1, 3, 0.3)),
        ThresholdRejector(LogisticRegression(), max_error=0.5, confidence=0.6, random_state=0),
        NoveltyRejector(RejectSVC(Costs(1, 3, 0.3)), 0.05),
        NoveltyRejector(make_pipeline(StandardScaler(), LogisticRegression()), 0.05),
        Forced(RejectSVC(Costs.from_table({0: {1: 1}, 1: {0: 3}}, reject=0.3))),
    ],
    ids=repr,
)
def test_skops_reads_what_is_trusted(estimator, data):
    X, y = data
    raw = skops.io.dumps(estimator.fit(X, y))
    np.testing.assert_array_equal(skops.io.loads(raw, trusted=TRUSTED_TYPES).predict(X), estimator.predict(X))
    with pytest.raises(UntrustedTypesFoundException):
        skops.io.loads(raw, trusted=[])


@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.csr_matrix], ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("estimator", [RejectSVC(Costs(1, 3, 0.3)), EmbeddedRejectSVC(0.2, kernel="rbf")], ids=repr)
def test_skops_reads_machines_fitted_to_sparse_rows(estimator, kind, data):
    X, y = kind(data[0]), data[1]
    raw = skops.io.dumps(estimator.fit(X, y))
    np.testing.assert_array_equal(skops.io.loads(raw, trusted=TRUSTED_TYPES).predict(X), estimator.predict(X))


@pytest.mark.parametrize("name", [name for name in TRUSTED_TYPES if name.startswith("scipy.")])
def test_of_scipy_nothing_but_matrices_is_trusted(name):
    module, _, kind = name.rpartition(".")
    assert issubclass(getattr(importlib.import_module(module), kind), sparse.csr_array | sparse.csr_matrix)


def test_of_scikit_learn_nothing_but_parts_of_a_sigmoid_is_trusted():
    of_it = [name.rpartition(".")[2] for name in TRUSTED_TYPES if name.startswith("sklearn.")]
    assert of_it == ["_CalibratedClassifier", "_SigmoidCalibration", "StratifiedGroupKFold", "StratifiedKFold"]


@looped(name=[name for name in TRUSTED_TYPES if not name.startswith(("scipy.", "sklearn."))])
def test_every_other_name_is_a_type_of_ours(name):
    assert name.startswith("abstain.")
    module, _, kind = name.rpartition(".")
    found = getattr(importlib.import_module(module), kind)
    assert isinstance(found, type)
    assert f"{found.__module__}.{found.__qualname__}" == name
    assert found.__reduce__ is object.__reduce__
    assert "__setstate__" not in vars(found) or found is NoveltyRejector  # which recognises its default rate


def test_what_training_had_in_each_column():
    seen = SeenColumns.of(np.array([[1.0, "Ulm"], [2.0, None]], dtype=object))
    assert skops.io.loads(skops.io.dumps(seen), trusted=TRUSTED_TYPES) == seen
