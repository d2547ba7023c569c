"""More lines of docs/ecosystem.md: other libraries' classifiers, encoders and formats, each where it is installed."""

import numpy as np
import pandas as pd
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_iris, make_classification
from sklearn.pipeline import make_pipeline

from abstain import TRUSTED_TYPES, Costs, NoveltyRejector, RejectSVC, RejectSVCCV, ThresholdRejector, decide, to_onnx

# their own warnings are not ours to fix
pytestmark = pytest.mark.filterwarnings("ignore")

COSTS = Costs(false_positive=1, false_negative=2, reject=0.3)
REASON = 'pip install "abstain[ecosystem]"'


@pytest.fixture(scope="module")
def rows():
    return make_classification(300, 4, n_informative=3, n_redundant=0, flip_y=0.1, random_state=3)


@pytest.fixture(scope="module")
def frame(rows):
    X = rows[0]
    return pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "c": np.where(X[:, 2] > 0, "x", "y")})


@pytest.fixture(scope="module")
def clf(rows):
    return RejectSVC(COSTS, C=3).fit(*rows)


def check_rejects(classifier, rows):
    """Chow's rule on the probabilities of a classifier, and a guard around it."""
    X, y = rows
    found = ThresholdRejector(classifier, COSTS, method="chow").fit(X, y)
    probability, cuts = found.predict_proba(X)[:, 1], COSTS.thresholds()
    inside = (probability > cuts.lower + 1e-6) & (probability < cuts.upper - 1e-6)
    outside = (probability < cuts.lower - 1e-6) | (probability > cuts.upper + 1e-6)
    mask = found.reject_mask(X)
    assert mask[inside].all()
    assert not mask[outside].any()
    assert 0 < mask.mean() < 1
    guarded = NoveltyRejector(ThresholdRejector(classifier, COSTS), 0.05, random_state=0).fit(X, y)
    assert guarded.decide(X[:3] + 100).reason.tolist() == ["novel"] * 3


def test_xgboost(rows):
    xgboost = pytest.importorskip("xgboost", reason=REASON)
    check_rejects(xgboost.XGBClassifier(n_estimators=10, n_jobs=1), rows)


def test_lightgbm(rows):
    lightgbm = pytest.importorskip("lightgbm", reason=REASON)
    check_rejects(lightgbm.LGBMClassifier(n_estimators=10, verbose=-1, n_jobs=1), rows)


def test_catboost(rows):
    catboost = pytest.importorskip("catboost", reason=REASON)
    check_rejects(catboost.CatBoostClassifier(iterations=10, verbose=0, allow_writing_files=False), rows)


def check_pipeline(encoder, frame, y):
    model = make_pipeline(encoder, RejectSVC(COSTS)).fit(frame, y)
    np.testing.assert_array_equal(decide(model, frame).label, model[-1].predict(model[:-1].transform(frame)))
    guarded = NoveltyRejector(make_pipeline(encoder, RejectSVC(COSTS)), 0.05, random_state=0).fit(frame, y)
    assert guarded.decide(frame.assign(a=1e4)).novel.all()


def test_skrub(frame, rows):
    skrub = pytest.importorskip("skrub", reason=REASON)
    check_pipeline(skrub.TableVectorizer(), frame, rows[1])


def test_category_encoders(frame, rows):
    encoders = pytest.importorskip("category_encoders", reason=REASON)
    check_pipeline(encoders.OneHotEncoder(cols=["c"]), frame, rows[1])


def test_feature_engine(frame, rows):
    encoding = pytest.importorskip("feature_engine.encoding", reason=REASON)
    check_pipeline(encoding.OneHotEncoder(), frame, rows[1])


@pytest.mark.parametrize(
    "machine",
    [
        RejectSVCCV(COSTS, Cs=[1.0], gammas=[0.3], cv=3, cuts="tuned"),
        RejectSVC(COSTS),
        CalibratedClassifierCV(RejectSVC(), cv=2),
    ],
    ids=["tuned", "rough", "calibrated"],
)
def test_crepes_takes_probabilities(rows, machine):
    crepes = pytest.importorskip("crepes", reason=REASON)
    (X, y), half = rows, 150
    wrapped = crepes.WrapClassifier(machine)
    wrapped.fit(X[:half], y[:half])
    wrapped.calibrate(X[half:], y[half:])
    sets = wrapped.predict_set(X[half:], confidence=0.9, smoothing=False)  # smoothing is random
    assert np.mean([label in found for found, label in zip(sets, y[half:], strict=True)]) >= 0.9
    assert min(map(len, sets)) < 2
    with pytest.raises(AttributeError, match="predict_proba"):
        crepes.WrapClassifier(RejectSVC().fit(X, y)).calibrate(X, y)  # without costs a score is no probability


def test_crepes_takes_those_of_several_classes():
    crepes = pytest.importorskip("crepes", reason=REASON)
    X, y = load_iris(return_X_y=True)
    X = X[:, :2]  # the first two features do not tell all of them
    machine = RejectSVCCV(Costs(reject=0.2), Cs=[1.0], gammas=[0.3], cv=3, cuts="tuned")
    wrapped = crepes.WrapClassifier(machine)
    wrapped.fit(X[::2], y[::2])
    wrapped.calibrate(X[1::2], y[1::2])
    sets = wrapped.predict_set(X[1::2], confidence=0.8, smoothing=False)
    assert 0.8 <= np.mean([label in found for found, label in zip(sets, y[1::2], strict=True)]) < 1.0
    assert np.mean([*map(len, sets)]) < 2.0


@pytest.mark.parametrize("form", ["skops", "cloudpickle", "pickle"])
def test_mlflow_stores_in_three_formats(form, rows, clf, tmp_path):
    stored = pytest.importorskip("mlflow.sklearn", reason=REASON)
    trusted = {"skops_trusted_types": TRUSTED_TYPES} if form == "skops" else {}
    path = tmp_path / "model"
    stored.save_model(clf, path, serialization_format=form, pip_requirements=[], **trusted)
    np.testing.assert_array_equal(stored.load_model(path).predict(rows[0]), clf.predict(rows[0]))


def test_onnxruntime_runs_the_graph(rows, clf):
    onnxruntime = pytest.importorskip("onnxruntime")
    session = onnxruntime.InferenceSession(to_onnx(clf).SerializeToString())
    label, score, rejected = session.run(["label", "score", "rejected"], {"X": rows[0]})
    np.testing.assert_array_equal(label, clf.predict(rows[0]))
    np.testing.assert_array_equal(rejected, clf.reject_mask(rows[0]))
    np.testing.assert_allclose(score, clf.decision_function(rows[0]), rtol=1e-9)


def test_skops_reads_trusted_types(rows, clf):
    skops = pytest.importorskip("skops.io")
    back = skops.loads(skops.dumps(clf), trusted=TRUSTED_TYPES)
    np.testing.assert_array_equal(back.predict(rows[0]), clf.predict(rows[0]))
