"""Pieces of experiments/judging-sets on answers made by hand, and its table of sets against the packages."""

from importlib.metadata import PackageNotFoundError, distribution

import numpy as np
import pytest

from experiment_modules import experiment_modules

pytest.importorskip("pandas", reason="the sets are pandas tables")
pytest.importorskip("polars", reason="the command line is judged, which needs it")
sets, splits, ours, rivals, plan, summary, sentences, page = experiment_modules(
    *("judging-sets", "measure_sets", "measure_split", "measure_ours", "measure_rivals", "plan"),
    *("summary", "sentences", "page"),
)
RNG = np.random.default_rng(0)
FACTS = {"experiment": "judging-sets", "processor_seconds": 1.0}
FACTS["machine"] = dict.fromkeys(("day", "abstain", "scikit-learn"), "")


def installed(package):
    try:
        distribution(package)
    except PackageNotFoundError:
        return False
    return True


# --- sets


@pytest.mark.parametrize("name", sets.SETS)
def test_a_set_is_what_the_table_says(name):
    item = sets.SETS[name]
    if not installed(item.package):
        pytest.skip(f"{item.package} is not installed: {sets.INSTALL}")
    X, y = item.load()  # compares rows, columns and classes
    assert item.positive is None or item.positive in item.classes
    assert (item.positive is None) == (len(item.classes) > 2)
    assert np.unique(y, return_counts=True)[1].min() * (1 - splits.TEST_SHARE) >= 5  # folds have each class
    assert {X[column].dtype.kind for column in X} <= {"f", "O"}


def test_no_set_is_used_elsewhere_and_there_are_large_and_small_ones_and_several_classes():
    used = set()
    for experiment in ("decision-quality", "several-classes"):
        (module,) = experiment_modules(experiment, "measure_sets")
        used |= {item.title.split(",")[0].lower() for item in module.SETS.values()}
    assert used.isdisjoint(item.title.lower() for item in sets.SETS.values())
    assert len(sets.SETS) >= 14
    rows = [item.rows for item in sets.SETS.values()]
    assert sum(n >= summary.LARGE for n in rows) >= 3
    assert sum(n < 1000 for n in rows) >= 3
    assert sum(item.positive is None for item in sets.SETS.values()) >= 4


def test_a_missing_package_is_named_with_the_way_out():
    with pytest.raises(ModuleNotFoundError, match=r"package no-such-thing; install it: pip install"):
        sets.file_of("no-such-thing", "x")


def test_categories_that_look_like_numbers_are_text_and_missing_cells_stay_missing():
    assert sets.texts([1, 2.0, "a", None, np.nan]).tolist() == ["v1", "v2", "a", None, None]


def test_a_split_keeps_test_rows_apart_and_the_positive_class_last():
    here = splits.split("two", 0)
    assert here.classes == ("k0", "k1")
    assert len(here.y) + len(here.y_test) == 240
    X, y = sets.rows_of("two")
    np.testing.assert_array_equal(X["a"].to_numpy()[here.rows], here.X_test["a"].to_numpy())
    assert [here.classes[code] for code in here.y_test] == y[here.rows].tolist()
    assert here.categorical == ["kind"]
    assert here.codes(["k1", "reject", "k0"]).tolist() == [1, 2, 0]


# --- decisions


def test_chow_takes_the_least_expected_cost():
    misses = splits.table_of("1:5:0.4", 2)
    assert misses.tolist() == [[0.0, 1.0, 0.4], [5.0, 0.0, 0.4]]
    assert rivals.chow(np.array([[0.95, 0.05], [0.7, 0.3], [0.3, 0.7]]), misses).tolist() == [0, 2, 1]
    assert rivals.chow(np.array([[0.75, 0.2, 0.05], [0.85, 0.1, 0.05]]), splits.table_of("0.2", 3)).tolist() == [3, 0]


def test_choices_are_kept_as_text_and_read_again():
    choice = RNG.integers(0, 12, 50)
    np.testing.assert_array_equal(splits.unpacked(splits.packed(choice)), choice)


def test_the_single_answer_is_chosen_on_training_rows():
    here, kept = splits.split("two", 0), splits.truth("two", 0)
    shares = np.bincount(here.y) / len(here.y)
    best = int(np.argmin([5 * shares[1], shares[0]]))  # answering 0 misses, answering 1 is a false alarm
    assert set(splits.unpacked(kept["methods"]["one answer for all"]["1:5:0.4"]["choice"])) == {best}
    assert set(splits.unpacked(kept["methods"]["rejecting all"]["1:5:0.4"]["choice"])) == {2}


def test_what_this_version_cannot_fit_is_left_out():
    assert ours.takes(ours.RejectSVCCV)
    assert not ours.takes(lambda costs: ours.RejectSVCCV(costs, kernel="no such kernel"))
    methods = {task.arguments.get("method") for task in plan.tasks(fast=True)}
    assert set(ours.known()) | set(rivals.RIVALS) | {None} == methods


def test_every_set_has_its_splits_at_three_costs():
    keys = [task.key for task in plan.tasks(fast=False)]
    assert len([key for key in keys if key.startswith("truth/sonar/")]) == 2
    assert len([key for key in keys if key.startswith("truth/churn/")]) == 1
    assert len([key for key in keys if key.startswith("command line/adult/")]) == 3
    assert len(keys) == len(set(keys))


# --- comparison


def test_the_standard_error_counts_a_row_once():
    d = RNG.standard_normal(500)
    once = summary.paired(d, np.arange(500))
    assert once["error"] == pytest.approx(d.std(ddof=1) / np.sqrt(500))
    twice = summary.paired(np.r_[d, d], np.r_[np.arange(500), np.arange(500)])
    assert twice["error"] == pytest.approx(once["error"])  # the same rows again say nothing new
    assert summary.paired(np.r_[d, d], np.arange(1000))["error"] < 0.75 * once["error"]  # the control
    assert summary.paired(np.zeros(9), np.arange(9))["near"]
    assert not summary.paired(np.full(9, 0.1) + 1e-6 * np.arange(9), np.arange(9))["near"]


def made_up(errors):
    """Answers in which a method decides this share of rows wrongly, and the others are right."""
    answers = {}
    for name, item in sets.GENERATED.items():
        K, n = len(item.classes), 2000
        code = RNG.integers(0, K, n)
        methods = {}
        for method, share in errors.items():
            choice = np.where(RNG.random(n) < share, (code + 1) % K, code)
            methods[method] = {costs: splits.answer(choice, 1.0, machine="svm") for costs in splits.costs_of(name)}
        answers[f"truth/{name}/0"] = {
            "truth": splits.packed(code),
            "rows": list(range(n)),
            "trained": n,
            "methods": methods,
        }
    return answers


@pytest.mark.parametrize(
    ("own", "boosting", "first", "second"),
    [
        (0.02, 0.2, "in 6 of 6 settings", "No method has a larger share"),
        (0.2, 0.02, "in 0 of 6 settings", "The largest share is that of “boosting”: 100 %"),
    ],
)
def test_the_page_says_whether_the_default_is_near_the_cheapest(monkeypatch, own, boosting, first, second):
    errors = {"command line": own, "boosting": boosting, "logistic": 0.3}
    found = summary.summary(made_up(errors))
    text = page.page({**found, **FACTS})
    assert first in text
    assert second in text
    assert "No set of this run has 20,000 rows or more." in text
    assert ("No method has a smaller regret." in text) == (own < boosting)
    monkeypatch.setattr(summary, "LARGE", 100)
    found = summary.summary(made_up(errors))["large"]
    assert (found["less"], found["more"]) == ((6, 0) if own < boosting else (0, 6))
    assert found["ratio"]["mean"] * (own - boosting) > 0
    said = sentences.against_boosting({"large": found, "protocol": {"large": 100}})
    assert f"in {found['less']} settings and more in {found['more']}" in said


def test_a_split_that_is_missing_is_an_error():
    answers = made_up({"command line": 0.1, "boosting": 0.1})
    answers["truth/two/1"] = {**answers["truth/two/0"], "methods": {}}
    with pytest.raises(ValueError, match="other splits of two"):
        summary.summary(answers)
