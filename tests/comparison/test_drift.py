"""Drift: false alarms at most at the level, shifts found, the same answer by pieces, and the words."""

import copy
import dataclasses
import re
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from abstain.comparison.batch_counts import DriftCounts, lacking
from abstain.comparison.drift import drift, drift_of
from abstain.comparison.two_samples import cells_of, scores_test
from abstain.estimators.novelty.column_range import SeenCategories, SeenNumbers
from abstain.estimators.novelty.training_ranges import OutsideColumn, SeenColumns
from guarded import Guarded

LEVEL = 0.05
MOST = stats.binom.isf(1e-3, 500, LEVEL)  # alarms in 500 batches


def rows(n, rng, *, shift=0.0, reject=0.2, decimals=8, categories=(0.5, 0.3, 0.19, 0.01), missing=0.1):
    """Scores, decisions, a column of categories and one of numbers with gaps."""
    decision = rng.choice([0, 1, -1], p=[0.7 * (1 - reject), 0.3 * (1 - reject), reject], size=n)
    text = rng.choice(list("abcd"), p=categories, size=n)
    gaps = np.where(rng.random(n) < missing, np.nan, 1.0)
    score = (rng.normal(size=n) + shift).round(decimals)
    return pd.DataFrame({"score": score, "decision": decision, "text": text, "number": gaps})


def guarded(rng, m=100, training=300, **options):
    calibration = rows(m, rng, **options)
    table = pd.concat([calibration, rows(training - m, rng, **options)])
    return Guarded(calibration[["score", "decision"]], table)


def counted(n, rng, values):
    """Decisions and columns of n rows, as counts; the categories are a, b, c, ... with many rare ones."""
    decisions = rng.multinomial(n, [0.5, 0.3, 0.2])
    common, rare = rng.multinomial(n, [0.6, 0.4]), Counter()
    rare.update(f"rare {k}" for k in rng.integers(values, size=common[1]))
    missing = rng.binomial(n, 0.1)
    return decisions, Counter(a=common[0]) + rare, (n - missing, missing)


def guarded_counts(rng, m, n, values, decimals):
    """A guard of m calibration and 3 m training rows, and a batch of n rows of the same law."""
    scores = [rng.normal(size=size).round(decimals) for size in (m, n)]
    (decided, *_), (_, texts, gaps), (here, new, cells) = (counted(k, rng, values) for k in (m, 3 * m, n))
    seen = SeenCategories("text", texts, 0, 0), SeenNumbers("number", *gaps, 1.0, 1.0)
    model = Guarded(np.column_stack([scores[0], np.repeat([0, 1, -1], decided)]))
    model.seen_ = SeenColumns(3 * m, seen)
    known = tuple(new.pop(text, 0) for text in texts)
    columns = OutsideColumn(seen[0], n, unseen=new, known=known), OutsideColumn(seen[1], n, cells[1])
    return model, DriftCounts(n, cells_of(scores[1], scores[0]), here, columns)


@pytest.mark.long
@pytest.mark.parametrize(("decimals", "values"), [(8, 5), (0, 1000)])
def test_false_alarms_are_at_most_at_the_level_for_batches_of_any_size(decimals, values):
    rng = np.random.default_rng(0)
    sizes = (1, 5, 20, 150)
    batches = [guarded_counts(rng, 100, sizes[k % 4], values, decimals) for k in range(500)]
    alarms = [drift_of(*batch, level=LEVEL).drifted for batch in batches]
    assert sum(alarms) <= MOST


@pytest.mark.long
def test_p_values_of_one_calibration_set_tested_for_uniformity_would_fail_the_same_check():
    rng = np.random.default_rng(1)
    largest = stats.kstwo.isf(LEVEL, 1000)
    uniformity = two_samples = 0
    for _ in range(500):
        reference, batch = np.sort(rng.normal(size=100)), rng.normal(size=1000)
        p = np.sort((101.0 - np.searchsorted(reference, batch)) / 101.0)
        grid = np.arange(1001) / 1000
        uniformity += max((grid[1:] - p).max(), (p - grid[:-1]).max()) > largest
        two_samples += scores_test(cells_of(batch, reference), cells_of(reference, reference)).p_value <= LEVEL
    assert two_samples <= MOST < uniformity / 5


CHANGES = {
    "scores": {"shift": 1.0},
    "rejects": {"reject": 0.5},
    "column 'text'": {"categories": (0.2, 0.3, 0.49, 0.01)},
    "column 'number'": {"missing": 0.5},
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_is_found_and_named(name):
    rng = np.random.default_rng(2)
    for _ in range(5):
        found = drift(guarded(rng), rows(150, rng, **CHANGES[name]))
        assert found.drifted
        assert min(found.tests, key=lambda test: test.corrected).name == name


def test_an_unseen_category_is_found_but_many_rare_ones_are_not_drift():
    rng = np.random.default_rng(3)
    model, new = guarded(rng), rows(100, rng)
    new.loc[:15, "text"] = "e"
    found = drift(model, new)
    assert found.drifted
    assert "'e' in column 'text', 0 % in training" in found.sentence
    # names of rows: every new one is unseen, as every name is
    names = pd.DataFrame({"score": rng.normal(size=400), "decision": 0, "name": [f"row {k}" for k in range(400)]})
    model = Guarded(names.iloc[:100, :2], names.iloc[:300])
    assert not drift(model, names.iloc[300:]).drifted


def test_pieces_give_the_same_as_the_whole():
    rng = np.random.default_rng(4)
    model, batch = guarded(rng), rows(90, rng, shift=0.4)
    pieces = [DriftCounts.of(model, batch.iloc[k : k + 20]) for k in range(0, 90, 20)]
    whole = drift(model, batch, level=0.1)
    assert drift_of(model, sum(pieces), level=0.1).tests == whole.tests
    assert whole.level == 0.1
    # categories beyond those kept are counted together, and the test goes on without them
    many = rows(4000, rng)
    many["text"] = [f"text {k}" for k in range(4000)]
    counts = sum(DriftCounts.of(model, many.iloc[k : k + 1000]) for k in range(0, 4000, 1000))
    text = counts.columns[2]
    assert (len(text.unseen), text.hidden) == (1000, 3000)
    assert drift_of(model, counts).significant[0].name == "column 'text'"


def test_missing_cells_beside_more_categories_than_are_kept_are_compared_among_all_rows():
    rng = np.random.default_rng(13)
    texts = np.array([*(f"text {k}" for k in range(5000)), None], dtype=object)
    many = pd.DataFrame({"score": 0.0, "decision": 0, "text": texts[np.minimum(rng.integers(6000, size=9000), 5000)]})
    model = Guarded(many.iloc[:100, :2], many.iloc[:6000])
    assert model.seen_["text"].rest > 0
    found = {test.name: test for test in drift(model, many.iloc[6000:]).tests}
    assert found["column 'text'"].here == many["text"].iloc[6000:].isna().mean()
    assert found["column 'text'"].corrected > LEVEL


def test_a_batch_without_rows_is_not_drift():
    rng = np.random.default_rng(5)
    found = drift(guarded(rng), rows(0, rng))
    assert (found.p_value, found.drifted, found.tests) == (1.0, False, ())
    assert found.sentence == "This batch cannot be compared with the training rows: it has 0 rows."


def test_decisions_of_another_fit_must_differ_by_more_than_it_explains():
    rng = np.random.default_rng(12)
    rejected = [rng.random(5000) < share for share in (0.2, 0.35, 0.5)]
    calibration, batch, large = (np.column_stack([np.zeros(5000), np.where(one, -1, 0)]) for one in rejected)
    training = np.zeros((260_000, 2))

    def model(n, refit):
        return Guarded(calibration, training[:n], refit=refit)

    # the decisions at calibration are of a fit on 80 % of the rows
    assert not drift(model(25_000, refit=True), batch).drifted
    assert drift(model(25_000, refit=True), large).drifted
    assert drift(model(25_000, refit=False), batch).drifted
    assert [lacking(model(n, refit="auto")) for n in (260_000, 25_000)] == [0.0, 0.2]
    assert lacking(Guarded(calibration, refit="auto")) == 1.0  # nothing is known of how many rows there were


def test_what_is_unknown_is_left_out():
    rng = np.random.default_rng(6)
    model, batch = guarded(rng), rows(50, rng)
    model.seen_, model.calibration_.choices = None, None
    assert [test.name for test in drift(model, batch).tests] == ["scores", "novel rows"]


def test_a_certain_difference_too_small_to_matter_is_said_to_be_small():
    rng = np.random.default_rng(7)
    calibration, batch = (np.column_stack([np.zeros(n), rng.random(n) < p]) for n, p in ((10**6, 0.30), (10**6, 0.31)))
    found = drift(Guarded(calibration), batch)
    assert found.drifted
    assert found.effect == "negligible"
    assert re.search(r"but by little: no share by more than (0.\d+|1) percentage points; ", found.sentence)


def test_sentences_and_tables():
    rng = np.random.default_rng(8)
    model = guarded(rng)
    same, other = drift(model, rows(143, rng)), drift(model, rows(143, rng, shift=2, reject=0.6, missing=0.4))
    assert same.sentence == "This batch is like the training rows, as far as 6 tests on 143 rows can tell."
    assert other.sentence.startswith("This batch is unlike the training rows (p < 1e-16): ")
    for words in ("as unusual as the most unusual", "are rejected by the classifier", "% at calibration"):
        assert words in other.sentence
    lines = str(other).splitlines()
    assert lines[0] == other.sentence
    assert len(lines) == 2 + 1 + len(other.tests) + 2
    frame = other.to_frame()
    assert list(frame.index) == [test.name for test in other.tests]
    assert frame["corrected"].min() == other.p_value
    assert (frame["corrected"] >= frame["p_value"]).all()
    assert repr(other).startswith("Drift(drifted=True, p_value=")
    assert copy.deepcopy(other).sentence == other.sentence
    with pytest.raises(dataclasses.FrozenInstanceError):
        other.level = 0.5


def test_text_in_html_is_escaped():
    rng = np.random.default_rng(9)
    table = rows(300, rng).rename(columns={"text": "<script>"})
    found = drift(Guarded(table.iloc[:100, :2], table), table.assign(**{"<script>": "<b>"}))
    assert "&lt;b&gt;" in found._repr_html_()
    assert "<script>" not in found._repr_html_()
    assert "<b>" not in found._repr_html_()


def test_the_guard_is_found_inside_pipelines_searches_and_wrappers():
    rng = np.random.default_rng(10)
    model, batch = guarded(rng), rows(30, rng)
    wanted = drift(model, batch).tests
    pipeline = make_pipeline(Guarded(rows(5, rng)[["score", "decision"]]), model)
    search = type("Search", (), {"best_estimator_": pipeline})()
    wrapper = type("Wrapper", (), {"estimator_": pipeline})()
    for estimator in (pipeline, search, wrapper):
        assert drift(estimator, batch).tests == wanted


def test_errors_give_the_way_out():
    rng = np.random.default_rng(11)
    model, batch = guarded(rng), rows(5, rng)
    with pytest.raises(ValueError, match=r"LogisticRegression keeps nothing to compare rows with. Fit NoveltyRejector"):
        drift(LogisticRegression(), batch)
    with pytest.raises(ValueError, match="swapped"):
        drift(batch, model)
    for level in (0, 1, "0.05", float("nan")):
        with pytest.raises(ValueError, match="level="):
            drift(model, batch, level=level)


def test_a_sentence_gives_only_differences_as_reasons():
    """As many rows are rejected as at calibration, and a column has many more missing values."""
    rng = np.random.default_rng(9)
    model = guarded(rng)
    found = drift(model, rows(400, rng, missing=0.6))
    assert found.drifted
    (rejects,) = (test for test in found.tests if test.name == "rejects")
    assert rejects not in found.significant
    assert "rejected by the classifier" not in found.sentence
    more = drift(model, rows(400, rng, missing=0.6, reject=0.6))  # control
    assert "rejected by the classifier" in more.sentence
