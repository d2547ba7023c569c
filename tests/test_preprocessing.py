"""The Pipeline of named columns does what its description says, by plain arithmetic."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.compose import ColumnTransformer, _column_transformer
from sklearn.impute import SimpleImputer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from abstain import Costs, RejectSVC, compare
from abstain.preprocessing import NAN_TEXT, NUMBER, TEXT, columns_read, default_pipeline, scales_one_hot

AGE, CITY, Y = [20.0, 30.0, np.nan, 70.0], ["Bonn", None, "Ulm", "Ulm"], [0, 0, 1, 1]
FRAMES = {
    "pandas": pd.DataFrame({"age": AGE, "more": Y, "city": CITY}),
    "pandas objects": pd.DataFrame({"age": AGE, "more": Y, "city": pd.Series(CITY, dtype=object)}),
    "polars": pl.DataFrame({"age": AGE, "more": Y, "city": CITY}),
    "polars nulls": pl.DataFrame({"age": [20.0, 30.0, None, 70.0], "more": Y, "city": CITY}),
}


@pytest.mark.parametrize("kind", FRAMES)
def test_the_features(kind, request):
    if kind.startswith("polars"):
        request.getfixturevalue("polars")
    model = default_pipeline(RejectSVC(), ["age"], ["city"]).fit(FRAMES[kind], Y)
    features = model[:-1].transform(FRAMES[kind])
    age = np.array([20.0, 30.0, 30.0, 70.0])
    missing = np.array([0.0, 0.0, 1.0, 0.0])
    expected = [(column - column.mean()) / column.std() for column in (age, missing)]
    expected += [[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 1, 1]]  # (missing), Bonn, Ulm
    np.testing.assert_allclose(features, np.column_stack(expected), rtol=0, atol=1e-15)


def test_unseen_categories_are_zero_everywhere():
    model = default_pipeline(RejectSVC(), ["age"], ["city"]).fit(FRAMES["pandas"], Y)
    features = model[:-1].transform(pd.DataFrame({"age": [30.0], "more": [0], "city": ["Rom"]}))
    assert features[0, 2:].tolist() == [0.0, 0.0, 0.0]


def test_columns_without_any_value_are_kept():
    frame = pd.DataFrame({"age": AGE, "empty": [np.nan] * 4, "city": CITY, "none": pd.Series([None] * 4, dtype=object)})
    model = default_pipeline(RejectSVC(), ["age", "empty"], ["city", "none"]).fit(frame, Y)
    assert model[:-1].transform(frame).shape == (4, 8)


@pytest.mark.parametrize(
    ("numeric", "categorical", "message"),
    [
        ([], [], "are both empty; a model needs at least one column"),
        (["age", "age"], [], "list 'age' more than once"),
        (["age"], ["age"], "list 'age' more than once"),
        ([0], [], "must contain column names, got 0"),
    ],
)
def test_names_are_checked(numeric, categorical, message):
    with pytest.raises(ValueError, match=message):
        default_pipeline(RejectSVC(), numeric, categorical)


def test_which_columns_are_text_is_asked_of_the_steps():
    frame, names = FRAMES["pandas objects"].fillna({"city": "none"}), ["age", "more", "city"]
    ours = default_pipeline(None, ["age"], ["city"])[:-1].fit(frame)
    assert columns_read(ours, names) == {"age": NUMBER, "city": TEXT}  # "more" is not read
    filled = make_pipeline(SimpleImputer(strategy="constant", fill_value="?"), OneHotEncoder())  # takes NaN, not None
    numbers = make_pipeline("passthrough", SimpleImputer(), StandardScaler())
    other = ColumnTransformer([("c", filled, ["city"]), ("n", numbers, ["age"]), ("out", "drop", ["more"])])
    assert columns_read(make_pipeline(other).fit(frame), names) == {"city": NAN_TEXT, "age": NUMBER}
    codes = make_pipeline(OneHotEncoder(), "passthrough").fit(frame[["more"]])
    assert columns_read(codes, ["more"]) == {"more": NUMBER}
    assert columns_read(OneHotEncoder().fit(FRAMES["pandas objects"][["city"]]), ["city"]) == {"city": TEXT}


def test_columns_are_found_by_position_which_takes_linear_time(monkeypatch):
    """scikit-learn looks up each name in a list, in time that grows with the square of the number of columns."""
    looked_up, own = [], _column_transformer._get_column_indices
    monkeypatch.setattr(_column_transformer, "_get_column_indices", lambda X, key: looked_up.append(key) or own(X, key))
    model = default_pipeline(RejectSVC(), ["age", "more"], ["city"]).fit(FRAMES["pandas"][["city", "more", "age"]], Y)
    assert looked_up == [[2, 1], [0]]
    expected = default_pipeline(RejectSVC(), ["age", "more"], ["city"]).fit(FRAMES["pandas"], Y)
    np.testing.assert_array_equal(model[:-1].transform(FRAMES["pandas"]), expected[:-1].transform(FRAMES["pandas"]))
    with pytest.raises(ValueError, match="size"):
        default_pipeline(RejectSVC(), ["age", "size"], []).fit(FRAMES["pandas"], Y)
    with pytest.raises(ValueError, match="only supported for"):
        default_pipeline(RejectSVC(), ["age"], []).fit(np.ones((4, 1)), Y)


def test_a_scaler_after_an_encoder_is_found_however_deep():
    columns = ColumnTransformer([("texts", OneHotEncoder(), ["city"]), ("numbers", StandardScaler(), ["age"])])
    found = make_pipeline(columns, StandardScaler(with_mean=False), RejectSVC())
    assert scales_one_hot(found)
    assert scales_one_hot(GridSearchCV(found, {}))
    assert scales_one_hot(ColumnTransformer([("texts", make_pipeline(OneHotEncoder(), StandardScaler()), ["city"])]))
    assert not scales_one_hot(make_pipeline(columns, RejectSVC()))
    assert not scales_one_hot(make_pipeline(StandardScaler(), OneHotEncoder(), RejectSVC()))
    assert not scales_one_hot(default_pipeline(RejectSVC(), ["age"], ["city"]))


@pytest.mark.parametrize("others", [{}, {"other": RejectSVC()}])
def test_compare_warns_of_a_scaler_after_an_encoder_and_notes_it(others):
    rows = pd.DataFrame({"age": np.arange(20.0), "city": ["Bonn", "Ulm"] * 10})
    sentence = "models['mine'] standardises the columns of a OneHotEncoder, so that rare categories weigh most"
    encode = ColumnTransformer([("texts", OneHotEncoder(), ["city"])])
    numbers = ColumnTransformer([("numbers", StandardScaler(), ["age"])])
    models = {name: make_pipeline(numbers, model) for name, model in others.items()}
    for steps, warned in (((encode, StandardScaler(with_mean=False)), True), ((encode,), False)):
        mine = make_pipeline(*steps, RejectSVC())
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            found = compare({"mine": mine, **models}, rows, [0, 1] * 10, Costs(), cv=2)
        assert [sentence in str(one.message) for one in caught if one.category is UserWarning] == [True] * warned
        assert caught[0].filename == __file__ if warned else True
        assert (sentence in str(found)) == (sentence in found._repr_html_().replace("&#x27;", "'")) == warned
