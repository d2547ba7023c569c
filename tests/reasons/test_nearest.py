"""No smaller change of one cell settles a row, by a fine grid; odd tables are explained, or refused in one sentence."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import abstain
from abstain import Costs, LinearRejectSVC, NoveltyRejector, RejectSVC
from abstain.preprocessing import default_pipeline
from reasons_cases import NUMERIC, TEXTS, forest, mixed, unsettled

REJECT = Costs(reject=0.3)


def waves(n, seed=0):
    """Two columns in units of their own, and labels that one machine can only learn with a curve."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 2)) * [3.0, 0.02] + [50.0, 1.0]
    z = (X - [50.0, 1.0]) / [3.0, 0.02]
    return X, np.where(z[:, 0] + z[:, 1] ** 2 - 0.8 + 0.5 * rng.standard_normal(n) > 0, "b", "a")


def nearest(model, X, row, sd, step):
    """The least distance in standard deviations at which one cell, at a multiple of the step, settles the row."""
    best = np.inf
    for at in range(X.shape[1]):
        grid = np.arange(np.ceil(X[:, at].min() / step[at]), np.floor(X[:, at].max() / step[at]) + 1) * step[at]
        rows = np.tile(row, (len(grid), 1))
        rows[:, at] = grid
        far = np.abs(grid - row[at])[~abstain.decide(model, rows).rejected]
        best = min(best, (far / sd[at]).min(initial=np.inf))
    return best


@pytest.mark.parametrize("machine", [LinearRejectSVC(REJECT), RejectSVC(REJECT, C=5)])
def test_no_change_on_a_fine_grid_is_nearer(machine):
    X, y = waves(250)
    model = make_pipeline(StandardScaler(), machine).fit(X, y)
    new = waves(300, seed=1)[0]
    rejected = np.flatnonzero(abstain.decide(model, new).rejected)[:60]
    found = abstain.explain(model, new, training=X, rows=rejected)
    sd, step = X.std(axis=0), [0.1, 0.001]  # the largest powers of ten up to sd / 20
    for at, change in zip(rejected, found.changes, strict=True):
        least = nearest(model, X, new[at], sd, step)
        assert (change is None) == np.isinf(least)
        if change is not None:
            assert change.distance == pytest.approx(least, abs=1e-9)
            assert change.distance == pytest.approx(abs(change.value - new[at, change.column]) / sd[change.column])
    assert sum(change is not None for change in found.changes) > 30
    finer = [nearest(model, X, new[at], sd, [0.01, 0.0001]) for at in rejected[:20]]
    assert any(
        one is not None and one.distance > least + 1e-4 for one, least in zip(found.changes, finer, strict=False)
    )


def test_categories_are_tried_all_and_the_most_frequent_of_equally_near_ones_is_named():
    rng = np.random.default_rng(0)
    city = rng.choice(np.array(["a", "b", "c", "d"], dtype=object), 400, p=[0.5, 0.3, 0.1, 0.1])
    X = pd.DataFrame({"city": city, "x": rng.standard_normal(400)})
    score = X["x"] + (city == "b") * 3 - (city == "c") * 3 + (city == "d") * 3
    y = np.where(score + rng.standard_normal(400) > 0, "yes", "no")
    model = default_pipeline(LinearRejectSVC(REJECT), ["x"], ["city"]).fit(X, y)
    row = pd.DataFrame({"city": ["a"], "x": [0.0]})
    found = abstain.explain(model, row, training=X[["x", "city"]])
    share = np.array([(city == name).mean() for name in "abcd"])
    settles = [name for name in "bcd" if not abstain.decide(model, row.assign(city=name)).rejected[0]]
    assert settles[0] == "b"
    change = found.changes[0]
    if change.column == 0:
        assert change.value == "b"
        assert change.distance == pytest.approx(1 / np.sqrt((share * (1 - share)).sum() / 2))
    far = row.assign(x=100.0 * np.sign(1))  # novel, but decided
    assert abstain.explain(model, far, training=X).sentence[0].startswith("Answered yes")


def odd_tables():
    X, y = mixed(300)
    numbers = X[NUMERIC].fillna(120)
    yield "integers", forest(numbers.to_numpy().astype(int), y), numbers.to_numpy().astype(int)
    yield (
        "single",
        RejectSVC(REJECT).fit((numbers / [20, 1e4, 15]).to_numpy("f4"), y),
        (numbers / [20, 1e4, 15]).to_numpy("f4"),
    )
    yield (
        "booleans",
        LinearRejectSVC(REJECT).fit(X.notna() & (X != "b") & (numbers.reindex(columns=X.columns) > 60), y),
        None,
    )
    yield (
        "constant",
        RejectSVC(REJECT).fit((numbers / [20, 1e4, 15]).assign(same=3.0), y),
        (numbers / [20, 1e4, 15]).assign(same=3.0),
    )
    tiny = numbers / [2e14, 1e-4, 1.5e-8]
    yield "units", make_pipeline(StandardScaler(), RejectSVC(REJECT)).fit(tiny, y), tiny


@pytest.mark.parametrize("name", ["integers", "single", "booleans", "constant", "units"])
def test_odd_columns(name):
    model, X = next((model, X) for known, model, X in odd_tables() if known == name)
    if X is None:
        frame, _ = mixed(300)
        X = frame.notna() & (frame != "b") & (frame[NUMERIC].fillna(120).reindex(columns=frame.columns) > 60)
    found = abstain.explain(model, X, training=X)
    rejected = found.decisions.rejected
    assert rejected.any()
    for row in np.flatnonzero(rejected):
        change = found.changes[row]
        if change is not None:
            one = X[row : row + 1].copy()
            old = one[0, change.column] if isinstance(X, np.ndarray) else one.iloc[0, change.column]
            if isinstance(X, np.ndarray):
                one[0, change.column] = change.value
            else:
                kind = one.dtypes.iloc[change.column]
                one.isetitem(change.column, pd.Series([change.value], index=one.index).astype(kind))
            assert not abstain.decide(model, one).rejected[0]
            assert change.value != old
            assert name != "integers" or isinstance(change.value, int)
            assert name != "constant" or change.column != 3


def test_one_row_alone_missing_cells_and_unseen_categories():
    X, y = mixed(400)
    model = NoveltyRejector(default_pipeline(RejectSVC(REJECT), NUMERIC, TEXTS), rate=0.05, random_state=0).fit(X, y)
    new = mixed(300, seed=1)[0]
    decided = model.decide(new)
    lonely = [int(at) for at in np.flatnonzero(decided.rejected) if decided.reason[at] == "ambiguous"][:5]
    for at in lonely:
        found = abstain.explain(model, new.iloc[[at]])
        assert len(found.sentence) == 1
        assert found.ranges == "training"  # as the guard counted it
        assert unsettled(model, new.iloc[[at]].reset_index(drop=True), found)[0] == 0
    row = new.iloc[[lonely[0]]].assign(city="Paris", pressure=np.nan, ward=None)
    found = abstain.explain(model, row)
    assert "Paris" in found.sentence[0] or "if " in found.sentence[0]
    assert "nan" not in found.sentence[0]
    far = new.iloc[[0]].assign(income=1e9)
    found = abstain.explain(model, far)
    assert found.decisions.reason[0] == "novel"
    assert "column 'income' is above the largest value in training" in found.sentence[0]
    assert "p-value" in found.sentence[0]


def test_a_row_that_nothing_settles_says_within_which_range():
    X, y = waves(200)
    model = LinearRejectSVC(Costs(reject=0.01)).fit(X, y)
    found = abstain.explain(model, X[:3], training=X)
    assert found.sentence[0].startswith(
        "Too close to call between a and b (b 50 %); no change of a single column (of 2) within its range in training "
        "would settle it; "
    )
    assert abstain.explain(model, X[:3]).ranges == "rows"


def test_many_columns_are_bounded_and_the_one_that_matters_is_found(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 3000))
    y = X[:, 1234] + 0.3 * rng.standard_normal(60) > 0
    model = LinearRejectSVC(Costs(reject=0.4), C=1.0).fit(X, y)
    asked, original = [], LinearRejectSVC.decide

    def counted(self, rows, row_costs=None):
        asked.append(len(rows))
        return original(self, rows, row_costs)

    monkeypatch.setattr(LinearRejectSVC, "decide", counted)
    found = abstain.explain(model, np.zeros((1, 3000)), training=X)
    assert sum(asked) < 3 * 3000 + 40 * 200
    assert found.searched == 100
    assert found.changes[0] is None or found.changes[0].column == int(np.abs(model.coef_).argmax())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"decisions": "of two rows"}, "decisions must be those on the 3 rows of X; they are on 2"),
        ({"X": None}, "swapped"),
    ],
)
def test_what_cannot_be_explained_is_refused(change, message):
    X, y = waves(50)
    model = LinearRejectSVC(REJECT).fit(X, y)
    given = {"estimator": model, "X": X[:3]} | change
    if given.get("decisions"):
        given["decisions"] = model.decide(X[:2])
    if given["X"] is None:
        given = {"estimator": X, "X": model}
    with pytest.raises(ValueError, match=message):
        abstain.explain(**given)


def test_numbers_as_categories_and_lists_of_lists():
    X, y = waves(80)
    codes = (X[:, :1] > 50).astype(int)
    model = make_pipeline(OneHotEncoder(), RejectSVC(REJECT)).fit(codes, y)
    assert len(abstain.explain(model, codes[:5], training=codes).sentence) == 5
    model = RejectSVC(REJECT).fit(X.tolist(), y.tolist())
    assert abstain.explain(model, X[:2].tolist(), training=X.tolist()).columns == ("x0", "x1")


@pytest.mark.parametrize("machine", [RejectSVC(REJECT), LinearRejectSVC(REJECT)])
def test_sparse_rows_are_explained_as_dense_ones(machine):
    X, y = waves(200)
    X = (X - [50.0, 1.0]) / [3.0, 0.02]
    X[np.abs(X) < 0.3] = 0.0
    form = sparse.csr_array
    dense, few = machine.fit(X, y), np.arange(30)
    wanted = abstain.explain(dense, X[:30], training=X)
    found = abstain.explain(machine.fit(form(X), y), form(X), training=form(X), rows=few)
    assert [one and (one.column, one.value) for one in found.changes] == [
        one and (one.column, one.value) for one in wanted.changes
    ]
    assert any(one is not None for one in found.changes)
    wide = sparse.random_array((40, 60_000), density=0.001, format="csr", rng=0)
    model = LinearRejectSVC(REJECT).fit(wide, np.arange(40) % 2)
    assert abstain.explain(model, wide, rows=[0]).searched == 0  # too wide to search in bounded time
