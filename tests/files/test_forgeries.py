"""Files whose every checksum is right and whose contents are not: what was once read, or would do the most harm.

The changes that need no thought are made by `test_mutations.py`, for every kind of file.
"""

import copy

import numpy as np
import pytest

from abstain import Costs, RejectSVC
from files.forging import array, both, dropped, field, opened, refused, shifted
from files.kinds import KINDS
from looping import looped


def scaled(path, by):
    return field(path, lambda old: old * by)


KERNEL = "the kernel, gamma, coef0 or degree of its machine differs from its parameters"
WRITES = "differs from what the library writes for this model"
MACHINE = {
    "another number of features": (field("n_features", 4), "does not match the other fields"),
    "weights as well": (array("machine.weights", np.zeros(3)), "has an unknown array 'weights'"),
    "support out of range": (array("machine.support", lambda old: old + 1000), "not increasing indices"),
    "negative support": (array("machine.support", lambda old: old - 1000), "not increasing indices"),
    "support of other rows": (
        array("machine.support", lambda old: np.arange(len(old))),
        "sets .* do not match its coefficients",
    ),
    "sets out of range": (array("sets", lambda old: old + 9), "out of range"),
    "negative sets": (array("sets", lambda old: -old), "out of range"),
    "sets above 0": (array("sets", lambda old: np.maximum(old, 1)), "sets .* do not match its coefficients"),
    "coefficients of 0": (array("machine.coef", lambda old: 0 * old), "do not sum to 0, or one of them is 0"),
    "search without a search": (field("kind", "RejectSVCCV"), "'C' does not exist in RejectSVCCV"),
    "kernel": (field("machine/kernel", ["evil", 1.0, 0.0, 3]), "kernel='evil' must be one of"),
    "another kernel": (field("machine/kernel", ["poly", 1.0, 0.0, 3]), KERNEL),
    "another distance": (field("machine/kernel", ["laplacian", 1.0, 0.0, 3]), KERNEL),
    "gamma": (field("machine/kernel", ["rbf", -1.0, 0.0, 3]), "gamma=-1.0 must be positive"),
    "gamma by parameter": (field("parameters/gamma", 0.5), KERNEL),
    "coef0 of the kernel": (field("machine/kernel", ["rbf", 0.5, 1.0, 3]), KERNEL),
    "degree by parameter": (field("parameters/degree", 2), KERNEL),
    "degree": (field("machine/kernel", ["poly", 1.0, 0.0, 2**40]), "is larger than a C int"),
    "long kernel": (field("machine/kernel", ["rbf", 1.0, 0.0, 3, 4]), "not given by a name and three numbers"),
    "precomputed": (field("machine/kernel", ["precomputed", 1.0, 0.0, 3]), "unknown array 'vectors'"),
    "bias": (field("machine/bias", {"float": "inf"}), "'bias' of the machine must be a finite number"),
    "whole bias": (field("machine/bias", 0), "must be a finite number"),
    "gap of nan": (field("proof/gap", {"float": "nan"}), "'gap' of the proof must be a number from 0"),
    "negative gap": (field("proof/gap", -1.0), "'gap' of the proof must be a number from 0"),
    "large gap": (field("proof/gap", 0.5), "its status is optimal"),
    "objective": (field("proof/objective", 1e9), "smaller than the difference of its objectives"),
    "dual above primal": (scaled("proof/dual_objective", 1.05), "the dual value of its proof is above the primal one"),
    "dual objective": (field("proof/dual_objective", -1.0), "smaller than the difference of its objectives"),
    "endless gap": (field("proof/gap", {"float": "inf"}), "its status is optimal, but its proof does not show that"),
    "not definite": (
        both(field("proof/definite", False), field("proof/status", "inaccurate")),
        "marked as indefinite, but this kernel is always positive semidefinite",
    ),
    "not two or more, different and sorted": (field("rule/classes", [1, 1]), "not two or more, different and sorted"),
    "classes turned": (field("rule/classes", [1, 0]), "not two or more, different and sorted"),
    "classes between numbers": (field("rule/classes", [0.5, 1.5]), f"field 'classes' {WRITES}"),
    "wide classes": (field("rule/dtype", "<U99999999"), "do not have the type"),
    "dtype": (field("rule/dtype", "i8,i8"), "do not have the type"),
    "cut short classes": (both(field("rule/classes", ["aa", "bb"]), field("rule/dtype", "<U1")), f"'classes' {WRITES}"),
    "reject label": (field("parameters/reject_label", 1), "is one of the classes"),
    "positive": (field("parameters/pos_label", 7), "pos_label=7 is not one of"),
    "costs": (field("parameters/costs", {"Costs": [1.0, 1.0, 0.9]}), "can never pay"),
    "whole costs": (
        field("parameters/costs", {"Costs": [1, 3.0, 0.3]}),
        "parameters are not formatted as the library writes",
    ),
    "negative costs": (field("parameters/costs", {"Costs": [-1.0, 1.0, 0.1]}), "must be positive"),
    "huge number": (field("parameters/C", 10**400), "outside the allowed range"),
    "tol": (field("parameters/tol", 1e-300), "its status is optimal, but its proof does not show that for tol=1e-300"),
    "threads": (field("parameters/n_jobs", 2**31 - 1), "requests more than 1024 threads"),
    "unknown value": (field("parameters/C", {"eval": "1"}), "has a type that this version does not support"),
    "a label twice": (
        field("parameters/class_weight", {"dict": [[0, 1], [0, 2]]}),
        "parameters are not formatted as the library",
    ),
}
EMBEDDED = {
    "fewer rows than support": (field("machine/n_rows", 5), "not increasing indices"),
    "linear by parameter": (field("parameters/kernel", "linear"), "does not have the kernel"),
    "a wide band": (field("rule/cuts", [1.5]), "eps must lie between 0 and 1"),
    "a negative band": (field("rule/cuts", [-0.1]), "eps must lie between 0 and 1"),
    "an endless band": (field("rule/cuts", [{"float": "inf"}]), "eps must lie between 0 and 1"),
    "a band of nan": (field("rule/cuts", [{"float": "nan"}]), "eps must lie between 0 and 1"),
    "a price that never rejects": (field("parameters/reject_cost", 0.5), "and be 0 without rejects"),
    "negative objective": (field("objective", -1.0), "objective lies below"),
    "a bound that was not asked for": (field("lower_bound", 0.1), "its lower bound is missing, or it has one"),
    "asked for a bound": (field("parameters/lower_bound", True), "its lower bound is missing, or it has one"),
    "by the dual": (field("parameters/solver", "dual"), "its lower bound is missing, or it has one"),
    "margin cost": (field("parameters/margin_cost", 0.9), "margin_cost=0.9 must lie between 0 and reject_cost"),
}
ONE_CLASS = {
    "a coefficient of 0": (array("machine.coef", lambda old: np.r_[0.0, old[1:]]), "one of them is not above 0"),
    "a negative one": (array("machine.coef", lambda old: np.r_[-old[0], old[1:]]), "one of them is not above 0"),
    "dual value": (field("proof/dual_objective", 1.0), "the dual value of its proof is above 0"),
    "another dual value": (field("proof/dual_objective", -1e9), "smaller than the difference of its objectives"),
    "objective": (field("proof/objective", 1e9), "smaller than the difference of its objectives"),
    "large gap": (field("proof/gap", 0.5), "its status is optimal"),
    "violation": (
        both(field("proof/violation", 1.0), field("proof/gap", 1e-3)),
        "is optimal, but its proof does not show that for tol=1e-06",
    ),
    "indefinite": (both(field("proof/definite", False), field("proof/status", "inaccurate")), "marked as indefinite"),
}


def planned(**values):
    """A change of how cells are read."""
    return field("preprocessing/plan", {"dates": [], "day_first": None, "missing": []} | values)


PIPELINE = {
    "scale": (array("table.scale", lambda old: 0 * old), "arrays of its StandardScaler contradict"),
    "another scale": (array("table.scale", lambda old: 1.01 * old), "arrays of its StandardScaler contradict"),
    "variance": (array("table.variance", lambda old: -old), "arrays of its StandardScaler contradict"),
    "coefficients": (shifted("machine.coef", 0, 1e-3), "do not sum to 0"),
    "names of features": (
        field("estimator/feature_names", [*"abcdefghi"]),
        "one name per feature|do not match those of its machine",
    ),
    "indicators": (array("table.indicators", lambda old: old + 5), "not increasing indices of columns"),
    "columns": (field("preprocessing/columns", ["age"]), "uses columns that its table does not have"),
    "columns twice": (field("preprocessing/columns", ["age", "age", "score", "city"]), "uses columns"),
    "categories": (field("preprocessing/categories", [["Ulm", "Bonn"]]), "not different strings in increasing order"),
    "fewer categories": (field("preprocessing/categories", [["Bonn"]]), "do not match those of its machine"),
    "one column in both parts": (field("preprocessing/categorical", ["age"]), "more than once"),
    "an empty plan": (planned(), WRITES),
    "a plan of other columns": (planned(dates=["city"]), "its dates are not numeric columns"),
    "a plan with a column twice": (planned(dates=["age", "age"]), "its dates are not numeric columns"),
    "costs of no action": (planned(costs={"good": "age", "bad": 1.0}), "not named by class and action"),
    "costs below 0": (planned(costs={"good:good": "age", "bad:good": -1.0}), "not columns or positive numbers"),
    "costs of half a class": (planned(costs=dict.fromkeys(("a:a", "a:b", "b:a"), 1.0)), "not one for each class"),
    "costs that are lists": (planned(costs={"good:good": []}), "must be text or a number"),
}
LINEAR = {
    "no bound": (field("lower_bound", None), "its lower bound is missing, or it has one that its parameters"),
    "below the bound": (field("objective", 1e-9), "its objective lies below its lower bound"),
    "a kernel": (field("machine/kernel", ["rbf", 1.0, 0.0, 3]), "lacks the field 'n_rows'"),
    "another kernel": (field("parameters/kernel", "rbf"), "does not have the kernel that its parameters name"),
}
INDICES, POINTERS = "machine.vectors_indices", "machine.vectors_indptr"
SPARSE = {
    "beyond": (array(INDICES, lambda old: old + 100), "a column outside the matrix"),
    "negative": (array(INDICES, lambda old: old - 100), "a column outside the matrix"),
    "falling": (array(POINTERS, lambda old: old[::-1]), "row pointers that do not match"),
    "short": (array(POINTERS, lambda old: old[1:]), "row pointers that do not match"),
    "unsorted": (array(INDICES, lambda old: old[::-1]), "unsorted or repeated columns"),
    "two dtypes": (array(INDICES, lambda old: old.astype("<i8")), "row pointers that do not match"),
    "dense": (field("machine/vectors", "dense"), "array 'vectors"),
}
HIGH, MORE = np.array([3, 3, 0, 0, 0]), np.array([0, 0, 1, 1, 1])
OTHER = [[True], [False], [True], [False]]  # the other gamma would be chosen
NEAR, FOUND = "tuned cuts for other pairs than those near the best", f"{KERNEL}|its score is not what"
TRIED = "the C, gamma or number of folds of its search differ"
POSSIBLE = "values of C, gamma or costs that are not possible"
SEARCH = {
    "negative costs": (array("search_costs", lambda old: -1 - old), POSSIBLE),
    "high costs": (array("search_costs", lambda old: old + 3), "mean costs above the highest cost"),
    "fewer pairs": (array("search_costs", lambda old: old[1:]), "has not tried every pair"),
    "fewer folds": (
        both(array("search_costs", lambda old: old[:, :1]), array("search_tuned", lambda old: old[:, :1])),
        TRIED,
    ),
    "no tuned costs": (array("search_tuned", lambda old: old * np.nan), POSSIBLE),
    "no costs": (array("search_costs", lambda old: old * np.nan), POSSIBLE),
    "high tuned costs": (array("search_tuned", lambda old: old + HIGH), "mean costs above the highest cost"),
    "others near": (array("search_tuned", lambda old: old + MORE), NEAR),
    "none near": (array("search_tuned", lambda old: old * [1, 1, 0, 0, 0]), NEAR),
    "no weight": (array("search_mass", np.zeros((4, 2))), "folds that test rows of no weight"),
    "not tuned": (dropped("search_tuned"), FOUND),  # another pair is the best one at Bayes' cuts
    "not asked for": (field("parameters/cuts", "bayes"), "tuned cuts that its parameters do not ask for"),
    "negative scale": (field("rule/cuts", [-1.5, 0.5]), "scale or the shift of its score is not possible"),
    "tiny scale": (field("rule/cuts", [1e-320, 0.5]), "scale or the shift of its score is not possible"),
    "the other pair": (array("search_tuned", lambda old: np.where(OTHER, old, [np.nan, np.nan, 0, 0, 0])), FOUND),
    "C unsorted": (array("search_cs", lambda old: old[::-1]), POSSIBLE),
    "other gammas": (array("search_gammas", lambda old: 2 * old), f"{TRIED}|{KERNEL}"),
    "without gamma": (array("search_gammas", lambda old: old[:0]), "has not tried every pair"),
    "endless C": (field("parameters/Cs", 2**62), TRIED),  # as many values are never made
    "other folds": (field("parameters/cv", 3), TRIED),
    "linear": (field("parameters/kernel", "linear"), TRIED),
}
TABLES = {
    "machine": MACHINE,
    "embedded": EMBEDDED,
    "embedded_linear": LINEAR,
    "one_class": ONE_CLASS,
    "pipeline": PIPELINE,
    "sparse": SPARSE,
    "search": SEARCH,
}


@pytest.mark.parametrize("kind", TABLES)
def test_forgeries(kind, request, forge):
    estimator = KINDS[kind](request)
    opened(forge(estimator, lambda _: None))  # the control
    for case, (change, message) in TABLES[kind].items():
        try:
            refused(forge(estimator, change), message)
        except BaseException as error:
            error.add_note(f"case: {case}")
            raise


COEF = "machine.coef"


@looped(change=[shifted(COEF, 0, 1e-3), array(COEF, np.abs), array(COEF, lambda old: old + 1)])
def test_coefficients_sum_to_zero_as_well_as_the_proof_says(change, data, forge):
    clf = RejectSVC(Costs(1, 3, 0.3)).fit(*data)  # polished: the violation of its proof is rounding
    refused(forge(clf, change), "do not sum to 0")


def test_a_pipeline_in_a_pipeline(pipeline, forge):
    inner = forge(pipeline, lambda inside: inside.model.update(estimator=copy.deepcopy(inside.model)))
    refused(inner, "is inside another Pipeline")


def test_an_empty_search_takes_no_time(search, forge):
    def change(inside):
        tried = {name: old[:0] for name, old in inside.arrays.items() if name.startswith("search_")}
        inside.arrays.update(tried, search_costs=np.empty((0, 2**40)))

    refused(forge(search, change), "has not tried every pair")


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
