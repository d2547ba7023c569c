"""The other libraries in docs/ecosystem.md, each tested where it is installed: pip install "abstain[ecosystem]"."""

import numpy as np
import pytest
from joblib import parallel_config
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import make_classification
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.preprocessing import StandardScaler

from abstain import TRUSTED_TYPES, Costs, Forced, NoveltyRejector, RejectSVC, compare, decide
from abstain.metrics import mean_cost, reject_rate

# their own warnings are not ours to fix
pytestmark = pytest.mark.filterwarnings("ignore")

COSTS = Costs(false_positive=1, false_negative=2, reject=0.3)
REASON = 'pip install "abstain[ecosystem]"'


@pytest.fixture(scope="module")
def rows():
    return make_classification(100, 4, n_informative=3, n_redundant=0, flip_y=0.1, random_state=3)


@pytest.fixture(scope="module")
def clf(rows):
    fitted = RejectSVC(COSTS, C=3).fit(*rows)
    assert set(fitted.predict(rows[0])) == {-1, 0, 1}
    return fitted


@pytest.fixture(scope="module")
def groups(rows):
    return (rows[0][:, 2] > 0).astype(int)


def search(rows):
    return GridSearchCV(RejectSVC(COSTS), {"C": [0.1, 1.0]}, cv=2).fit(*rows).cv_results_["mean_test_score"]


def test_dask_workers_fit_the_folds(rows):
    distributed = pytest.importorskip("distributed", reason=REASON)
    options = {"n_workers": 1, "threads_per_worker": 2, "processes": False, "dashboard_address": ":0"}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster), parallel_config("dask"):
        parallel = search(rows)
    np.testing.assert_array_equal(parallel, search(rows))


def test_dask_arrays_are_predicted_in_blocks(rows, clf):
    array = pytest.importorskip("dask.array", reason=REASON)
    X = array.from_array(rows[0], chunks=(30, 4))
    lazy = X.map_blocks(clf.predict, drop_axis=1, dtype=int)
    np.testing.assert_array_equal(lazy.compute(), clf.predict(rows[0]))
    assert isinstance(clf.predict(X), array.Array)
    np.testing.assert_array_equal(clf.predict(X).compute(), clf.predict(rows[0]))


def test_ray_workers_fit_and_predict(rows, clf):
    ray = pytest.importorskip("ray", reason=REASON)
    from ray.util.joblib import register_ray

    ray.init(num_cpus=1, include_dashboard=False, log_to_driver=False, logging_level="error")
    try:
        register_ray()
        with parallel_config("ray", n_jobs=1):
            parallel = search(rows)
        answers = ray.get(ray.remote(lambda model, X: model.predict(X)).remote(ray.put(clf), rows[0]))
    finally:
        ray.shutdown()
    np.testing.assert_array_equal(parallel, search(rows))
    np.testing.assert_array_equal(answers, clf.predict(rows[0]))


def test_imbalanced_learn_resamples_before_the_fit(rows):
    pytest.importorskip("imblearn", reason=REASON)
    from imblearn.over_sampling import RandomOverSampler
    from imblearn.pipeline import make_pipeline

    X, y = rows[0][20:], np.sort(rows[1])[20:]  # fewer rows of one class
    line = make_pipeline(RandomOverSampler(random_state=0), RejectSVC(COSTS)).fit(X, y)
    direct = RejectSVC(COSTS).fit(*RandomOverSampler(random_state=0).fit_resample(X, y))
    np.testing.assert_array_equal(line.predict(X), direct.predict(X))
    assert line.score(X, y) == pytest.approx(-mean_cost(y, direct.predict(X), COSTS))


def test_pipelines_of_imbalanced_learn_decide_are_compared_and_guarded():
    pytest.importorskip("imblearn", reason=REASON)
    from imblearn.over_sampling import RandomOverSampler
    from imblearn.pipeline import make_pipeline

    X, y = make_classification(300, 4, n_informative=3, n_redundant=0, flip_y=0.1, weights=[0.8], random_state=3)
    line = make_pipeline(StandardScaler(), RandomOverSampler(random_state=0), RejectSVC(COSTS))
    fitted = clone(line).fit(X, y)
    np.testing.assert_array_equal(decide(fitted, X).label, fitted.predict(X))
    assert "sampled" in str(compare({"sampled": line}, X, y, COSTS, cv=2))
    guarded = NoveltyRejector(line, 0.05, random_state=0).fit(X, y)
    np.testing.assert_array_equal(guarded.predict_forced(X), fitted[-1].predict_forced(fitted[0].transform(X)))
    assert guarded.calibration_.choices is not None  # the witness was fitted, with the sampler in it
    assert guarded.decide(1000 + X[:3]).reason.tolist() == ["novel"] * 3


def test_imbalanced_learn_bags_forced_machines(rows):
    ensemble = pytest.importorskip("imblearn.ensemble", reason=REASON)
    bags = ensemble.BalancedBaggingClassifier(Forced(RejectSVC(COSTS, C=3)), n_estimators=1, random_state=0)
    answers = bags.fit(*rows).predict(rows[0])
    machine = bags.estimators_[0][-1].estimator_
    assert machine.reject_mask(rows[0]).any()
    np.testing.assert_array_equal(answers, machine.predict_forced(rows[0]))


def test_optuna_minimises_the_mean_cost(rows):
    optuna = pytest.importorskip("optuna", reason=REASON)
    optuna.logging.set_verbosity(optuna.logging.ERROR)

    def cost(trial):
        return -cross_val_score(RejectSVC(COSTS, C=trial.suggest_float("C", 1e-2, 1e2, log=True)), *rows, cv=2).mean()

    study = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=0))
    study.optimize(cost, n_trials=5)
    assert study.best_value == min(trial.value for trial in study.trials)
    assert study.best_value < cost(optuna.trial.FixedTrial({"C": 1e-2}))


def test_shap_explains_the_score(rows, clf):
    shap = pytest.importorskip("shap", reason=REASON)
    X = rows[0]
    linear = RejectSVC(COSTS, kernel="linear").fit(*rows)
    explained = shap.LinearExplainer(linear, shap.maskers.Independent(X, max_samples=len(X)))(X[:5])
    np.testing.assert_allclose(explained.values, linear.coef_ * (X[:5] - X.mean(axis=0)), atol=1e-8)
    explainer = shap.KernelExplainer(clf.decision_function, X[:10])
    values = explainer.shap_values(X[:3], silent=True)
    np.testing.assert_allclose(values.sum(axis=1) + explainer.expected_value, clf.decision_function(X[:3]), atol=1e-6)


@pytest.mark.parametrize(
    "machine", [RejectSVC(COSTS), CalibratedClassifierCV(RejectSVC(), cv=2)], ids=["rough", "calibrated"]
)
def test_mapie_gives_sets_from_probabilities(rows, machine):
    classification = pytest.importorskip("mapie.classification", reason=REASON)
    (X, y), half = rows, 50
    machine = clone(machine).fit(X[:half], y[:half])
    conformal = classification.SplitConformalClassifier(machine, confidence_level=0.9, prefit=True)
    _, sets = conformal.conformalize(X[half:], y[half:]).predict_set(X[half:])
    assert sets[np.arange(half), y[half:], 0].mean() >= 0.9


def test_mlflow_logs_and_stores(rows, clf, tmp_path):
    mlflow = pytest.importorskip("mlflow", reason=REASON)
    stored = pytest.importorskip("mlflow.sklearn", reason=REASON)
    with pytest.raises(mlflow.exceptions.MlflowException, match="untrusted types"):
        stored.save_model(clf, tmp_path / "untrusted", serialization_format="skops")
    stored.save_model(
        clf, tmp_path / "model", serialization_format="skops", skops_trusted_types=TRUSTED_TYPES, pip_requirements=[]
    )
    back = stored.load_model(tmp_path / "model")
    np.testing.assert_array_equal(back.predict(rows[0]), clf.predict(rows[0]))


def test_fairlearn_measures_by_group(rows, clf, groups):
    metrics = pytest.importorskip("fairlearn.metrics", reason=REASON)
    (X, y), answers = rows, clf.predict(rows[0])
    frame = metrics.MetricFrame(metrics=reject_rate, y_true=y, y_pred=answers, sensitive_features=groups)
    assert frame.by_group.tolist() == [(answers[groups == group] == -1).mean() for group in (0, 1)]
    costs = metrics.make_derived_metric(metric=lambda a, b: mean_cost(a, b, COSTS), transform="difference")
    assert costs(y, clf.predict(X), sensitive_features=groups) >= 0


def test_fairlearn_mitigates_forced_machines(rows, groups):
    pytest.importorskip("fairlearn", reason=REASON)
    from fairlearn.postprocessing import ThresholdOptimizer
    from fairlearn.reductions import DemographicParity, ExponentiatedGradient

    X, y = rows
    reduced = ExponentiatedGradient(Forced(RejectSVC(COSTS, C=3)), DemographicParity(), max_iter=3)
    assert set(reduced.fit(X, y, sensitive_features=groups).predict(X, random_state=0)) == {0, 1}
    misread = ExponentiatedGradient(RejectSVC(COSTS, C=3), DemographicParity(), max_iter=3)
    assert misread.fit(X, y, sensitive_features=groups)._pmf_predict(X).min() < 0  # why Forced is needed
    optimised = ThresholdOptimizer(estimator=RejectSVC(COSTS), predict_method="decision_function")
    answers = optimised.fit(X, y, sensitive_features=groups).predict(X, sensitive_features=groups, random_state=0)
    rates = [answers[groups == group].mean() for group in (0, 1)]
    assert abs(rates[0] - rates[1]) < 0.15
