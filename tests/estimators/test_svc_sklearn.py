"""Clone, pickle, searches, Pipelines, routing and callbacks find what they expect."""

import pickle

import numpy as np
import pandas as pd
import pytest
import sklearn
from scipy.sparse import csr_array, csr_matrix
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from abstain import BartlettWegkamp, Costs, RejectSVC

ASYMMETRIC = Costs(false_positive=1, false_negative=5, reject=0.3)


def test_clone_and_parameters():
    clf = RejectSVC(ASYMMETRIC, C=3, reject_label="?", rule=BartlettWegkamp(0.4))
    copy = clone(clf)
    assert copy.get_params() == clf.get_params()
    assert copy.costs == ASYMMETRIC
    assert copy.set_params(C=7).C == 7
    assert "Costs(" in repr(clf)


def test_pickle(data):
    X, y = data
    clf = RejectSVC(ASYMMETRIC).fit(X, y)
    back = pickle.loads(pickle.dumps(clf))  # noqa: S301 (our own bytes)
    np.testing.assert_array_equal(back.predict(X), clf.predict(X))
    assert back.decide(X).to_frame().equals(clf.decide(X).to_frame())


def test_grid_search_tunes_the_mean_cost(data):
    X, y = data
    search = GridSearchCV(RejectSVC(ASYMMETRIC), {"C": [0.01, 1.0], "gamma": [0.01, 0.1]}, cv=3).fit(X, y)
    best = cross_val_score(RejectSVC(ASYMMETRIC, **search.best_params_), X, y, cv=3).mean()
    assert search.best_score_ == pytest.approx(best)
    assert search.best_score_ == search.cv_results_["mean_test_score"].max()
    assert set(search.predict(X)) <= {-1, 0, 1}


def test_pipeline(data):
    X, y = data
    line = make_pipeline(StandardScaler(), RejectSVC(ASYMMETRIC)).fit(X, y)
    direct = RejectSVC(ASYMMETRIC).fit(StandardScaler().fit_transform(X), y)
    np.testing.assert_array_equal(line.predict(X), direct.predict(StandardScaler().fit_transform(X)))


def test_metadata_routing(data):
    X, y = data
    weight = np.random.default_rng(2).uniform(0.1, 3, len(y))
    with sklearn.config_context(enable_metadata_routing=True):
        line = make_pipeline(
            StandardScaler().set_fit_request(sample_weight=False), RejectSVC().set_fit_request(sample_weight=True)
        )
        line.fit(X, y, sample_weight=weight)
    direct = RejectSVC().fit(StandardScaler().fit_transform(X), y, weight)
    np.testing.assert_array_equal(line[-1].dual_coef_, direct.dual_coef_)


def test_callbacks_see_the_fit(data):
    pytest.importorskip("sklearn.callback", reason="scikit-learn 1.9 and later have callbacks")
    X, y = data
    log = []

    class Log:
        def setup(self, estimator, context):  # noqa: ARG002 (the protocol's names)
            log.append("setup")

        def teardown(self, estimator, context):  # noqa: ARG002
            log.append("teardown")

        def on_fit_task_begin(self, estimator, context):  # noqa: ARG002
            log.append(f"begin {context.task_name}")

        def on_fit_task_end(self, estimator, context, *, fitted_estimator=None):  # noqa: ARG002
            if fitted_estimator is not None:
                log.append(fitted_estimator.predict(X).tolist())
            log.append(f"end {context.task_name}")

    clf = RejectSVC().set_callbacks(Log()).fit(X, y)
    assert log[:2] == ["setup", "begin fit"]
    assert log[-3:] == [clf.predict(X).tolist(), "end fit", "teardown"]
    assert not [name for name in vars(clf) if "ctx" in name]


FORMS = {
    "rows in another order of memory": np.asfortranarray,
    "lists": np.ndarray.tolist,
    "a frame": pd.DataFrame,
    "rows that cannot be written to": lambda X: np.frombuffer(X.tobytes()).reshape(X.shape),
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_arrays_that_are_read_as_they_are_give_what_other_forms_do(data, form):
    X, y = data
    plain, other = RejectSVC(ASYMMETRIC).fit(X, y), RejectSVC(ASYMMETRIC).fit(form(X), y.tolist())
    np.testing.assert_array_equal(plain.decision_function(X), other.decision_function(form(X)))
    assert plain.n_features_in_ == other.n_features_in_ == X.shape[1]


@pytest.mark.parametrize("kind", [np.asarray, csr_array, csr_matrix])
def test_arrays_that_are_read_as_they_are_have_scikit_learns_errors(data, kind):
    X, y = data
    clf = RejectSVC().fit(kind(X), y)
    hole = X.copy()
    hole[3, 1] = np.nan
    for wrong, labels, words in (
        (hole, y, "Input X contains NaN"),
        (np.where(X[0, 0] == X, np.inf, X), y, "infinity"),
        (X[:-1], y, "inconsistent numbers of samples"),
        (X, None, "requires y to be passed"),
        (X[:0], y[:0], "0 sample"),
        (X[:, :0], y, "0 feature"),
    ):
        with pytest.raises(ValueError, match=words):
            RejectSVC().fit(kind(wrong), labels)
    with pytest.raises(ValueError, match="features, but RejectSVC is expecting"):
        clf.predict(kind(X[:, 1:]))
    with pytest.raises(ValueError, match="Input X contains NaN"):
        clf.predict(kind(hole))


def test_names_of_columns_are_forgotten_by_a_fit_without_them(data):
    X, y = data
    clf = RejectSVC().fit(pd.DataFrame(X).add_prefix("c"), y)
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        clf.predict(X)
    assert not hasattr(clf.fit(X, y), "feature_names_in_")
