"""The average of machines: the mean of their probabilities, decided at the costs, and its honest cost."""

import zipfile

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits, load_wine
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import RepeatedStratifiedKFold, StratifiedKFold
from sklearn.preprocessing import StandardScaler

from abstain import Actions, Costs, MachineSearch, NoveltyRejector, RejectSVCCV, decide, explain, load, save, to_onnx
from abstain.candidates import search as machine_search
from abstain.candidates.average import MachineAverage, averaged
from abstain.candidates.trials import Choice
from abstain.files.format.container import MOST_MEMBERS

GRID = RejectSVCCV(Cs=[0.1, 1.0, 10.0], gammas=[0.05, 0.5])
FOLDS = StratifiedKFold(4, shuffle=True, random_state=0)
WINE, GROWER = load_wine(return_X_y=True)
X = StandardScaler().fit_transform(WINE)[:, :4]
TWO, THREE = np.array(["a", "b"])[(GROWER == 1).astype(int)], np.array(["x", "y", "z"])[GROWER]
ERRORS = 1.0 - np.eye(3)
KINDS = {
    "two": (TWO, Costs(1, 5, 0.4)),
    "three": (THREE, Costs.of_errors(("x", "y", "z"), ERRORS, 0.2)),
    "actions": (TWO, Actions({"keep": {"a": 0, "b": 4}, "test": 0.5, "sell": {"a": 1, "b": 0}}, rejects=("test",))),
}


class Kept(MachineSearch):
    def _averaged(self, found, rows):
        self.seen = found, rows
        return super()._averaged(found, rows)


def search(costs, names=("svm", "laplacian", "logistic", "average"), kind=MachineSearch, **more):
    return kind(costs, names, svm=GRID, cv=FOLDS, **more)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("weighted", [False, True])
def test_it_is_the_mean_decided_at_the_least_expected_cost(kind, weighted):
    y, costs = KINDS[kind]
    weight = np.random.default_rng(0).uniform(0.5, 2.0, len(y)) if weighted else None
    found = search(costs).fit(X, y, weight)
    assert found.choice_.chosen.name == "average"
    parts = found.best_estimator_.estimator_.parts
    assert list(parts) == ["svm", "laplacian", "logistic"]
    mean = np.mean([part.predict_proba(X) for part in parts.values()], axis=0)
    np.testing.assert_allclose(found.predict_proba(X), np.maximum(mean, 1e-12), rtol=1e-12)
    classes, said = found.classes_.tolist(), found.predict(X)
    actions = ["keep", "test", "sell"] if kind == "actions" else [*classes, found.reject_label_]
    for row, p, answer in zip(range(len(y)), mean, said, strict=True):
        expected = [sum(p[k] * price(kind, classes[k], action) for k in range(len(classes))) for action in actions]
        best = min(expected)
        assert expected[actions.index(answer)] == pytest.approx(best, rel=1e-9), row


def price(kind, truth, action):
    if kind == "actions":
        return {"keep": {"a": 0, "b": 4}, "test": {"a": 0.5, "b": 0.5}, "sell": {"a": 1, "b": 0}}[action][truth]
    if kind == "two":
        return 0.4 if action not in ("a", "b") else {"aa": 0, "bb": 0, "ab": 1, "ba": 5}[truth + action]
    return 0.2 if action not in ("x", "y", "z") else float(truth != action)


def by_hand(seen, fold):
    """What a fold costs when each machine has the parameters of the least mean cost on the other folds."""
    trials, rows = seen
    others = [at for at in range(4) if at != fold]
    said = []
    for one in trials:
        left = [at for at in range(len(one.parameters)) if np.isfinite(one.costs[at]).all() and at in one.said]
        best = min(left, key=lambda at: (round(one.costs[at][others].mean(), 13), at))
        if one.kept is not None:  # the svm, whose search keeps one pair for each fold
            (best,) = np.flatnonzero(one.kept[:, fold]) if one.name != "logistic" else (best,)
        said.append(one.said[best][fold])
    test = np.flatnonzero(rows.splits.tests[fold])
    p = np.mean(said, axis=0)
    table = rows.costs.take(test).values
    decided = (p @ table).argmin(axis=1)
    return table[rows.truth[test], decided].mean()


def test_each_fold_is_decided_by_machines_with_the_parameters_of_the_other_folds():
    y, costs = KINDS["three"]
    noisy = X + 1.5 * np.random.default_rng(0).normal(size=X.shape)
    found = search(costs, kind=Kept).fit(noisy, y)
    honest = np.mean([by_hand(found.seen, fold) for fold in range(4)])
    assert found.choice_.cost == pytest.approx(honest)
    assert found.best_score_ == -found.choice_.cost


def test_the_rows_that_are_judged_have_no_part_in_the_parameters():
    """On labels drawn at random, rejecting at .45 is hardly better than guessing; parameters chosen on the fold are."""
    flattered, honest = [], []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        noise, y = rng.normal(size=(60, 4)), np.arange(60) % 2
        found = search(Costs(reject=0.45), ("svm", "logistic", "average"), Kept).fit(noise, y)
        trials, rows = found.seen
        honest.append(found.choice_.cost)
        average = averaged(trials, rows)
        flattered.append(average.costs[-1].mean())  # the control: the parameters that all folds choose
        assert found.choice_.chosen.least == pytest.approx(average.least)
    assert np.mean(honest) > 0.45 > np.mean(flattered)


def test_repeated_folds_and_folds_that_were_not_tried():
    y, costs = KINDS["two"]
    twice = RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=0)
    found = MachineSearch(costs, ("svm", "logistic", "average"), svm=GRID, cv=twice).fit(X, y)
    assert found.choice_.chosen.name == "average"
    assert np.isfinite(found.best_score_)
    assert found.choice_.chosen.costs.shape == (7, 6)


def test_groups_row_costs_and_a_second_fit():
    y, _ = KINDS["two"]
    own = np.column_stack([np.ones((len(y), 2)), np.where(np.arange(len(y)) % 2 == 0, 0.02, 0.4)])
    groups = np.arange(len(y)) // 3
    found = MachineSearch(None, ("svm", "logistic", "average"), svm=GRID, cv=4, pos_label="b")
    found.fit(X, y, groups=groups, row_costs=own)
    assert found.choice_.chosen.name == "average"
    p = found.predict_proba(X)
    wanted = np.where(p.min(axis=1) > own[:, 2], found.reject_label_, np.array(["a", "b"])[p.argmax(axis=1)])
    np.testing.assert_array_equal(found.predict(X, row_costs=own), wanted)
    again = clone(found.best_estimator_).fit(X, y, row_costs=own)
    assert again.estimator_.predict_proba(X).shape == (len(y), 2)


def test_without_probabilities_a_machine_is_chosen():
    y, _ = KINDS["two"]
    found = MachineSearch(machines=("svm", "laplacian", "average"), svm=GRID, cv=FOLDS).fit(X, y)
    assert found.choice_.chosen.name in ("svm", "laplacian")
    assert np.isnan(found.choice_.trials[-1].least)


@pytest.mark.parametrize("names", [("average",), ("svm", "average"), ("svm", "nothing", "average")])
def test_an_average_needs_two_machines(names):
    with pytest.raises(ValueError, match="fewer than two machines to average"):
        MachineSearch(Costs(reject=0.2), names).fit(X, TWO)


def test_nothing_has_no_part_in_an_average():
    found = search(KINDS["two"][1], ("nothing", "svm", "logistic", "average")).fit(X, TWO)
    assert list(found.best_estimator_.estimator_.parts) == ["svm", "logistic"]
    assert [one.name for one in found.choice_.trials] == ["nothing", "svm", "logistic", "average"]


def test_what_is_rejected_is_said():
    y, costs = KINDS["two"]
    found = search(costs, kind=Kept).fit(X, y)
    trials, _ = found.seen
    places = [one.best_of(np.ones(4, bool)) for one in Choice.of(trials).trials]
    rejected = []
    for fold in range(4):
        p = np.mean([one.said[place][fold] for one, place in zip(trials, places, strict=True)], axis=0)[:, 1]
        rejected += ((5 * p > 0.4) & (1 - p > 0.4)).tolist()
    assert found.choice_.chosen.rejected == pytest.approx(np.mean(rejected))


@pytest.mark.parametrize("kind", KINDS)
def test_files_graphs_guards_and_reasons(kind, tmp_path):
    y, costs = KINDS[kind]
    names = ("svm", "laplacian", "logistic", "average")
    model = search(costs, names).fit(X, y).best_estimator_
    save(model, tmp_path / "model")
    again = load(tmp_path / "model")
    assert type(again.estimator_) is MachineAverage
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    onnxruntime = pytest.importorskip("onnxruntime")
    session = onnxruntime.InferenceSession(to_onnx(again).SerializeToString())
    label, score, rejected = session.run(None, {"X": X})
    assert label.tolist() == model.predict(X).tolist()
    np.testing.assert_allclose(score, model.decision_function(X), rtol=1e-7, atol=1e-7)
    np.testing.assert_array_equal(rejected, model.reject_mask(X))
    guarded = NoveltyRejector(search(costs, names), 0.1, random_state=0).fit(X, y)
    assert decide(guarded, 50.0 * X[:3]).novel.all()
    assert len(explain(model, X[:3]).sentence) == 3


def test_a_file_of_an_average_that_contradicts_itself_is_refused(tmp_path):
    model = search(KINDS["two"][1], ("svm", "logistic", "average")).fit(X, TWO).best_estimator_
    model.estimator_.estimators_[1] = LogisticRegression().fit(X, TWO)  # other parameters than asked for
    if model.estimator_.estimators[1][1].C == 1.0:
        model.estimator_.estimators_[1].set_params(C=2.0)
    with pytest.raises(ValueError, match="parameters of an averaged machine differ"):
        save(model, tmp_path / "model")


def test_boosted_trees_and_forests_are_averaged_and_saved(tmp_path, whole_machines):
    del whole_machines
    found = MachineSearch(KINDS["two"][1], ("svm", "forest", "boosting", "average"), svm=GRID, cv=FOLDS).fit(X, TWO)
    save(found.best_estimator_, tmp_path / "model")
    np.testing.assert_allclose(load(tmp_path / "model").predict_proba(X), found.predict_proba(X), rtol=1e-12)
    with pytest.raises(ValueError, match="average of machines with a CalibratedClassifierCV"):
        to_onnx(found.best_estimator_)


def test_a_file_has_room_for_ten_classes_behind_a_guard(tmp_path):
    rows, digit = (part[:500] for part in load_digits(return_X_y=True))
    names = ("svm", "laplacian", "boosting", "average")
    one_pair = RejectSVCCV(Cs=[1.0], gammas=[0.02])
    found = MachineSearch(Costs(reject=0.2), names, svm=one_pair, cv=2).fit(rows / 16.0, digit)
    guarded = NoveltyRejector(found.best_estimator_, 0.05).fit(rows / 16.0, digit)
    save(guarded, tmp_path / "model")
    with zipfile.ZipFile(tmp_path / "model") as archive:
        assert 40 < len(archive.namelist()) < MOST_MEMBERS / 4, "preprocessing and ranges of columns have members too"
    np.testing.assert_array_equal(load(tmp_path / "model").predict(rows / 16.0), guarded.predict(rows / 16.0))


def test_a_time_limit_that_leaves_a_machine_untried_chooses_among_the_others(monkeypatch):
    late = machine_search.tuned

    def without_candidates(name, *given, **more):
        found = late(name, *given, **more)
        found.costs[:] = np.nan
        return found

    monkeypatch.setattr(machine_search, "tuned", without_candidates)
    found = search(KINDS["two"][1], ("svm", "logistic", "average")).fit(X, TWO)
    assert found.choice_.chosen.name == "svm"
