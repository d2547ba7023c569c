"""Fitted models, small, and the workshop where files are forged: altered, with all checksums made right again."""

import io
import json
import zipfile
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import make_classification
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

from abstain import (
    Costs,
    EmbeddedRejectSVC,
    NoveltyRejector,
    OneClassSVM,
    RejectSVC,
    RejectSVCCV,
    ThresholdRejector,
)
from abstain.files.format.container import write_members
from abstain.files.format.manifest import manifest_members, packed
from abstain.preprocessing import default_pipeline
from files.sameness import written


@pytest.fixture(scope="session")
def data():
    return make_classification(60, 3, n_informative=3, n_redundant=0, flip_y=0.2, class_sep=0.7, random_state=5)


@pytest.fixture(scope="session")
def table():
    """Numbers and categories with missing cells, and a column that nobody uses."""
    rng = np.random.default_rng(7)
    n = 120
    X = rng.standard_normal((n, 2))
    city = rng.choice(np.array(["Bonn", "Ulm", "Köln", "=cmd", "<script>"], dtype=object), n)
    y = np.where(X[:, 0] + (city == "Ulm") + 0.7 * rng.standard_normal(n) > 0.3, "good", "bad")
    frame = pd.DataFrame({"age": X[:, 0] * 9 + 40, "score": X[:, 1], "unused": np.arange(n), "city": city})
    frame.loc[::11, "age"] = np.nan
    frame.loc[::13, "city"] = None
    return frame, y


@pytest.fixture(scope="session")
def machine(data):
    # some rows have no coefficient, and the optimum is proven to `tol`, not to machine precision
    return RejectSVC(Costs(1, 3, 0.3), C=10.0, solver="smo").fit(*data)


@pytest.fixture(scope="session")
def search(data):
    return RejectSVCCV(Costs(1, 3, 0.3), Cs=[0.1, 1.0], gammas=[0.1, 1.0], cv=2).fit(*data)


@pytest.fixture(scope="session")
def embedded(data):
    return EmbeddedRejectSVC(0.1, C=1.0, kernel="rbf").fit(*data)


@pytest.fixture(scope="session")
def one_class(data):
    return OneClassSVM(nu=0.3).fit(data[0])


@pytest.fixture(scope="session")
def embedded_linear(data):
    return EmbeddedRejectSVC(0.2, C=1.0, lower_bound=True).fit(*data)


@pytest.fixture(scope="session")
def rejector(data):
    return ThresholdRejector(RejectSVC(Costs(reject=0.2)), Costs(1, 3, 0.3), method="roc").fit(*data)


@pytest.fixture(scope="session")
def forest(data):
    return ThresholdRejector(RandomForestClassifier(3, max_depth=3, random_state=0), reject_rate=0.2, cv=2).fit(*data)


@pytest.fixture(scope="session")
def boosting(data):
    X, y = data
    missing = (y == 1) & (np.arange(len(y)) % 3 > 0)
    X = np.column_stack([X[:, :2], np.where(missing, np.nan, 1.0)])  # a split by what is missing, and others
    boosting = HistGradientBoostingClassifier(max_iter=3, max_leaf_nodes=4, min_samples_leaf=4, early_stopping=True)
    return ThresholdRejector(boosting, reject_rate=0.2, cv=2).fit(X, y)


@pytest.fixture(scope="session")
def sigmoids(data):
    forest = RandomForestClassifier(2, max_depth=2, random_state=0)
    return ThresholdRejector(CalibratedClassifierCV(forest, cv=2), reject_rate=0.2, cv=2).fit(*data)


@pytest.fixture(scope="session")
def curves(data):
    classifier = CalibratedClassifierCV(RejectSVC(), method="isotonic", cv=2)
    return ThresholdRejector(classifier, reject_rate=0.2, cv=2).fit(*data)


@pytest.fixture(scope="session")
def pipeline(table):
    X, y = table
    return default_pipeline(RejectSVC(Costs(1, 2, 0.3)), ["age", "score"], ["city"]).fit(X, y)


@pytest.fixture(scope="session")
def guarded(data):
    model = make_pipeline(MinMaxScaler(), RejectSVC(Costs(1, 3, 0.3)))  # the detector standardises after it
    return NoveltyRejector(model, rate=0.05, random_state=0).fit(*data)


@pytest.fixture(scope="session")
def guarded_table(table):
    X, y = table
    model = default_pipeline(RejectSVC(Costs(1, 2, 0.3)), ["age", "score"], ["city"])
    return NoveltyRejector(model, rate=0.05, random_state=0).fit(X, y)


@pytest.fixture(scope="session")
def contents():
    """The bytes that `save` writes for an estimator."""
    return written


def forged(raw, change):
    """A model file of altered contents; `change` gets the manifest's model and arrays as `inside`, and edits them."""
    with zipfile.ZipFile(io.BytesIO(raw)) as archive:
        manifest = json.loads(archive.read("manifest.json"))
        arrays = {name: np.load(io.BytesIO(archive.read(f"arrays/{name}.npy"))) for name in manifest["arrays"]}
    change(SimpleNamespace(model=manifest["model"], arrays=arrays))
    manifest["arrays"], members = packed(arrays)
    file = io.BytesIO()
    write_members(file, manifest_members(manifest) | members)
    return file.getvalue()


@pytest.fixture(scope="session")
def forge(contents):
    """The file of an estimator, forged."""
    known = {}

    def changed(estimator, change):
        if id(estimator) not in known:
            known[id(estimator)] = estimator, contents(estimator)  # kept, so that no other takes over its id
        return forged(known[id(estimator)][1], change)

    return changed
