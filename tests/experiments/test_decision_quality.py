"""Pieces of experiments/decision-quality, and of the tests it uses, on cases with known answers."""

import importlib
import math
import sys
from pathlib import Path

import numpy as np
import pytest
from harness.paid import paid
from scipy import stats
from sklearn.neighbors import KNeighborsClassifier

from abstain import Costs

FOLDER = Path(__file__).parents[2] / "experiments"
if not FOLDER.is_dir():
    pytest.skip("the experiments are in a checkout only", allow_module_level=True)


def _loaded(*names):
    """Modules of the experiment, which are then forgotten: other experiments call theirs the same."""
    folder = FOLDER / "decision-quality"
    own = {path.stem for path in folder.glob("*.py")}
    others = {name: sys.modules.pop(name) for name in own & sys.modules.keys()}
    path = list(sys.path)
    sys.path[:0] = [str(folder), str(FOLDER)]
    try:
        return [importlib.import_module(name) for name in (*names, "harness.tasks", "harness.trials")]
    finally:
        for name in own & sys.modules.keys():
            del sys.modules[name]
        sys.modules.update(others)
        sys.path[:] = path


sets, trial, others, svm, summary, ranks, said, picture, sentences, plan, pages, tasks, trials = _loaded(
    "measure_sets",
    "measure_trial",
    "measure_others",
    "measure_svm",
    "summary",
    "harness.ranks",
    "harness.sentences",
    "harness.rank_picture",
    "sentences",
    "plan",
    "page",
)

SETS = ("wdbc", "wine", "digits-38", "digits-odd")  # they need no data folder
GOOD, TUNED, WORSE, SAME = "RejectSVCCV", "RejectSVCCV, tuned", "forest + Chow", "SVM + ROC"


def made_up(extra, *, estimate=1.0, splits=10):
    """Answers in which a method costs `extra` of the cost of RejectSVCCV more, with noise in each split."""
    rng = np.random.default_rng(0)
    answers = {}
    for data in SETS:
        for seed in range(splits):
            level = {costs: 0.1 + 0.01 * rng.normal() for costs in trial.COSTS}
            answers[f"made/{data}/{seed}"] = [
                {"costs": costs, "method": method, "cost": cost, "rejected": 0.1, "wrong": 0.02}
                | ({"estimate": estimate * cost, "least": 0.5 * cost} if method in (GOOD, TUNED) else {})
                for costs, own in level.items()
                for method, more in {GOOD: 0.0, "logistic, forced": 1.0, **extra}.items()
                for cost in [own * (1 + more) + (0.002 * rng.normal() if method != GOOD else 0.0)]
            ]
    return answers


# --- methods


def test_every_method_has_as_many_candidates():
    variants = {"logistic": 1, "forest": 1 + 2, "boosting": len(others.STAGES)}
    for name, family in others.families(0).items():
        assert len(family.models) * variants[name] == trial.CANDIDATES
        assert variants[name] == len(family.calibrations) + (len(others.STAGES) if name == "boosting" else 1)
    assert svm.CS * svm.GAMMAS == trial.CANDIDATES


def test_candidates_are_judged_on_rows_they_have_not_seen():
    rng = np.random.default_rng(0)
    X, sign = rng.normal(size=(200, 3)), np.where(rng.random(200) < 0.5, 1, -1).astype(np.int8)
    here = trial.Trial(X, sign, X, sign, trial.StratifiedKFold(5, shuffle=True, random_state=0), 0)
    by_heart = others.Tuned(others.Family((KNeighborsClassifier(1),), others.families(0)["logistic"].read), here)
    costs = Costs(reject=0.5)
    assert paid(costs, sign, costs.thresholds().decide(by_heart.probability(0, "as is"))).mean() == 0.0
    assert by_heart.choose(costs, reject=False)[2] > 0.4


def test_calibration_of_a_fold_does_not_see_its_labels():
    rng = np.random.default_rng(1)
    sign = np.where(rng.random(60) < 0.5, 1, -1).astype(np.int8)
    here = trial.Trial(np.zeros((60, 1)), sign, None, None, trial.StratifiedKFold(5, shuffle=True, random_state=0), 0)

    def by_heart(probability, signs):
        known = dict(zip(probability.tolist(), signs.tolist(), strict=True))
        return lambda p: np.array([{1: 1.0, -1: 0.0}.get(known.get(f), 0.5) for f in p.tolist()])

    tuned = others.Tuned(others.Family((), None, {"by heart": by_heart}), here)
    assert np.all(tuned._calibrated({"as is": rng.random(60)})["by heart"] == 0.5)


def test_genes_are_chosen_and_scaled_by_the_training_rows(monkeypatch):
    rng = np.random.default_rng(0)
    sign = np.repeat([-1, 1], 50).astype(np.int8)
    X = rng.normal(size=(100, sets.GENES + 1))
    _, test = sets.train_test_split(np.arange(100), test_size=sets.TEST_SHARE, stratify=sign, random_state=0)
    quiet = X[:, 7] * 0.01
    quiet[test] *= 1e6  # the column that varies most in all rows, and least in the training rows
    X[:, 7] = quiet
    monkeypatch.setattr(sets, "rows_of", lambda _name: (X, sign))
    train, _, other, _ = sets.split("cells-t", 0)
    assert train.shape == (60, sets.GENES)
    assert np.abs(other).max() < 100
    assert np.allclose(train.mean(axis=0), 0)
    assert np.allclose(train.std(axis=0), 1)


def test_forced_costs_never_reject():
    for costs in trial.COSTS.values():
        assert not trial.forced(costs).rejects
        cut, (c_fp, c_fn) = trial.thresholds(costs, reject=False), (costs.false_positive, costs.false_negative)
        assert cut.lower == cut.upper == pytest.approx(c_fp / (c_fp + c_fn))


def test_decisions_are_judged_as_counted_by_hand():
    sign = np.array([1, 1, -1, -1, -1], dtype=np.int8)
    here = trial.Trial(None, None, None, sign, None, 0)
    row = here.judged("misses", "x", np.array([-1, 0, 1, -1, 0]))
    assert (row["cost"], row["rejected"], row["wrong"]) == pytest.approx(((5 + 0.4 + 1 + 0.4) / 5, 0.4, 0.4))


# --- comparisons


def test_control_a_method_made_worse_is_found_and_one_of_equal_cost_is_not():
    found = summary.summary(made_up({WORSE: 0.3, SAME: 0.0}))
    blocks = len(SETS) * len(trial.COSTS)
    worse, same = found["pairs"][f"{WORSE} against {GOOD}"], found["pairs"][f"{SAME} against {GOOD}"]
    assert (worse["more"], worse["less"]) == (blocks, 0)
    assert worse["ratio"]["mean"] == pytest.approx(0.3, abs=0.02)
    assert worse["ratio"]["low"] > 0.25
    assert (same["more"], same["less"]) == (0, 0)
    assert same["ratio"]["low"] < 0 < same["ratio"]["high"]
    assert found["ranks"]["mean"][WORSE] == 3
    assert found["overall"][GOOD]["relative"]["mean"] == pytest.approx(-0.5, abs=0.02)
    assert "costs more than" in sentences.compared(WORSE, GOOD, worse, blocks)
    assert "No difference" in sentences.compared(SAME, GOOD, same, blocks)
    better = summary.summary(made_up({WORSE: -0.3}))["pairs"][f"{WORSE} against {GOOD}"]
    assert (better["more"], better["less"]) == (0, blocks)
    assert "costs less than" in sentences.compared(WORSE, GOOD, better, blocks)


@pytest.mark.parametrize(("factor", "words"), [(0.9, "too low"), (1.2, "too high")])
def test_an_estimate_that_is_too_low_is_found(factor, words):
    found = summary.summary(made_up({WORSE: 0.1}, estimate=factor))
    assert found["bias"][GOOD]["estimate"]["of_cost"]["mean"] == pytest.approx(factor - 1)
    assert found["bias"][GOOD]["least"]["of_cost"]["mean"] == pytest.approx(-0.5)
    assert f"`best_score_` is {words}" in sentences.promised(found, GOOD)


def test_a_tie_for_the_cheapest_counts_for_each():
    answers = made_up({WORSE: 0.3}, splits=2)
    for rows in answers.values():
        rows += [{**row, "method": SAME} for row in rows if row["method"] == GOOD]
    found, blocks = summary.summary(answers), len(SETS) * len(trial.COSTS)
    assert {name: item["cheapest"] for name, item in found["overall"].items()} == {GOOD: blocks, SAME: blocks, WORSE: 0}
    assert found["ranks"]["mean"][SAME] == 1.5


def test_methods_with_different_splits_are_not_compared():
    answers = made_up({WORSE: 0.1}, splits=3)
    answers["made/wine/2"].pop()
    with pytest.raises(ValueError, match="different splits"):
        summary.summary(answers)


def test_the_p_value_is_that_of_the_corrected_interval():
    values = np.array([0.3, -0.1, 0.4, 0.2, 0.1])
    half = trials.over_splits(values, 0.4)["high"] - values.mean()
    assert trials.corrected_p(values - values.mean() + half, 0.4) == pytest.approx(0.05)
    assert trials.corrected_p(values, 0.4) > stats.ttest_1samp(values, 0).pvalue  # rows are shared
    assert (trials.corrected_p([0.0] * 5, 0.4), trials.corrected_p([0.1] * 5, 0.4)) == (1.0, 0.0)


def test_holms_correction_and_the_means_over_sets_by_hand():
    assert trials.holm([0.01, 0.04, 0.03, 0.5]) == pytest.approx([0.04, 0.09, 0.09, 0.5])
    values = [0.1, 0.3, 0.2, 0.4, 0.5]
    found, expected = trials.over_sets(values), stats.ttest_1samp(values, 0).confidence_interval()
    assert (found["low"], found["high"]) == pytest.approx(tuple(expected))
    assert (found["above"], found["below"], found["sign_p"]) == (5, 0, pytest.approx(2 / 32))


def test_the_critical_difference_is_nemenyis_and_settings_of_a_set_do_not_make_it_smaller():
    costs = np.random.default_rng(0).random((30, 1, 5))
    critical = ranks.ranked(costs)["critical_difference"]
    assert critical == pytest.approx(2.728 * math.sqrt(5 * 6 / (6 * 30)), rel=0.05)  # Demsar (2006), table 5
    assert ranks.ranked(np.repeat(costs, 3, axis=1))["critical_difference"] == pytest.approx(critical)
    independent = ranks.ranked(np.random.default_rng(0).random((90, 1, 5)))["critical_difference"]
    assert independent < 0.65 * critical  # the control: what counting them as independent would give
    assert ranks.ranked(costs)["p"] > 0.01
    assert ranks.ranked(costs + np.arange(5))["p"] < 0.001


def test_groups_of_ranks_that_cannot_be_distinguished():
    assert picture.groups([1.0, 1.5, 2.4, 4.0, 4.2], 1.0) == [(0, 1), (1, 2), (3, 4)]
    assert picture.groups([1.0, 2.0, 3.0], 0.5) == []
    assert picture.groups([1.0, 2.0, 3.0], 5.0) == [(0, 2)]


@pytest.mark.parametrize(
    ("extra", "words"),
    [
        ({TUNED: -0.3}, "`RejectSVCCV, tuned` costs less than Bayes' thresholds: −"),
        ({TUNED: 0.3}, "`RejectSVCCV, tuned` costs more than Bayes' thresholds: +"),
        ({WORSE: 0.3}, "Tuned thresholds were not measured"),
    ],
)
def test_the_page_says_what_the_results_say(extra, words):
    machine = dict.fromkeys(("day", "abstain", "scikit-learn"), "")
    about = {"experiment": "x", "processor_seconds": 1.0, "machine": machine}
    text = pages.page({**about, **summary.summary(made_up(extra))})
    assert words in text
    assert ("## Tuned thresholds against Bayes' thresholds" in text) == (TUNED in extra)
    assert (": −" in words) == ("| **−0.0" in text)  # bold where significant
    assert "costs less than the best machine that may not reject" in text


def test_the_best_rank_is_said_whichever_method_has_it():
    def words(mean, critical):
        return said.best_rank({"ranks": {"mean": mean, "critical_difference": critical, "p": 0.2}})

    assert "“b” has a significantly larger rank" in words({"b": 2.0, "a": 1.0}, 0.5)
    assert words({"b": 1.2, "a": 1.8}, 1.0).startswith("b has the least mean rank, 1.20; “a” cannot be distinguished")


# --- families are measured apart


def test_a_changed_file_makes_only_its_own_family_be_measured_again(tmp_path):
    for name in ("measure_a.py", "measure_b.py"):
        (tmp_path / name).write_text("1", encoding="utf-8")

    def shelf():
        return tasks.Shelf(tmp_path / ".done", tmp_path.glob("measure*.py"))

    files = {"a": ("measure_a.py",), "b": ("measure_b.py",), "both": ()}
    a, b, both = (tasks.Task(key, None, {}, names) for key, names in files.items())
    for task in (a, b, both):
        shelf().keep(task, 1, 0.0)
    (tmp_path / "measure_b.py").write_text("2", encoding="utf-8")
    assert [shelf().kept(task) is not None for task in (a, b, both)] == [True, False, False]
    shelf().forget([a])
    assert shelf().kept(a) is None
    with pytest.raises(ValueError, match=r"measure_x\.py, not a file of the protocol"):
        shelf().kept(tasks.Task("d", None, {}, ("measure_x.py",)))


def test_every_task_names_files_that_exist_and_the_families_differ():
    folder = FOLDER / "decision-quality"
    for task in plan.tasks(fast=True) + plan.tasks(fast=False):
        assert all((folder / name).is_file() for name in task.sources)
    sources = [set(names) for _, names in plan.FAMILIES.values()]
    assert all(one != other for k, one in enumerate(sources) for other in sources[:k])
