"""Pipelines of scikit-learn's transformers come back bit for bit, or are refused with the list of what is supported."""

import io
import time

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_breast_cancer
from sklearn.decomposition import PCA
from sklearn.feature_selection import SelectKBest
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MinMaxScaler,
    OneHotEncoder,
    PolynomialFeatures,
    StandardScaler,
)

from abstain import Costs, RejectSVC, RejectSVCCV, ThresholdRejector, decide, save
from abstain.files.format import manifest as pool
from abstain.files.format.container import LARGEST
from abstain.files.format.errors import ModelFileError
from abstain.files.model_file import read
from abstain.preprocessing import default_pipeline
from files.sameness import again, assert_same, written
from looping import looped
from pipeline_cases import CASES, COSTS, fitted, frame, mixed

LISTED = "StandardScaler, MinMaxScaler, MaxAbsScaler, RobustScaler, Normalizer, .* Pipelines and ColumnTransformers"


def attributes(step):
    """Everything that scikit-learn has set on a transformer, in one order, with those of the transformers inside it."""
    if isinstance(step, str) or step is None:
        return step
    found = dict(sorted(vars(step).items()))
    for name in ("steps", "transformers", "transformers_", "_columns", "categories"):
        found.pop(name, None)  # compared below, or written in another form (selectors, slices)
    if isinstance(step, Pipeline):
        return [found, [(name, attributes(one)) for name, one in step.steps]]
    if isinstance(step, ColumnTransformer):
        found.pop("_remainder")
        return [found, [(name, attributes(part)) for name, part, _ in step.transformers_]]
    if "categories_" in found:
        found["categories_"] = [one.tolist() for one in found["categories_"]]
    return found


@looped(name=CASES)
def test_a_pipeline_comes_back_bit_for_bit(name, tmp_path):
    saved, X = fitted(name)
    loaded = again(saved, tmp_path)
    for method in ("decision_function", "predict"):
        assert_same(getattr(saved, method)(X), getattr(loaded, method)(X))
    assert_same(decide(saved, X).forced, decide(loaded, X).forced)
    assert [step for step, _ in saved.steps] == [step for step, _ in loaded.steps]
    before, after = (one[:-1].transform(X) for one in (saved, loaded))
    if before is not X:
        assert_same(before, after)
    if before is not X and hasattr(X, "columns"):
        assert saved[:-1].get_feature_names_out().tolist() == loaded[:-1].get_feature_names_out().tolist()
    assert written(saved) == written(loaded)


@looped(name=CASES)
def test_all_attributes_that_scikit_learn_sets_come_back(name, tmp_path):
    saved, _ = fitted(name)
    loaded = again(saved, tmp_path)
    assert repr(attributes(saved[0])) == repr(attributes(loaded[0]))


@pytest.mark.parametrize("name", ["mixed", "OrdinalEncoder", "StandardScaler"])
def test_a_loaded_pipeline_can_be_cloned_and_fitted_again(name, tmp_path):
    saved, X = fitted(name)
    refitted = clone(again(saved, tmp_path)).fit(X, frame()[1])
    assert_same(saved.decision_function(X), refitted.decision_function(X))


def test_the_pipeline_of_the_readme(tmp_path):
    X, y = load_breast_cancer(return_X_y=True)
    model = make_pipeline(StandardScaler(), RejectSVCCV(Costs(1, 5, 0.3), Cs=2, gammas=2, cv=2)).fit(X, y == 0)
    loaded = again(model, tmp_path)
    assert_same(model.decision_function(X), loaded.decision_function(X))
    assert loaded[-1].C_ == model[-1].C_


def test_a_rejector_after_steps(tmp_path):
    X, y = frame()
    model = make_pipeline(mixed(), ThresholdRejector(LogisticRegression(), COSTS)).fit(X, y)
    assert_same(model.predict(X), again(model, tmp_path).predict(X))


def test_columns_are_found_by_name_after_loading(tmp_path):
    saved, X = fitted("mixed")
    loaded = again(saved, tmp_path)
    assert_same(saved.predict(X), loaded.predict(X[X.columns[::-1]]))
    with pytest.raises(ValueError, match=r"columns are missing: \{'city'\}"):
        loaded.predict(X.drop(columns="city"))
    named, rows = fitted("names of a frame")
    with pytest.raises(ValueError, match="feature names"):
        again(named, tmp_path).predict(rows[rows.columns[::-1]])


def test_an_unseen_category_is_treated_alike(tmp_path):
    saved, X = fitted("mixed")
    loaded, new = again(saved, tmp_path), X.assign(city="Rom", gaps=np.nan)
    assert_same(saved.decision_function(new), loaded.decision_function(new))


WEIGHTED = ColumnTransformer([("a", StandardScaler(), [0])], transformer_weights={"a": 2.0})


@pytest.mark.parametrize(
    ("step", "message"),
    [
        (FunctionTransformer(np.abs), f"has a FunctionTransformer before its last step, which .*; use {LISTED}"),
        (PolynomialFeatures(), f"has a PolynomialFeatures before its last step, which .*; use {LISTED}"),
        (PCA(1), f"has a PCA before its last step, which .*; use {LISTED}"),
        (SelectKBest(k=1), f"has a SelectKBest before its last step, which .*; use {LISTED}"),
        (make_pipeline(StandardScaler(), PCA(1)), "has a PCA"),
        (ColumnTransformer([("a", PCA(1), [0, 1])]), "has a PCA"),
        (OneHotEncoder(max_categories=5, handle_unknown="ignore"), r"OneHotEncoder\(max_categories=5\)"),
        (OneHotEncoder(drop=[40.0, 1.0], categories=None), "drop="),
        (WEIGHTED, "transformer_weights="),
        (Pipeline([("a", StandardScaler())], memory="folder"), "memory='folder'"),
        (StandardScaler().set_output(transform="pandas"), "set_output"),
        (ColumnTransformer([("a", StandardScaler(), []), ("b", "passthrough", [0])]), "for no columns"),
    ],
    ids=repr,
)
def test_other_steps_are_refused(step, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X, y = frame()[0][["age", "dose"]].round(0), frame()[1]
    if getattr(step, "drop", None):
        step = OneHotEncoder(drop=[X["age"].min(), 0.0])
    with pytest.raises(ValueError, match=message):
        save(make_pipeline(step, RejectSVC(COSTS)).fit(X, y), tmp_path / "model")
    assert not (tmp_path / "model").exists()


class Scaler(StandardScaler):
    """A subclass may do anything, under a name that we know."""


Scaler.__name__ = "StandardScaler"


def test_a_subclass_is_not_its_parent(tmp_path):
    X, y = frame()[0][["age"]], frame()[1]
    with pytest.raises(ValueError, match="has a StandardScaler before its last step, which"):
        save(make_pipeline(Scaler(), RejectSVC(COSTS)).fit(X, y), tmp_path / "model")


@pytest.mark.parametrize("last", [make_pipeline(MinMaxScaler(), RejectSVC()), "passthrough"], ids=["inner", "none"])
def test_the_last_step_is_a_classifier(last, tmp_path):
    X, y = frame()[0][["age"]], frame()[1]
    with pytest.raises(ValueError, match=r"whose last step is \w+, which .*; end in a classifier"):
        save(Pipeline([("a", StandardScaler()), ("b", last)]).fit(X, y), tmp_path / "model")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda one: setattr(one[0], "scale_", one[0].scale_ * 2), "contradict each other or its parameters"),
        (lambda one: one[0].set_params(with_std=False), "must be null"),
        (lambda one: setattr(one[0], "mean_", one[0].mean_[1:]), "wrong dtype or shape"),
        (lambda one: setattr(one[0], "mean_", one[0].mean_ * np.nan), "NaN or infinity"),
        (lambda one: setattr(one, "steps", [one.steps[0], ("s", StandardScaler()), one.steps[1]]), "not fitted"),
        (lambda one: setattr(one[0], "n_features_in_", 3), "make 3 features, which do not match"),
    ],
    ids=["scale", "parameter", "length", "nan", "unfitted", "features"],
)
def test_a_scaler_changed_after_the_fit_is_refused(change, message, tmp_path):
    X, y = frame()[0][["age", "dose"]], frame()[1]
    model = make_pipeline(StandardScaler(), RejectSVC(COSTS)).fit(X.to_numpy(), y)
    save(model, tmp_path / "model")
    change(model)
    with pytest.raises(ValueError, match=message):
        save(model, tmp_path / "model")


def test_a_part_changed_after_the_fit_is_refused(tmp_path):
    X, y = frame()
    model = make_pipeline(mixed(), RejectSVC(COSTS)).fit(X, y)
    model[0].set_params(numbers__simpleimputer__strategy="mean")
    with pytest.raises(ValueError, match=r"parameters of a part of its ColumnTransformer differ.* Fit it again"):
        save(model, tmp_path / "model")


def seconds(raw):
    start = time.process_time()  # of the processor, however busy the machine
    read(io.BytesIO(raw), len(raw), LARGEST)
    return time.process_time() - start


@pytest.mark.parametrize("kind", ["columns", "default"])
def test_reading_takes_time_linear_in_the_columns(kind, contents):
    # by name, scikit-learn needs time in the square of the number of columns: 45 s for 100,000 of them
    taken = []
    for n in (2_000, 40_000):
        names = [f"column {at}" for at in range(n)]
        few = pd.DataFrame(np.random.default_rng(0).standard_normal((6, 3)), columns=names[:3])
        machine = RejectSVC(COSTS, kernel="linear")
        model = default_pipeline(machine, names[:3], [])
        if kind == "columns":
            model = make_pipeline(ColumnTransformer([("s", StandardScaler(), names[:3])]), machine)
        taken.append(seconds(contents(_widened(model.fit(few, [0, 1] * 3), names))))
    assert taken[1] < 40 * max(taken[0], 0.02)


def _widened(model, names):
    """The Pipeline as if it had been fitted to many columns: fitting it to them would take longer than reading."""
    n, columns = len(names), np.array(names, dtype=object)
    step, machine = model[0], model[-1]
    (name, part, _), *_ = step.transformers_
    for one in [part] if isinstance(part, StandardScaler) else [inner for _, inner in part.steps]:
        one.n_features_in_ = n
        if hasattr(one, "feature_names_in_"):
            one.feature_names_in_ = columns
        for stored in ("mean_", "var_", "scale_", "statistics_"):
            if hasattr(one, stored):
                setattr(one, stored, np.resize(getattr(one, stored), n))
    step.feature_names_in_, step.n_features_in_ = columns, n
    step.transformers = [(name, step.transformers[0][1], names)]
    step.transformers_ = [(name, part, names)]
    wide = RejectSVC(COSTS, kernel="linear").fit(np.random.default_rng(0).standard_normal((6, n)), [0, 1] * 3)
    machine.__dict__.update(n_features_in_=n, _fitted_=wide._fitted_)
    return model


def test_more_columns_than_an_encoder_may_have(tmp_path, monkeypatch):
    X, y = frame()[0][["city", "count"]], frame()[1]
    monkeypatch.setattr(pool, "MOST_ENCODED", 1)
    with pytest.raises(ValueError, match=r"cannot be saved: it has more than 1 encoded columns. Use fewer, or skops"):
        save(make_pipeline(OneHotEncoder(), RejectSVC(COSTS)).fit(X, y), tmp_path / "model")


def test_more_steps_than_a_file_may_have(tmp_path):
    X, y = frame()[0][["age"]].to_numpy(), frame()[1]
    steps = [(f"s{at}", SimpleImputer()) for at in range(1001)]
    model = Pipeline([*steps[:1], ("machine", RejectSVC(COSTS))]).fit(X, y)
    model.steps = [*((name, model[0]) for name, _ in steps), model.steps[-1]]
    with pytest.raises(ValueError, match="more than 1,000 steps"):
        save(model, tmp_path / "model")


@pytest.mark.parametrize("name", ["SimpleImputer constant", "columns by number", "StandardScaler", "OrdinalEncoder"])
def test_columns_that_exist_only_in_the_manifest_take_no_memory(name, forge):
    def change(inside):
        inside.model["n_features"] = 2**40

    raw = forge(fitted(name)[0], change)
    with pytest.raises(ModelFileError, match=r"more than (1,048,576 columns over all its steps|2,147,483,647)"):
        read(io.BytesIO(raw), len(raw), LARGEST)
