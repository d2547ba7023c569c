"""Files whose every checksum is right and whose contents are not: refused with the reason, or at least harmless."""

import copy
import io
import json
import random
import zipfile

import numpy as np
import pytest
from scipy import sparse

from abstain import Costs, RejectSVC
from abstain.files.format.container import LARGEST
from abstain.files.format.errors import ModelFileError
from abstain.files.load import read


def opened(raw):
    return read(io.BytesIO(raw), len(raw), LARGEST)


def field(path, value):
    """A change of one field of the model, by its path."""

    def change(inside):
        *way, last = path.split("/")
        part = inside.model
        for step in way:
            part = part[int(step) if isinstance(part, list) else step]
        part[int(last) if isinstance(part, list) else last] = value

    return change


def scaled(path, by):
    """A change of one number of the model."""

    def change(inside):
        first, last = path.split("/")
        inside.model[first][last] *= by

    return change


def array(name, value):
    """A change of one array: a new one, or a function of the old one."""

    def change(inside):
        inside.arrays[name] = value(inside.arrays[name]) if callable(value) else value

    return change


def dropped(name):
    return lambda inside: inside.arrays.pop(name)


def shifted(name, at, by):
    """A change of one entry of an array."""

    def change(inside):
        inside.arrays[name] = inside.arrays[name].copy()
        inside.arrays[name].flat[at] += by

    return change


def both(*changes):
    return lambda inside: [change(inside) for change in changes]


KERNEL = "the kernel, gamma, coef0 or degree of its machine differs from its parameters"
WRITES = "differs from what the library writes for this model"
MACHINE = {
    "nan": (array("machine.coef", lambda old: old * np.nan), "'machine.coef' contains NaN or infinity"),
    "infinity": (array("machine.vectors", lambda old: old + np.inf), "'machine.vectors' contains NaN or infinity"),
    "float32": (array("machine.coef", lambda old: old.astype("<f4")), "wrong dtype or number of axes"),
    "axes": (array("machine.coef", lambda old: old[np.newaxis]), "wrong dtype or number of axes"),
    "one coefficient less": (array("machine.coef", lambda old: old[1:]), "does not match the other fields"),
    "one feature less": (array("machine.vectors", lambda old: old[:, 1:]), "does not match the other fields"),
    "another number of features": (field("n_features", 4), "does not match the other fields"),
    "missing array": (dropped("sets"), "lacks the array 'sets'"),
    "missing vectors": (dropped("machine.vectors"), "lacks the array 'vectors'"),
    "unknown array": (array("evil", np.zeros(1)), "has an unknown array 'evil'"),
    "unknown array of the machine": (array("machine.evil", np.zeros(1)), "has an unknown array 'evil'"),
    "weights as well": (array("machine.weights", np.zeros(3)), "has an unknown array 'weights'"),
    "support out of range": (array("machine.support", lambda old: old + 1000), "not increasing indices"),
    "negative support": (array("machine.support", lambda old: old - 1000), "not increasing indices"),
    "support unsorted": (array("machine.support", lambda old: old[::-1]), "not increasing indices"),
    "support of other rows": (
        array("machine.support", lambda old: np.arange(len(old))),
        "sets .* do not match its coefficients",
    ),
    "short sets": (array("sets", lambda old: old[1:]), "does not match the other fields"),
    "sets out of range": (array("sets", lambda old: old + 9), "out of range"),
    "negative sets": (array("sets", lambda old: -old), "out of range"),
    "sets of 0": (array("sets", lambda old: 0 * old), "sets .* do not match its coefficients"),
    "sets above 0": (array("sets", lambda old: np.maximum(old, 1)), "sets .* do not match its coefficients"),
    "coefficients of 0": (array("machine.coef", lambda old: 0 * old), "do not sum to 0, or one of them is 0"),
    "kind": (field("kind", "os.system"), "'kind' of the model is 'os.system', which is not allowed"),
    "search without a search": (field("kind", "RejectSVCCV"), "'C' does not exist in RejectSVCCV"),
    "kernel": (field("machine/kernel", ["evil", 1.0, 0.0, 3]), "kernel='evil' must be one of"),
    "another kernel": (field("machine/kernel", ["poly", 1.0, 0.0, 3]), KERNEL),
    "linear kernel": (field("machine/kernel", ["linear", 1.0, 0.0, 3]), KERNEL),
    "another kernel by parameter": (field("parameters/kernel", "sigmoid"), KERNEL),
    "gamma": (field("machine/kernel", ["rbf", -1.0, 0.0, 3]), "gamma=-1.0 must be positive"),
    "gamma by parameter": (field("parameters/gamma", 0.5), KERNEL),
    "gamma auto": (field("parameters/gamma", "auto"), KERNEL),
    "coef0": (field("parameters/coef0", 0.5), KERNEL),
    "coef0 of the kernel": (field("machine/kernel", ["rbf", 0.5, 1.0, 3]), KERNEL),
    "degree by parameter": (field("parameters/degree", 2), KERNEL),
    "degree": (field("machine/kernel", ["poly", 1.0, 0.0, 2**40]), "is larger than a C int"),
    "short kernel": (field("machine/kernel", ["rbf"]), "not given by a name and three numbers"),
    "long kernel": (field("machine/kernel", ["rbf", 1.0, 0.0, 3, 4]), "not given by a name and three numbers"),
    "no kernel": (lambda inside: inside.model["machine"].pop("kernel"), "unknown field 'n_rows'"),
    "precomputed": (field("machine/kernel", ["precomputed", 1.0, 0.0, 3]), "unknown array 'vectors'"),
    "bias": (field("machine/bias", {"float": "inf"}), "'bias' of the machine has the wrong type"),
    "whole bias": (field("machine/bias", 0), f"field 'bias' {WRITES}"),
    "rows": (field("machine/n_rows", 61), "does not match the other fields"),
    "storage": (field("machine/vectors", "csr_array"), "array 'vectors"),
    "unknown storage": (field("machine/vectors", "coo"), "'coo', which is not allowed"),
    "status": (field("proof/status", "perfect"), "'status' of the proof is 'perfect'"),
    "iterations": (field("proof/iterations", -1), "must be an integer >= 0"),
    "iterations that are no count": (field("proof/iterations", True), "has the wrong type"),
    "gap of nan": (field("proof/gap", {"float": "nan"}), "four numbers"),
    "whole gap": (field("proof/gap", 0), "four numbers"),
    "negative gap": (field("proof/gap", -1.0), "gap or the violation of its proof is negative"),
    "negative violation": (field("proof/violation", -1.0), "gap or the violation of its proof is negative"),
    "large gap": (field("proof/gap", 0.5), "its status is optimal"),
    "objective": (field("proof/objective", 1e9), "smaller than the difference of its objectives"),
    "dual above primal": (scaled("proof/dual_objective", 1.05), "the dual value of its proof is above the primal one"),
    "dual objective": (field("proof/dual_objective", -1.0), "smaller than the difference of its objectives"),
    "violation": (field("proof/violation", 1e9), "is optimal, but its proof does not show that for tol=0.001"),
    "endless gap": (field("proof/gap", {"float": "inf"}), "its status is optimal, but its proof does not show that"),
    "not definite": (
        both(field("proof/definite", False), field("proof/status", "inaccurate")),
        "marked as indefinite, but this kernel is always positive semidefinite",
    ),
    "missing proof": (lambda inside: inside.model.pop("proof"), "lacks the field 'proof'"),
    "short proof": (lambda inside: inside.model["proof"].pop("gap"), "lacks the field 'gap' of the proof"),
    "unknown field": (field("machine/__class__", "x"), "unknown field '__class__'"),
    "unknown field of the model": (field("sets", "x"), "unknown field 'sets'"),
    "unknown field of the proof": (field("proof/x", 1), "unknown field 'x'"),
    "unknown field of the rule": (field("rule/x", 1), "unknown field 'x'"),
    "three classes": (field("rule/classes", [0, 1, 2]), "3 classes"),
    "one class": (field("rule/classes", [1, 1]), "one class"),
    "classes turned": (field("rule/classes", [1, 0]), f"field 'classes' {WRITES}"),
    "classes between numbers": (field("rule/classes", [0.5, 1.5]), f"field 'classes' {WRITES}"),
    "mixed classes": (field("rule/classes", [0, "a"]), "do not have the type"),
    "wide classes": (field("rule/dtype", "<U99999999"), "do not have the type"),
    "object classes": (field("rule/dtype", "|O"), "do not have the type"),
    "dtype": (field("rule/dtype", "i8,i8"), "do not have the type"),
    "cut short classes": (both(field("rule/classes", ["aa", "bb"]), field("rule/dtype", "<U1")), f"'classes' {WRITES}"),
    "cuts": (field("rule/cuts", [0.5]), "does not have 0 cuts"),
    "reject label": (field("parameters/reject_label", 1), "is one of the classes"),
    "positive": (field("parameters/pos_label", 7), "pos_label=7 is not one of"),
    "costs": (field("parameters/costs", {"Costs": [1.0, 1.0, 0.9]}), "can never pay"),
    "fewer costs": (field("parameters/costs", {"Costs": [1.0, 1.0]}), "wrong number of entries"),
    "whole costs": (
        field("parameters/costs", {"Costs": [1, 3.0, 0.3]}),
        "parameters are not formatted as the library writes",
    ),
    "negative costs": (field("parameters/costs", {"Costs": [-1.0, 1.0, 0.1]}), "must be positive"),
    "huge number": (field("parameters/C", 10**400), "outside the allowed range"),
    "C": (field("parameters/C", -1.0), "The 'C' parameter"),
    "tol": (field("parameters/tol", 1e-300), "its status is optimal, but its proof does not show that for tol=1e-300"),
    "threads": (field("parameters/n_jobs", 2**31 - 1), "requests more than 1024 threads"),
    "unknown parameter": (field("parameters/evil", 1), "'evil' does not exist in RejectSVC"),
    "unknown value": (field("parameters/C", {"eval": "1"}), "has a type that this version does not support"),
    "a label twice": (
        field("parameters/class_weight", {"dict": [[0, 1], [0, 2]]}),
        "parameters are not formatted as the library",
    ),
    "parameters": (field("parameters", None), "has the wrong type"),
    "names of features": (field("feature_names", ["a"]), "does not have one name per feature"),
}
EMBEDDED = {
    "nan": (array("machine.coef", lambda old: old * np.nan), "'machine.coef' contains NaN or infinity"),
    "one coefficient less": (array("machine.coef", lambda old: old[1:]), "does not match the other fields"),
    "one feature less": (array("machine.vectors", lambda old: old[:, 1:]), "does not match the other fields"),
    "missing array": (dropped("machine.coef"), "lacks the array 'coef'"),
    "weights as well": (array("machine.weights", np.zeros(3)), "has an unknown array 'weights'"),
    "sets": (array("sets", np.zeros(60, dtype=np.int8)), "has an unknown array 'sets'"),
    "support out of range": (array("machine.support", lambda old: old + 1000), "not increasing indices"),
    "fewer rows than support": (field("machine/n_rows", 5), "not increasing indices"),
    "no rows": (field("machine/n_rows", 0), "must be an integer >= 1"),
    "linear": (field("machine/kernel", ["linear", 1.0, 0.0, 3]), KERNEL),
    "linear by parameter": (field("parameters/kernel", "linear"), "does not have the kernel"),
    "another kernel": (field("machine/kernel", ["sigmoid", 1.0, 0.0, 3]), KERNEL),
    "gamma": (field("parameters/gamma", 0.5), KERNEL),
    "precomputed": (field("machine/kernel", ["precomputed", 1.0, 0.0, 3]), "unknown array 'vectors'"),
    "status": (field("status", "optimal"), "'status' of the model is 'optimal', which is not allowed"),
    "two cuts": (field("rule/cuts", [-0.5, 0.25]), "does not have 1 cuts"),
    "a cut that is not a float": (field("rule/cuts", [0]), "does not have 1 cuts"),
    "a wide band": (field("rule/cuts", [1.5]), "eps must lie between 0 and 1"),
    "a negative band": (field("rule/cuts", [-0.1]), "eps must lie between 0 and 1"),
    "an endless band": (field("rule/cuts", [{"float": "inf"}]), "eps must lie between 0 and 1"),
    "a band of nan": (field("rule/cuts", [{"float": "nan"}]), "eps must lie between 0 and 1"),
    "a price that never rejects": (field("parameters/reject_cost", 0.5), "and be 0 without rejects"),
    "risk": (field("training_risk", 1.5), "does not lie between 0 and 1"),
    "objective": (field("objective", "x"), "'objective' of the model has the wrong type"),
    "negative objective": (field("objective", -1.0), "objective lies below"),
    "bound": (field("lower_bound", "x"), "lower bound is not a number"),
    "a bound that was not asked for": (field("lower_bound", 0.1), "its lower bound is missing, or it has one"),
    "asked for a bound": (field("parameters/lower_bound", True), "its lower bound is missing, or it has one"),
    "by the dual": (field("parameters/solver", "dual"), "its lower bound is missing, or it has one"),
    "iterations": (field("iterations", 1.5), "has the wrong type"),
    "unknown field": (field("eps", 0.1), "unknown field 'eps'"),
    "a proof": (field("proof", {}), "unknown field 'proof'"),
    "reject cost": (field("parameters/reject_cost", 2.0), "reject_cost=2 must lie in"),
    "margin cost": (field("parameters/margin_cost", 0.9), "margin_cost=0.9 must lie between 0 and reject_cost"),
    "starts": (field("parameters/n_starts", -1), "The 'n_starts' parameter"),
    "kind": (field("kind", "RejectSVC"), "does not exist in RejectSVC"),
}
ONE_CLASS = {
    "a coefficient of 0": (array("machine.coef", lambda old: np.r_[0.0, old[1:]]), "one of them is not above 0"),
    "a negative one": (array("machine.coef", lambda old: np.r_[-old[0], old[1:]]), "one of them is not above 0"),
    "support": (array("machine.support", lambda old: old[::-1].copy()), "not increasing indices"),
    "missing array": (dropped("machine.coef"), "lacks the array 'coef'"),
    "sets": (array("sets", np.zeros(60, dtype=np.int8)), "has an unknown array 'sets'"),
    "gamma": (field("parameters/gamma", 0.123), KERNEL),
    "linear": (field("parameters/kernel", "linear"), KERNEL),
    "nu": (field("parameters/nu", 1.5), "The 'nu' parameter"),
    "weights for a kernel": (lambda inside: inside.model["machine"].pop("kernel"), "unknown field"),
    "dual value": (field("proof/dual_objective", 1.0), "the dual value of its proof is above 0"),
    "another dual value": (field("proof/dual_objective", -1e9), "smaller than the difference of its objectives"),
    "objective": (field("proof/objective", 1e9), "smaller than the difference of its objectives"),
    "large gap": (field("proof/gap", 0.5), "its status is optimal"),
    "violation": (
        both(field("proof/violation", 1.0), field("proof/gap", 1e-3)),
        "is optimal, but its proof does not show that for tol=1e-06",
    ),
    "indefinite": (both(field("proof/definite", False), field("proof/status", "inaccurate")), "marked as indefinite"),
    "unknown field": (field("rule", {}), "unknown field 'rule'"),
    "kind": (field("kind", "RejectSVC"), "does not exist in RejectSVC"),
}
PIPELINE = {
    "scale": (array("table.scale", lambda old: 0 * old), "divides by a scale"),
    "another scale": (array("table.scale", lambda old: 1.01 * old), "a scale that is not the root of the variance"),
    "variance": (array("table.variance", lambda old: -old), "divides by a scale"),
    "another variance": (
        array("table.variance", lambda old: 1.01 * old),
        "a scale that is not the root of the variance",
    ),
    "mean": (array("table.mean", lambda old: old[1:]), "does not match the other fields"),
    "kernel of the machine": (field("estimator/parameters/kernel", "poly"), KERNEL),
    "coefficients": (shifted("machine.coef", 0, 1e-3), "do not sum to 0"),
    "unknown array": (array("table.evil", np.zeros(1)), "unknown array 'evil'"),
    "unknown field": (field("preprocessing/x", 1), "unknown field 'x'"),
    "names of features": (
        field("estimator/feature_names", [*"abcdefghi"]),
        "one name per feature|do not match those of its machine",
    ),
    "statistics": (array("table.statistics", lambda old: old[1:]), "does not match the other fields"),
    "indicators": (array("table.indicators", lambda old: old + 5), "do not match its numeric columns"),
    "columns": (field("preprocessing/columns", ["age"]), "uses columns that its table does not have"),
    "columns twice": (field("preprocessing/columns", ["age", "age", "score", "city"]), "uses columns"),
    "categories": (field("preprocessing/categories", [["Ulm", "Bonn"]]), "not strings in increasing order"),
    "fewer categories": (field("preprocessing/categories", [["Bonn"]]), "do not match those of its machine"),
    "numbers for categories": (field("preprocessing/categories", [[1, 2]]), "not strings in increasing order"),
    "one column in both parts": (field("preprocessing/categorical", ["age"]), "more than once"),
    "an empty plan": (field("preprocessing/plan", {"dates": [], "day_first": None, "missing": []}), WRITES),
    "a plan of other columns": (
        field("preprocessing/plan", {"dates": ["city"], "day_first": None, "missing": []}),
        "its dates are not numeric columns",
    ),
    "a plan with a column twice": (
        field("preprocessing/plan", {"dates": ["age", "age"], "day_first": None, "missing": []}),
        "its dates are not numeric columns",
    ),
    "a plan of numbers": (
        field("preprocessing/plan", {"dates": [], "day_first": None, "missing": [1]}),
        "must be a list of strings",
    ),
    "a plan with another order": (
        field("preprocessing/plan", {"dates": ["age"], "day_first": 1, "missing": []}),
        "has the wrong type",
    ),
    "a plan with more": (
        field("preprocessing/plan", {"dates": ["age"], "day_first": None, "missing": [], "x": 1}),
        "unknown field 'x'",
    ),
    "rows seen": (field("preprocessing/n_samples_seen", 0), "must be an integer >= 1"),
}


@pytest.mark.parametrize("case", MACHINE)
def test_machines(case, machine, forge):
    change, message = MACHINE[case]
    with pytest.raises(ModelFileError, match=message):
        opened(forge(machine, change))


@pytest.mark.parametrize(
    "change",
    [shifted("machine.coef", 0, 1e-3), array("machine.coef", np.abs), array("machine.coef", lambda old: old + 1)],
)
def test_coefficients_sum_to_zero_as_well_as_the_proof_says(change, data, forge):
    clf = RejectSVC(Costs(1, 3, 0.3)).fit(*data)  # polished: the violation of its proof is rounding
    with pytest.raises(ModelFileError, match="do not sum to 0"):
        opened(forge(clf, change))


@pytest.mark.parametrize("case", ONE_CLASS)
def test_machines_of_one_class(case, one_class, forge):
    change, message = ONE_CLASS[case]
    with pytest.raises(ModelFileError, match=message):
        opened(forge(one_class, change))


@pytest.mark.parametrize("case", EMBEDDED)
def test_embedded_machines(case, embedded, forge):
    change, message = EMBEDDED[case]
    with pytest.raises(ModelFileError, match=message):
        opened(forge(embedded, change))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (array("machine.weights", lambda old: old[1:]), "does not match the other fields"),
        (array("machine.weights", lambda old: old + np.inf), "'machine.weights' contains NaN or infinity"),
        (array("machine.centre", lambda old: old[1:]), "does not match the other fields"),
        (dropped("machine.centre"), "lacks the array 'centre'"),
        (array("machine.support", np.arange(3)), "has an unknown array 'support'"),
        (field("n_features", 4), "does not match the other fields"),
        (field("machine/kernel", ["rbf", 1.0, 0.0, 3]), "lacks the field 'n_rows'"),
        (field("parameters/kernel", "rbf"), "does not have the kernel that its parameters name"),
        (field("lower_bound", None), "its lower bound is missing, or it has one that its parameters"),
        (field("lower_bound", 1e9), "its objective lies below its lower bound"),
        (field("objective", 1e-9), "its objective lies below its lower bound"),
    ],
)
def test_embedded_machines_with_weights(change, message, embedded_linear, forge):
    with pytest.raises(ModelFileError, match=message):
        opened(forge(embedded_linear, change))


@pytest.mark.parametrize("case", PIPELINE)
def test_pipelines(case, pipeline, forge):
    change, message = PIPELINE[case]
    with pytest.raises(ModelFileError, match=message):
        opened(forge(pipeline, change))


def test_a_pipeline_in_a_pipeline(pipeline, forge):
    with pytest.raises(ModelFileError, match="is inside another Pipeline"):
        opened(forge(pipeline, lambda inside: inside.model.update(estimator=copy.deepcopy(inside.model))))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (array("machine.vectors_indices", lambda old: old + 100), "a column outside the features"),
        (array("machine.vectors_indices", lambda old: old - 100), "a column outside the features"),
        (array("machine.vectors_indptr", lambda old: old[::-1]), "row pointers that do not match"),
        (array("machine.vectors_indptr", lambda old: old[1:]), "row pointers that do not match"),
        (array("machine.vectors_indices", lambda old: old[::-1]), "unsorted or repeated columns"),
        (array("machine.vectors_indices", lambda old: old.astype("<i8")), "row pointers that do not match"),
        (field("machine/vectors", "dense"), "array 'vectors"),
    ],
    ids=["beyond", "negative", "falling", "short", "unsorted", "two dtypes", "dense"],
)
def test_sparse_support_vectors(change, message, data, forge):
    X, y = data
    machine = RejectSVC().fit(sparse.csr_array(X), y)
    with pytest.raises(ModelFileError, match=message):
        opened(forge(machine, change))


def test_an_empty_search_takes_no_time(search, forge):
    def change(inside):
        tried = {name: old[:0] for name, old in inside.arrays.items() if name.startswith("search_")}
        inside.arrays.update(tried, search_costs=np.empty((0, 2**40)))

    with pytest.raises(ModelFileError, match="has not tried every pair"):
        opened(forge(search, change))


OTHER = [[True], [False], [True], [False]]  # the other gamma would be chosen
NEAR = "tuned cuts for other pairs than those near the best"
TRIED = "the C, gamma or number of folds of its search differ"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (array("search_costs", lambda old: old + np.inf), "'search_costs' contains NaN or infinity"),
        (array("search_cs", lambda old: old * np.nan), "'search_cs' contains NaN or infinity"),
        (array("search_costs", lambda old: -1 - old), "values of C, gamma or costs that are not possible"),
        (array("search_costs", lambda old: old + 3), "mean costs above the highest cost"),
        (array("search_costs", lambda old: old[1:]), "has not tried every pair"),
        (both(array("search_costs", lambda old: old[:, :1]), array("search_tuned", lambda old: old[:, :1])), TRIED),
        (array("search_tuned", lambda old: old[1:]), "has not tried every pair"),
        (array("search_tuned", lambda old: -1 - old), "values of C, gamma or costs that are not possible"),
        (array("search_tuned", lambda old: old * np.nan), "values of C, gamma or costs that are not possible"),
        (array("search_costs", lambda old: old * np.nan), "values of C, gamma or costs that are not possible"),
        (array("search_tuned", lambda old: old + np.array([3, 3, 0, 0, 0])), "mean costs above the highest cost"),
        (array("search_tuned", lambda old: old + np.array([0, 0, 1, 1, 1])), NEAR),
        (array("search_tuned", lambda old: old * [1, 1, 0, 0, 0]), NEAR),
        (array("search_mass", np.zeros((4, 2))), "folds that test rows of no weight"),
        (dropped("search_tuned"), KERNEL),  # another pair is the best one at Bayes' cuts
        (field("parameters/cuts", "bayes"), "tuned cuts that its parameters do not ask for"),
        (field("rule/cuts", []), "the field 'cuts' differs"),
        (field("rule/cuts", [1.5, 0.5, 0.5]), "does not have 0 or 2 cuts"),
        (field("rule/cuts", [-1.5, 0.5]), "scale or the shift of its score is not possible"),
        (field("rule/cuts", [1e-320, 0.5]), "scale or the shift of its score is not possible"),
        (array("search_tuned", lambda old: np.where(OTHER, old, [np.nan, np.nan, 0, 0, 0])), KERNEL),
        (array("search_cs", lambda old: 2 * old), TRIED),
        (array("search_cs", lambda old: old[::-1]), "values of C, gamma or costs that are not possible"),
        (array("search_gammas", lambda old: 2 * old), f"{TRIED}|{KERNEL}"),
        (array("search_gammas", lambda old: -old), "values of C, gamma or costs that are not possible"),
        (array("search_gammas", lambda old: old[:0]), "has not tried every pair"),
        (dropped("search_cs"), "lacks the array 'search_cs'"),
        (array("search_mean", np.zeros(4)), "unknown array 'search_mean'"),
        (field("parameters/Cs", [0.1, 2.0]), TRIED),
        (field("parameters/Cs", 2), TRIED),
        (field("parameters/Cs", 2**62), TRIED),  # as many values are never made
        (field("parameters/gammas", 3), TRIED),
        (field("parameters/gammas", [0.1, 2.0]), TRIED),
        (field("parameters/cv", 3), TRIED),
        (field("parameters/kernel", "linear"), TRIED),
    ],
)
def test_searches(change, message, search, forge):
    with pytest.raises(ModelFileError, match=message):
        opened(forge(search, change))


def test_costs_of_a_search_that_had_no_time_are_missing(search, forge):
    # a pair without its costs is one that was not finished: `save` could have written this
    def change(inside):
        inside.arrays["search_costs"][:] = np.nan
        del inside.arrays["search_tuned"]
        inside.model["rule"]["cuts"] = []
        inside.model["machine"]["kernel"][1] = inside.arrays["search_gammas"].tolist()[1]

    loaded = opened(forge(search, change))
    assert np.isnan(loaded.best_score_)
    assert (loaded.C_, loaded.gamma_) == (0.1, 1.0)


ODD = [None, True, 0, -1, 3, 2**63, 0.5, -0.0, 1e308, "", "x", "auto", "__class__", [], [1], {}, {"float": "nan"}]
ODD += [{"Costs": [1, 1, 0.1]}, {"tuple": []}, {"dict": [[1, 2]]}, {"array": ["<f8", [1]]}, {"KFold": [2, False, None]}]


def nodes(value, found):
    """All places of a JSON value, as (container, key)."""
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, one in entries:
        found.append((value, key))
        nodes(one, found)
    return found


KINDS = ["machine", "search", "embedded", "embedded_linear", "rejector", "pipeline"]
LARGER = ["forest", "boosting", "sigmoids", "curves", "guarded", "guarded_table"]  # which take longer to read
KINDS += LARGER


@pytest.mark.parametrize("kind", KINDS)
def test_random_alterations_are_refused_or_harmless(kind, request, forge, contents, data, table):
    estimator = request.getfixturevalue(kind)
    rows = table[0] if kind in ("pipeline", "guarded_table") else data[0]
    rng = random.Random(3)  # noqa: S311
    taken, tries = 0, 40 if kind in LARGER else 120

    def change(inside):
        container, key = rng.choice(nodes(inside.model, []))
        if rng.random() < 0.2:
            del container[key]
        else:
            container[key] = rng.choice(ODD)

    for _ in range(tries):
        raw = forge(estimator, change)
        try:
            loaded = opened(raw)
        except ModelFileError:
            continue
        taken += 1
        assert type(loaded) is type(estimator)
        assert same_but_for_parameters(raw, contents(loaded))
        try:
            score = loaded.decision_function(rows)
        except ValueError:
            continue
        assert np.isfinite(score).all()
    assert 0 < taken < tries / 2


def same_but_for_parameters(first, second):
    """Whether two files differ in no more than parameters, of which one may lack some."""

    def without(value):
        if isinstance(value, list):
            return [without(one) for one in value]
        kept = value.items() if isinstance(value, dict) else ()
        return {name: without(one) for name, one in kept if name != "parameters"} if kept else value

    def described(raw):
        with zipfile.ZipFile(io.BytesIO(raw)) as archive:
            return {
                name: json.dumps(without(json.loads(archive.read(name))))
                if name.endswith(".json")
                else archive.read(name)
                for name in archive.namelist()
                if name != "manifest.sha256"
            }

    return described(first) == described(second)


def other_whole(old):
    with np.errstate(invalid="ignore"):
        return old.astype("<i8" if old.dtype == np.int32 else "<i4")


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in ("rejector", "guarded", "guarded_table")])
def test_every_array_is_checked_to_the_last_bit(kind, request, forge):
    """Of every array one entry more, one less, and another dtype: refused. (The medians of a table may be float32.)"""
    estimator, names = request.getfixturevalue(kind), []
    forge(estimator, lambda inside: names.extend(inside.arrays))
    for name in names:
        changes = [array(name, lambda old: old[1:]), array(name, lambda old: np.concatenate([old, old[-1:]]))]
        changes += [dropped(name), array(name, other_whole)]
        changes += [] if name.startswith("table.") else [array(name, lambda old: old.astype("<f4"))]
        for change in changes:
            with pytest.raises(ModelFileError):
                opened(forge(estimator, change))
