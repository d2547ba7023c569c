"""LinearRejectSVC and LinearRejectSVCCV in model files: what is saved comes back; forged files are refused."""

import copy
import io
from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import abstain
from abstain import Actions, Costs, LinearRejectSVC, LinearRejectSVCCV, ThresholdRejector, save
from abstain.files.format.container import LARGEST
from abstain.files.model_file import read
from class_cases import GENERAL, gaussians, table_costs
from files.sameness import again, assert_same, sorted_vars, written
from looping import looped

X3, Y3 = gaussians(90)
COSTS = Costs(1, 3, 0.3)
ACTIONS = Actions({"treat": {0: 1.0, 1: 0.0}, "wait": {0: 0.0, 1: 5.0}, "test": {0: 0.3, 1: 0.5}})
ROWS = np.column_stack([np.linspace(0.5, 2.0, 60), np.linspace(2.0, 0.5, 60), np.full(60, 0.2)])
LOW_RANK = {"kernel": "rbf", "n_components": 8, "random_state": 0}
SEARCH = {"Cs": [0.1, 1.0], "cv": 2}

CASES = {
    "plain": lambda X, y: LinearRejectSVC().fit(X, y),
    "costs": lambda X, y: LinearRejectSVC(COSTS, reject_label=7).fit(X, y),
    "names": lambda X, y: LinearRejectSVC(COSTS, pos_label="a").fit(X, np.where(y == 1, "b", "a")),
    "actions": lambda X, y: LinearRejectSVC(ACTIONS).fit(X, y),
    "row costs": lambda X, y: LinearRejectSVC(COSTS).fit(X, y, row_costs=ROWS),
    "row costs alone": lambda X, y: LinearRejectSVC().fit(X, y, row_costs=ROWS),
    "landmarks": lambda X, y: LinearRejectSVC(COSTS, **LOW_RANK).fit(X, y),
    "sparse landmarks": lambda X, y: LinearRejectSVC(COSTS, **LOW_RANK).fit(csr_array(X), y),
    "search": lambda X, y: LinearRejectSVCCV(COSTS, **SEARCH).fit(X, y),
    "search of actions": lambda X, y: LinearRejectSVCCV(ACTIONS, **SEARCH).fit(X, y),
    "search, row costs": lambda X, y: LinearRejectSVCCV(**SEARCH).fit(X, y, row_costs=ROWS),
}
CLASSES = {
    "landmarks": lambda: LinearRejectSVC(Costs(reject=0.2), **LOW_RANK).fit(X3, Y3),
    "classes": lambda: LinearRejectSVC().fit(X3, Y3),
    "classes, costs": lambda: LinearRejectSVC(table_costs(GENERAL, 0.4)).fit(X3, Y3),
    "search of classes": lambda: LinearRejectSVCCV(Costs(reject=0.2), **SEARCH).fit(X3, Y3),
    "search without costs": lambda: LinearRejectSVCCV(**SEARCH).fit(X3, Y3),
}


def same_again(saved, rows, folder):
    loaded = again(saved, folder)
    assert_same(saved.decision_function(rows), loaded.decision_function(rows))
    if isinstance(saved, LinearRejectSVCCV):
        assert (saved.C_, saved.best_score_) == (loaded.C_, loaded.best_score_)
        object.__setattr__(saved._fitted_.grid, "rejected", np.nan)  # not in the file
    assert_same(sorted_vars(saved), sorted_vars(loaded))
    assert written(loaded) == written(saved)


@looped(case=CASES)
def test_a_round_trip_keeps_every_bit(case, data, tmp_path):
    same_again(CASES[case](*data), data[0], tmp_path)


@looped(case=CLASSES)
def test_a_round_trip_of_several_classes(case, tmp_path):
    same_again(CLASSES[case](), X3, tmp_path)


@pytest.mark.parametrize("rows", ["two", "three"])
def test_inside_pipelines_and_rejectors(rows, data, tmp_path):
    X, y = data if rows == "two" else (X3, Y3)
    saved = make_pipeline(StandardScaler(), LinearRejectSVC(Costs(reject=0.2))).fit(X, y)
    assert_same(saved.predict(X), again(saved, tmp_path).predict(X))
    saved = ThresholdRejector(LinearRejectSVC(), reject_rate=0.2, cv=2).fit(X, y)
    assert_same(saved.predict(X), again(saved, tmp_path).predict(X))


PRICE = Costs(reject=0.2)


@pytest.mark.parametrize("estimator", [LinearRejectSVC(), LinearRejectSVC(PRICE), LinearRejectSVCCV(PRICE)])
@pytest.mark.parametrize("rows", ["two", "three"])
def test_it_has_a_graph_which_is_compared_with_python(estimator, rows, data):
    pytest.importorskip("onnxruntime")
    model = abstain.to_onnx(clone(estimator).fit(*(data if rows == "two" else (X3, Y3))))
    assert [output.name for output in model.graph.output] == ["label", "score", "rejected"]


@pytest.mark.parametrize("rows", ["two", "three"])
def test_low_rank_machines_have_a_graph(rows, data):
    pytest.importorskip("onnxruntime")
    X, y = data if rows == "two" else (X3, Y3)
    for kernel in ("rbf", "laplacian"):
        abstain.to_onnx(LinearRejectSVC(Costs(reject=0.2), kernel=kernel, n_components=20, random_state=0).fit(X, y))


CHANGED = [{"costs": Costs(1, 3, 0.2)}, {"reject_label": 9}, {"pos_label": 0}, {"tol": 1e-300}]


@looped(changed=CHANGED)
def test_parameters_changed_after_the_fit_are_refused(changed, data, tmp_path):
    clf = LinearRejectSVC(COSTS).fit(*data)
    save(clf.set_params(C=5.0, max_iter=3, verbose=True), tmp_path / "fine")
    with pytest.raises(ValueError, match="parameters of estimator were changed after it was fitted"):
        save(clf.set_params(**changed), tmp_path / "model")


@pytest.mark.parametrize("changed", [{"costs": Costs(reject=0.1)}, {"costs": None}, {"reject_label": 9}])
def test_parameters_of_several_classes_changed_after_the_fit_are_refused(changed, tmp_path):
    clf = LinearRejectSVC(Costs(reject=0.2)).fit(X3, Y3)
    with pytest.raises(ValueError, match="do not match its parameters"):
        save(clf.set_params(**changed), tmp_path / "model")


def opened(raw):
    return read(io.BytesIO(raw), len(raw), LARGEST)


def proof(name, value):
    return lambda inside: inside.model["proofs"][0].update({name: value})


def field(name, value):
    return lambda inside: inside.model.update({name: value})


def array(name, change):
    return lambda inside: inside.arrays.update({name: change(inside.arrays[name])})


FORGED = {
    "float32": (array("machine.weights", lambda old: old.astype("<f4")), "wrong dtype or number of axes"),
    "nan": (array("machine.weights", lambda old: old * np.nan), "contains NaN or infinity"),
    "one weight less": (array("machine.weights", lambda old: old[1:]), "does not match the other fields"),
    "one centre less": (array("machine.centre", lambda old: old[1:]), "does not match the other fields"),
    "unknown array": (lambda inside: inside.arrays.update({"machine.x": np.zeros(1)}), "unknown array 'x'"),
    "array outside": (lambda inside: inside.arrays.update({"x": np.zeros(1)}), "unknown array 'x'"),
    "longer weights": (array("machine.weights", lambda old: 100.0 * old), "smaller than its weights alone make it"),
    "a kernel": (field("machine", {"bias": 0.0, "kernel": ["linear", 1.0, 0.0, 3]}), "lacks the field 'vectors'"),
    "bias": (field("machine", {"bias": "x"}), "must be a finite number"),
    "no proof": (field("proofs", []), "one proof per machine"),
    "gap": (proof("gap", -1.0), "must be a number from 0"),
    "gap above tol": (proof("gap", 0.5), "is optimal, but its proof does not show that for tol=0.0001"),
    "objective": (proof("objective", 1e9), "smaller than the difference of its objectives"),
    "dual objective": (proof("dual_objective", -1e9), "smaller than the difference of its objectives"),
    "low objectives": (
        lambda inside: inside.model["proofs"][0].update(objective=0.0, dual_objective=0.0),
        "smaller than its weights alone make it",
    ),
    "violation": (proof("violation", 1e3), "larger than its gap allows"),
    "indefinite": (proof("definite", False), "marked as indefinite"),
    "status": (proof("status", "perfect"), "must be one of"),
    "cuts": (lambda inside: inside.model["rule"].update(cuts=[1.0, 0.0]), "does not have 0 cuts"),
    "three classes": (lambda inside: inside.model["rule"].update(classes=[0, 1, 2]), r"classes|has the wrong"),
    "row costs": (field("largest_row_cost", -1.0), "costs of its training rows are not possible"),
    "unknown field": (field("x", 1), "unknown field 'x'"),
    "a search": (field("kind", "LinearRejectSVCCV"), "'C' does not exist in LinearRejectSVCCV"),
}


FORGED_LANDMARKS = {
    "too many": (lambda inside: inside.model["parameters"].update(n_components=3), "8 landmarks, not 1 to 3"),
    "linear": (lambda inside: inside.model["parameters"].update(kernel="linear"), "its estimator is linear"),
    "gamma": (lambda inside: inside.model["parameters"].update(gamma=0.125), "differs from its parameters"),
    "one less": (array("machine.coef", lambda old: old[:, 1:]), "does not match the other fields"),
    "two machines": (array("machine.biases", lambda old: np.append(old, 0.0)), "does not match the other fields"),
    "a Gram matrix": (lambda inside: inside.model["machine"]["kernel"].__setitem__(0, "precomputed"), "machine|kernel"),
}


@looped(case=FORGED_LANDMARKS)
def test_forged_landmarks_are_refused(case, data, forge):
    change, message = FORGED_LANDMARKS[case]
    machine = CASES["landmarks"](*data)
    assert opened(forge(machine, lambda _: None)).status_ == "optimal"
    with pytest.raises(ValueError, match=message):
        opened(forge(machine, change))


@pytest.fixture(scope="module")
def linear(data):
    return LinearRejectSVC(COSTS).fit(*data)


@looped(case=FORGED)
def test_forged_files_are_refused(case, linear, forge):
    change, message = FORGED[case]
    assert opened(forge(linear, lambda _: None)).status_ == "optimal"
    with pytest.raises(ValueError, match=message):
        opened(forge(linear, change))


FORGED_SEARCH = {
    "no rows": (field("n_rows", 0), "integer >= 1"),
    "another C": (array("search_cs", lambda old: 2.0 * old), "differ from its parameters"),
    "gammas": (array("search_gammas", lambda _: np.ones(1)), "differ from its parameters"),
    "costs": (array("search_costs", lambda old: old + 9.0), "above the highest cost"),
    "a fold less": (array("search_costs", lambda old: old[:, 1:]), "every pair of its grid|differ from its parameters"),
    "subsamples": (lambda inside: inside.arrays.update(search_rows=np.array([5, 60])), "unknown array 'search_rows'"),
    "a scale": (lambda inside: inside.model["rule"].update(cuts=[-1.0, 0.0]), "scale or the shift"),
    "a lead": (lambda inside: inside.model["rule"].update(cuts=[1.0, 1.0, 0.0]), "does not have 0 or . "),
}


@looped(case=FORGED_SEARCH)
def test_forged_searches_are_refused(case, data, forge):
    change, message = FORGED_SEARCH[case]
    with pytest.raises(ValueError, match=message):
        opened(forge(CASES["search"](*data), change))


FORGED_CLASSES = {
    "biases": (array("machine.biases", lambda old: old[1:]), "does not match the other fields"),
    "weights of a class": (array("machine.weights", lambda old: old[1:]), "does not match the other fields"),
    "a bias": (field("machine", {"bias": 0.0}), "unknown field 'bias'"),
    "classes turned": (lambda inside: inside.model["rule"].update(classes=[2, 1, 0]), "different and sorted"),
    "a proof less": (lambda inside: inside.model["proofs"].pop(), "one proof per machine"),
    "row costs": (field("largest_row_cost", 0.0), "costs of its training rows are not possible"),
    "two cuts": (lambda inside: inside.model["rule"].update(cuts=[1.0, 0.0]), "does not have 0 or . "),
    "a lead": (lambda inside: inside.model["rule"].update(cuts=[-1.0, 1.0, 0.0]), "are not possible"),
}


@pytest.fixture(scope="module")
def several():
    return CLASSES["search of classes"]()


@looped(case=FORGED_CLASSES)
def test_forged_files_of_several_classes_are_refused(case, several, forge):
    change, message = FORGED_CLASSES[case]
    with pytest.raises(ValueError, match=message):
        opened(forge(several, change))


def test_what_the_search_did_not_find_is_refused(data, several, tmp_path):
    two, more = CASES["search"](*data), copy.copy(several)
    now = two._fitted_
    for other in ({"scale": 2.0, "shift": 0.5}, {"machine": now.machine.rescaled(2.0, 0.5)}):
        two._fitted_ = replace(now, **other)
        with pytest.raises(ValueError, match="its score is not what its training and its search found"):
            save(two, tmp_path / "model")
    now = more._fitted_
    assert now.grid.best_is_tuned
    more._fitted_ = replace(now, rule=replace(now.rule, readout=replace(now.rule.readout, lead=None)))
    with pytest.raises(ValueError, match="are not what its search found"):
        save(more, tmp_path / "model")
