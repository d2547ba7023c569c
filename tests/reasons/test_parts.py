"""Contributions of columns and pulls of training rows are exact: they sum to the score, by loops of their own."""

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import abstain
from abstain import Costs, LinearRejectSVC, NoveltyRejector, RejectSVC, ThresholdRejector
from abstain.preprocessing import default_pipeline
from reasons_cases import NUMERIC, TEXTS, mixed

REJECT = Costs(reject=0.3)


def arrays(n, classes=2, seed=0):
    """Rows of numbers with different units, and labels."""
    X, y = mixed(n, seed, classes)
    return X[NUMERIC].fillna(120).to_numpy(), y


def loop_kernel(machine, x, k=None):
    """Every part of a score of an rbf machine, one by one."""
    coef = machine.coef if k is None else machine.coef[k]
    gamma = machine.kernel.gamma
    distances = [sum((a - b) ** 2 for a, b in zip(v, x, strict=True)) for v in machine.vectors]
    return np.array([c * np.exp(-gamma * far) for c, far in zip(coef, distances, strict=True)])


@pytest.mark.parametrize("machine", [LinearRejectSVC(REJECT), RejectSVC(REJECT, kernel="linear")])
def test_contributions_are_the_weights_times_the_distances_from_the_means(machine):
    X, y = arrays(300)
    X, new = X / [20, 1e4, 15], arrays(40, seed=1)[0] / [20, 1e4, 15]
    machine.fit(X, y)
    found, weights, means = abstain.explain(machine, new, training=X), np.ravel(machine.coef_), X.mean(axis=0)
    for at, x in enumerate(new):
        parts = [w * (cell - mean) for w, cell, mean in zip(weights, x, means, strict=True)]
        np.testing.assert_allclose(found.contributions[at], parts, rtol=1e-7, atol=1e-9)
        total = sum(found.contributions[at]) + found.bias
        assert abs(total - found.decisions.score[at]) <= 1e-9 * (sum(map(abs, parts)) + abs(found.bias))


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("around", [lambda one: one, lambda one: NoveltyRejector(one, rate=0.05, random_state=0)])
def test_contributions_of_a_pipeline_sum_to_the_scores_in_the_columns_of_the_user(classes, around):
    (X, y), (new, _) = mixed(400, classes=classes), mixed(60, seed=1)
    model = around(default_pipeline(LinearRejectSVC(REJECT), NUMERIC, TEXTS)).fit(X, y)
    found = abstain.explain(model, new, training=X)
    assert found.contributions.shape == ((60, 5) if classes == 2 else (60, 3, 5))
    for parts, score in zip(found.contributions, model.decision_function(new), strict=True):
        sizes = np.abs(parts).sum(axis=-1) + np.abs(found.bias)
        assert (np.abs(parts.sum(axis=-1) + found.bias - score) <= 1e-9 * sizes).all()
    same = new.copy()
    same["city"] = X["city"].mode()[0]  # the cell that others are compared with
    assert not abstain.explain(model, same, training=X).contributions[..., 3].any()
    assert found.contributions[..., 3].any()  # the control


def test_a_logistic_regression_of_another_library_has_contributions():
    X, y = arrays(300)
    model = ThresholdRejector(make_pipeline(StandardScaler(), LogisticRegression()), REJECT, random_state=0).fit(X, y)
    found = abstain.explain(model, X[:20], training=X)
    usual = np.append(round(X[:, 0].mean()), X[:, 1:].mean(axis=0))  # the first column has whole numbers only
    parts = (X[:20] - usual) / model.estimator_[0].scale_ * model.estimator_[1].coef_[0]
    np.testing.assert_allclose(found.contributions, parts, rtol=1e-6, atol=1e-9)


def test_what_is_no_sum_over_columns_has_no_contributions():
    X, y = arrays(200)
    forest = ThresholdRejector(RandomForestClassifier(10, random_state=0), REJECT, random_state=0).fit(X, y)
    assert abstain.explain(forest, X[:5]).contributions is None
    kernel = RejectSVC(REJECT).fit(X / [20, 1e4, 15], y)
    assert abstain.explain(kernel, X[:5] / [20, 1e4, 15]).contributions is None


def test_pulls_are_the_largest_parts_and_sum_to_the_score():
    X, y = arrays(200)
    model = make_pipeline(StandardScaler(), RejectSVC(REJECT)).fit(X, y)
    machine, new = model[-1].machine_, X[:15] * 1.01
    made = abstain.explain(model, new, training=X)
    found = made.pulls
    for at, x in enumerate(model[0].transform(new)):
        every = np.sort(loop_kernel(machine, x))
        np.testing.assert_allclose(found.part[at], np.append(every[:-4:-1], every[2::-1]), rtol=1e-9)
        assert abs(found.part[at].sum() + found.rest[at] + made.bias - model.decision_function(new)[at]) < 1e-9
        for row, part, label in zip(found.row[at], found.part[at], found.label[at], strict=True):
            assert y[row] == label  # by name
            assert np.isclose(loop_kernel(machine, x)[list(machine.support).index(row)], part)
    assert (found.part[:, 0] > 0).all()
    assert (found.part[:, -1] < 0).all()


def test_pulls_of_several_classes_are_those_of_each_score():
    X, y = arrays(300, classes=3)
    model = RejectSVC(REJECT).fit(X / [20, 1e4, 15], y)
    found = abstain.explain(model, X[:10] / [20, 1e4, 15]).pulls
    assert found.part.shape == (10, 3, 6)
    for at, x in enumerate(X[:10] / [20, 1e4, 15]):
        for k in range(3):
            every = loop_kernel(model.machine_, x, k)
            assert np.isclose(every.max(), found.part[at, k, 0], rtol=1e-9)
            assert abs(found.part[at, k].sum() + found.rest[at, k] - every.sum()) < 1e-9
            assert y[found.row[at, k, 0]] == model.classes_[k] == found.label[at, k, 0]
        assert [y[row] for row in found.row[at].ravel()] == found.label[at].ravel().tolist()


def test_rows_that_a_guard_left_out_do_not_shift_the_positions_in_the_training_table():
    X, y = arrays(300)
    model = NoveltyRejector(make_pipeline(StandardScaler(), RejectSVC(REJECT)), rate=0.05, refit=False, random_state=0)
    model.fit(X, y)
    with_table = abstain.explain(model, X[:30], training=X).pulls
    assert (y[with_table.row] == with_table.label).all()
    without = abstain.explain(model, X[:30]).pulls
    assert (y[without.row] != without.label).any()  # the control: positions among the rows of the classifier
    part = abstain.explain(model, X[:30], training=X[:100]).pulls
    assert (part.row == -1).any()
    assert (y[part.row] == part.label)[part.row >= 0].all()
    assert "training row 0" not in " ".join(abstain.explain(model, X[:30], training=X[:100]).sentence)


def test_the_frame_has_the_index_of_the_rows():
    X, y = mixed(200)
    X.index = [f"row {at}" for at in range(200)]
    model = default_pipeline(RejectSVC(REJECT), NUMERIC, TEXTS).fit(X, y)
    found = abstain.explain(model, X, rows=[3, 77])
    frame = found.to_frame()
    assert frame.index.tolist() == ["row 3", "row 77"]
    assert frame["sentence"].tolist() == found.sentence.tolist()
    assert isinstance(frame, pd.DataFrame)
    assert {"change_column", "change_value", "change_distance", "label"} <= {*frame}
