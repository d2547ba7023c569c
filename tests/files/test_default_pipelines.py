"""The Pipelines of `default_pipeline` come back from their files, bit for bit."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from abstain import RejectSVC, save
from abstain.files.sklearn_codecs.preprocessing_codec import is_default
from abstain.preprocessing import default_pipeline
from files.sameness import again, assert_same


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_pipeline(library, pipeline, table, tmp_path, request):
    X, y = table
    saved = pipeline
    if library == "polars":
        pl = request.getfixturevalue("polars")
        X = pl.from_pandas(X)
        saved = clone(pipeline).fit(X, y)
    loaded = again(saved, tmp_path)
    unseen = X.head(7).copy() if library == "pandas" else X.head(7).with_columns(pl.lit("Rom").alias("city"))
    if library == "pandas":
        unseen["city"] = "Rom"
    for rows in (X, unseen):
        assert_same(saved[:-1].transform(rows), loaded[:-1].transform(rows))
        assert_same(saved.predict(rows), loaded.predict(rows))
    assert saved[:-1].get_feature_names_out().tolist() == loaded[:-1].get_feature_names_out().tolist()
    assert saved.score(X, y) == loaded.score(X, y)
    refitted = clone(loaded).fit(X, y)
    assert_same(saved.decision_function(X), refitted.decision_function(X))


@pytest.mark.parametrize("parts", [(["age", "score"], []), ([], ["city"]), (["score"], ["city"])])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_pipelines_of_some_columns(parts, dtype, table, tmp_path):
    X, y = table
    X = X.astype({"age": dtype, "score": dtype})
    saved = default_pipeline(RejectSVC(), *parts).fit(X, y)
    loaded = again(saved, tmp_path)
    assert_same(saved[:-1].transform(X), loaded[:-1].transform(X))
    assert_same(saved.decision_function(X), loaded.decision_function(X))


def test_all_state_of_the_preprocessing_is_restored(pipeline, tmp_path):
    # every attribute that scikit-learn sets at fit, public or not, is there, and the public ones have their values
    loaded = again(pipeline, tmp_path)
    for part, steps in {"numeric": ["impute", "scale"], "categorical": ["impute_nan", "impute_none", "encode"]}.items():
        for step in steps:
            before, after = (one[0].named_transformers_[part][step] for one in (pipeline, loaded))
            assert vars(before).keys() == vars(after).keys()
            public = {name for name in vars(before) if name.endswith("_")}
            for name in public - {"indicator_", "n_samples_seen_"}:
                assert_same(getattr(before, name), getattr(after, name))
    indicators = [one[0].named_transformers_["numeric"]["impute"].indicator_ for one in (pipeline, loaded)]
    assert_same(indicators[0].features_, indicators[1].features_)
    assert vars(pipeline[0]).keys() == vars(loaded[0]).keys()


@pytest.mark.parametrize(
    "change",
    [
        lambda one: one.set_params(preprocess__numeric__scale__with_mean=False),
        lambda one: one.set_params(preprocess__remainder="passthrough"),
        lambda one: one.set_params(preprocess__categorical__encode__drop="first"),
        lambda one: one[0].transformers.reverse() or one,
        lambda one: Pipeline([*one.steps[:1], ("more", "passthrough"), *one.steps[1:]]),
    ],
    ids=["scaling", "remainder", "encoding", "order", "more steps"],
)
def test_pipelines_of_another_making_come_back(change, pipeline, table, tmp_path):
    X, y = table
    saved = change(clone(pipeline)).fit(X, y)
    loaded = again(saved, tmp_path)
    assert_same(saved.decision_function(X), loaded.decision_function(X))
    assert not is_default(saved)


def test_a_pipeline_that_returns_frames_is_refused(pipeline, table, tmp_path):
    with pytest.raises(ValueError, match="set_output"):
        save(clone(pipeline).set_output(transform="pandas").fit(*table), tmp_path / "model")
