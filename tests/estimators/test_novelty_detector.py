"""The default detector: its formula by hand, what it sees that distances do not, and rows it must not stumble over."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, PowerTransformer, StandardScaler
from sklearn.utils.estimator_checks import check_estimator

from abstain import NoveltyRejector, OneClassSVM
from abstain.estimators.novelty.left_out import residuals_left_out, scores_left_out
from abstain.estimators.novelty.novelty_detector import NoveltyDetector
from abstain.preprocessing import default_pipeline


def people(n=200, seed=0):
    """Heights in metres, weights in kilograms, and a column of both signs."""
    rng = np.random.default_rng(seed)
    height = rng.normal(1.75, 0.1, n)
    return np.column_stack([height, 24 * height**2 * rng.lognormal(0, 0.05, n), rng.normal(size=n)])


def fitted(X, origin=0.0):
    return NoveltyDetector().fit(X, origin=np.full(X.shape[1], origin))


def test_the_formula_by_hand():
    X = people()
    now = fitted(X)._fitted_
    assert (now.columns.floor > 0).tolist() == [True, True, False]
    np.testing.assert_allclose(now.columns.floor[:2], X[:, :2].min(axis=0) / 10)
    rows = np.vstack([X[:5], [[1.75, 7.0, 0.0], [0.1, -3.0, 0.5], [0.0, 0.0, 9.0]]])
    for x, found in zip(rows, fitted(X).score_samples(rows), strict=True):
        u = [np.log(x[j]) if x[j] >= (f := now.columns.floor[j]) else np.log(f) + (x[j] - f) / f for j in (0, 1)]
        z = (np.array([*u, x[2]]) - now.columns.centre) / now.columns.spread
        first = max(abs(sum(z[i] * now.residuals[i, j] for i in range(3))) for j in range(3))
        c, machine = np.clip(z, -3, 3), now.one_class
        kernel = np.exp(-machine.machine_.kernel.gamma * ((machine.support_vectors_ - c) ** 2).sum(axis=1))
        second = np.sqrt(-np.log(machine.dual_coef_[0] @ kernel / machine.dual_coef_.sum()))
        v = max(np.log(size / b) / w for size, b, w in zip((first, second), now.units, now.excess, strict=True))
        assert -found == pytest.approx(1 + v if v > 0 else np.exp(v), rel=1e-9)


def test_residuals_are_those_of_a_ridge_regression_on_the_other_columns():
    now = fitted(people())._fitted_
    z = now.columns.standardised(people())
    covariance = np.clip(z, -3, 3).T @ np.clip(z, -3, 3) / len(z)
    ridge = 0.01 * np.trace(covariance) / 3
    for j in range(3):
        others = [i for i in range(3) if i != j]
        beta = np.linalg.solve(covariance[np.ix_(others, others)] + ridge * np.eye(2), covariance[others, j])
        left, given = z[:, j] - z[:, others] @ beta, z @ now.residuals[:, j]
        np.testing.assert_allclose(given, left * (given[0] / left[0]), rtol=1e-8)


def test_what_is_left_out_by_formula_is_what_a_fit_without_the_row_gives():
    z = np.random.default_rng(0).normal(size=(90, 4)) @ np.diag([1.0, 0.5, 2.0, 1.0])
    clipped = z.clip(-1.5, 1.5)
    n, covariance = len(z), clipped.T @ clipped / len(z) + 0.05 * np.eye(4)
    found = residuals_left_out(np.linalg.inv(covariance), z, clipped)
    machine = OneClassSVM(nu=0.3, gamma=0.2).fit(z)
    scores, with_it, without = scores_left_out(machine.machine_, z), machine.score_samples(z), np.empty(n)
    for i in range(n):
        others = np.delete(np.arange(n), i)
        P = np.linalg.inv((n * covariance - np.outer(clipped[i], clipped[i])) / (n - 1))
        np.testing.assert_allclose(found[i], P @ z[i] / np.sqrt(np.diag(P)), rtol=1e-9)
        fewer = OneClassSVM(nu=0.3 * n / (n - 1), gamma=0.2).fit(z[others])
        without[i] = fewer.score_samples(z[i : i + 1])[0]
    support = machine.support_
    off, off_with_it = (np.abs(score / without - 1.0) for score in (scores, with_it))
    assert np.delete(off, support).max() < 1e-12
    assert off.max() < 0.25
    assert np.median(off[support]) < 0.4 * np.median(off_with_it[support])


def test_a_broken_relation_is_unusual_within_the_range_of_every_column():
    X = people()
    tall, heavy = np.quantile(X[:, 0], 0.95), np.quantile(X[:, 1], 0.05)
    odd, usual = fitted(X).score_samples([[tall, heavy, 0.0], [tall, 24 * tall**2, 0.0]])
    assert odd < np.quantile(fitted(X).score_samples(people(seed=1)), 0.01) < usual


def test_an_odd_training_row_stretches_no_other_column():
    X = people()
    with_odd = np.vstack([X, [1.75, 75.0, 1e9]])
    light = people(seed=1) * [1, 0.1, 1]
    cut = np.quantile(fitted(with_odd).score_samples(people(seed=2)), 0.01)
    assert (fitted(with_odd).score_samples(light) < cut).all()


def test_the_origin_follows_the_preprocessing():
    """A column is positive if its cells were, before they were scaled; rows scaled or not have the same scores."""
    X, y = people(400), np.arange(400) % 2
    numbers = pd.DataFrame(X, columns=["height", "weight", "other"])
    named = default_pipeline(LogisticRegression(), [*numbers], [])
    cases = [
        (LogisticRegression(), X),
        (make_pipeline(StandardScaler(), LogisticRegression()), X),
        (named, numbers),
        (named, pl.from_pandas(numbers)),
        (default_pipeline(LogisticRegression(), [*numbers], ["city"]), numbers.assign(city="Bonn")),
    ]
    found = [NoveltyRejector(model, random_state=0).fit(rows, y) for model, rows in cases]
    last = [getattr(one.guard_.detector, "steps", [[None, one.guard_.detector]])[-1][1] for one in found]
    assert [(one.columns_.floor > 0).tolist()[:3] for one in last] == [[True, True, False]] * 5
    for model, (_, rows) in zip(found[1:4], cases[1:4], strict=True):
        np.testing.assert_allclose(model.guard_.unusual(rows), found[0].guard_.unusual(X), rtol=1e-7)


def test_preprocessing_that_does_not_take_a_row_of_zeros():
    X, y = np.abs(people(400)), np.arange(400) % 2
    model = make_pipeline(PowerTransformer("box-cox"), LogisticRegression())
    found = NoveltyRejector(model, random_state=0).fit(X, y)
    assert not found.guard_.detector[-1].columns_.floor.any()
    assert found.guard_.novel_rows(10 * X).all()


@pytest.mark.parametrize(
    "X",
    [
        np.ones((40, 3)),
        np.zeros((40, 2)),
        np.tile(people(20), (2, 1)),
        np.repeat(people(40)[:, :1], 3, axis=1),
        np.eye(40)[:, :5],
        1e-300 + people(40) * 1e-305,
        people(40) * 1e30,
        people(12),
        np.random.default_rng(0).normal(size=(40, 200)),
    ],
    ids=["constant", "zero", "twice", "collinear", "rare", "tiny", "huge", "few rows", "wide"],
)
def test_tables_without_spread_and_without_bounds(X):
    with np.errstate(all="raise", under="ignore"):
        scores = fitted(X).score_samples(X)
    assert np.isfinite(scores).all()
    assert (scores <= 0).all()
    assert (fitted(X).score_samples(X + 1e3 * np.abs(X).max() + 1e3) < scores.min()).all()


def test_too_few_rows_sparse_rows_and_many_columns_have_a_one_class_svm():
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    for X in (sparse.csr_array(rng.normal(size=(60, 3))), rng.normal(size=(60, 501))):
        detector = NoveltyRejector(LogisticRegression(), 0.2, random_state=0).fit(X, y).guard_.detector
        assert isinstance(detector[-1], OneClassSVM)
    few = NoveltyRejector(LogisticRegression(), 0.3, random_state=0, calibration_size=8)
    few.fit(rng.normal(size=(19, 2)), y[:19])
    assert isinstance(few.guard_.detector[-1], OneClassSVM)
    with pytest.raises(ValueError, match="X has 11 rows, and the detector needs 12"):
        NoveltyDetector().fit(rng.normal(size=(11, 2)))


def test_a_category_that_is_rare_does_not_hide_the_rest():
    rng = np.random.default_rng(0)
    city = np.where(rng.uniform(size=400) < 0.02, "Ulm", "Bonn")
    X = pd.DataFrame(people(400), columns=["height", "weight", "other"]).assign(city=city)
    pipeline = default_pipeline(LogisticRegression(), ["height", "weight", "other"], ["city"])
    model = NoveltyRejector(pipeline, random_state=0)
    model.fit(X, np.arange(400) % 2)
    assert model.guard_.novel_rows(X.assign(weight=X["weight"] / 10)).all()
    assert model.guard_.novel_rows(X).mean() < 0.05


def test_the_order_of_columns_and_of_rows_asked_does_not_matter():
    X, new = people(), people(50, seed=1)
    turned = fitted(X[:, ::-1]).score_samples(new[:, ::-1])
    np.testing.assert_allclose(fitted(X).score_samples(new), turned, rtol=1e-6)
    np.testing.assert_allclose(fitted(X).score_samples(new[::-1])[::-1], fitted(X).score_samples(new), rtol=1e-12)


def test_every_check_of_scikit_learn_passes():
    results = check_estimator(NoveltyDetector(), on_fail=None, on_skip=None)
    failed = {result["check_name"] for result in results if result["status"] == "failed"}
    assert {name for name in failed if not isinstance_of_few_rows(name, results)} == set()


def isinstance_of_few_rows(name, results):
    """Checks that fit fewer than 12 rows get the error that says so."""
    (result,) = [one for one in results if one["check_name"] == name and one["status"] == "failed"]
    return "the detector needs 12" in str(result["exception"])


def test_one_hot_columns_are_not_logarithms():
    X = np.array(["a", "b"])[np.arange(80) % 2][:, np.newaxis]
    pipeline = make_pipeline(OneHotEncoder(sparse_output=False), LogisticRegression())
    model = NoveltyRejector(pipeline, 0.05, random_state=0)
    found = model.fit(X, np.arange(80) % 2).guard_
    assert not found.novel_rows(X).any()


@pytest.mark.parametrize("moved", [0.0, 30.0, 1e9])
@pytest.mark.parametrize("before", [[StandardScaler()], [], [StandardScaler(with_std=False)], [StandardScaler()] * 2])
def test_a_bound_on_the_distance_spares_rows_and_changes_no_decision(monkeypatch, moved, before):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 8)) + moved
    y = X[:, 0] + rng.normal(size=3000) > moved
    model = NoveltyRejector(make_pipeline(*before, LogisticRegression()), random_state=0).fit(X, y)
    near, far = rng.normal(size=(2000, 8)), rng.normal(size=(200, 8)) * rng.uniform(1.0, 3.0, size=(200, 1))
    rows, guard = np.concatenate([near, far]) + moved, model.guard_
    asked, score = [], NoveltyDetector.score_samples
    monkeypatch.setattr(NoveltyDetector, "score_samples", lambda self, X: asked.append(len(X)) or score(self, X))
    found = guard.novel_rows(rows)
    assert sum(asked) < len(rows) / 2
    exact = guard.novel(guard.unusual(rows))
    assert sum(asked) > len(rows)  # control: all of them
    np.testing.assert_array_equal(found, exact)
    assert 20 < exact.sum() < 200


@pytest.mark.parametrize("moved", [0.0, 1e9])
@pytest.mark.parametrize("unit", [1.0, 1e-20, 1e30])
def test_rows_below_a_level_are_among_the_unsure_ones_and_so_are_rows_that_are_no_numbers(moved, unit):
    rng = np.random.default_rng(0)
    X, rows = rng.normal(size=(3000, 8)), rng.normal(size=(2200, 8)) * rng.uniform(1.0, 3.0, size=(2200, 1))
    last, rows = NoveltyDetector().fit((X + moved) * unit), (rows + moved) * unit
    scores = last.score_samples(rows)
    for level in (*np.quantile(scores, [0.0, 0.01, 0.2, 0.9]), -1.0, -1e6):
        unsure = set(last.unsure(rows, -level))
        assert set(np.flatnonzero(scores < level)) <= unsure
        assert len(unsure) <= (scores < level).sum() + 0.3 * len(rows)
    assert len(last.unsure(rows, 1e6)) == 0
    odd = rows.copy()
    odd[[3, 5], 1] = np.nan, np.inf
    assert last.unsure(odd, 1e6).tolist() == [3, 5]


def test_columns_of_one_value_in_training_show_in_the_bounds_too():
    rng = np.random.default_rng(0)
    X = np.hstack([np.full((400, 1), 5.0), rng.normal(size=(400, 3)), np.zeros((400, 2))])
    last = NoveltyDetector().fit(X)
    rows = np.tile(X, (2, 1))
    odd = [3, 11, 700]
    rows[odd, [0, 4, 5]] += 3.0
    scores = last.score_samples(rows)
    level = np.sort(scores[np.setdiff1d(np.arange(800), odd)])[0]
    assert (scores[odd] < level).all()
    unsure = last.unsure(rows, -level).tolist()
    assert set(odd) <= set(unsure)
    assert len(unsure) < 20
    only = NoveltyDetector().fit(np.ones((40, 3)))
    assert only.unsure([[1.0, 1.0, 1.0], [1.0, 9.0, 1.0]], -only.score_samples([[1.0, 4.0, 1.0]])[0]).tolist() == [1]


def test_a_scaler_before_the_detector_is_left_out_and_would_change_no_score():
    X, y = np.vstack([people(400), people(3)]), np.arange(403) % 2
    plain = NoveltyRejector(LogisticRegression(), random_state=0).fit(X, y).guard_
    scaled = NoveltyRejector(make_pipeline(StandardScaler(), LogisticRegression()), random_state=0).fit(X, y).guard_
    assert type(scaled.detector) is NoveltyDetector
    np.testing.assert_array_equal(scaled.scores, plain.scores)
    scaler = StandardScaler().fit(X[:200])
    with_it = NoveltyDetector().fit(scaler.transform(X[:200]), origin=scaler.transform(np.zeros((1, 3)))[0])
    alone = NoveltyDetector().fit(X[:200], origin=np.zeros(3))
    np.testing.assert_allclose(with_it.score_samples(scaler.transform(X)), alone.score_samples(X), rtol=1e-8)
    kept = NoveltyRejector(make_pipeline(StandardScaler(), PCA(2), LogisticRegression()), random_state=0).fit(X, y)
    assert [name for name, _ in kept.guard_.detector.steps] == ["standardscaler", "pca", "novelty"]  # the control
