"""Files whose every checksum is right and whose contents are not: refused with the reason, or at least harmless."""

import copy
import io
import random

import numpy as np
import pytest
from scipy import sparse

from abstain import RejectSVC
from abstain.files.container import LARGEST
from abstain.files.errors import ModelFileError
from abstain.files.load import read


def opened(raw):
    return read(io.BytesIO(raw), len(raw), LARGEST)


def field(path, value):
    """A change of one field of the model, by its path."""

    def change(inside):
        *way, last = path.split("/")
        part = inside.model
        for step in way:
            part = part[step]
        part[last] = value

    return change


def array(name, value):
    """A change of one array: a new one, or a function of the old one."""

    def change(inside):
        inside.arrays[name] = value(inside.arrays[name]) if callable(value) else value

    return change


def dropped(name):
    return lambda inside: inside.arrays.pop(name)


MACHINE = {
    "nan": (array("dual_coef", lambda old: old * np.nan), "'dual_coef' holds NaN or infinity"),
    "infinity": (array("vectors", lambda old: old + np.inf), "'vectors' holds NaN or infinity"),
    "float32": (array("dual_coef", lambda old: old.astype("<f4")), "wrong dtype or number of axes"),
    "axes": (array("dual_coef", lambda old: old[0]), "wrong dtype or number of axes"),
    "one coefficient less": (array("dual_coef", lambda old: old[:, 1:]), "does not fit the other fields"),
    "one feature less": (array("vectors", lambda old: old[:, 1:]), "does not fit the other fields"),
    "another number of features": (field("n_features", 4), "does not fit the other fields"),
    "missing array": (dropped("weight"), "lacks the array 'weight'"),
    "unknown array": (array("evil", np.zeros(1)), "has an unknown array 'evil'"),
    "support out of range": (array("support", lambda old: old + 1000), "not increasing indices"),
    "negative support": (array("support", lambda old: old - 1000), "not increasing indices"),
    "support unsorted": (array("support", lambda old: old[::-1]), "not increasing indices"),
    "counts": (array("n_support", lambda old: old + 1), "do not sum"),
    "counts overflow": (array("n_support", np.array([2**31 - 1, 2**31 - 1], "<i4")), "do not sum"),
    "sets": (array("sets", lambda old: old + 9), "out of range"),
    "weights": (array("weight", lambda old: -old), "out of range"),
    "kind": (field("kind", "os.system"), "'kind' of the model is 'os.system', which it cannot be"),
    "search without a search": (field("kind", "RejectSVCCV"), "'C' is none of RejectSVCCV"),
    "kernel": (field("fitted/kernel", ["evil", 1.0, 0.0, 3]), "kernel='evil' must be one of"),
    "gamma": (field("fitted/kernel", ["rbf", -1.0, 0.0, 3]), "gamma=-1.0 must be positive"),
    "degree": (field("fitted/kernel", ["poly", 1.0, 0.0, 2**40]), "more than an int holds"),
    "short kernel": (field("fitted/kernel", ["rbf"]), "not given by a name and three numbers"),
    "precomputed": (field("fitted/kernel", ["precomputed", 1.0, 0.0, 3]), "unknown array 'vectors'"),
    "set names": (field("fitted/set_names", ["I_0"]), "not those of any loss"),
    "status": (field("fitted/status", "perfect"), "'status' of the machine is 'perfect'"),
    "iterations": (field("fitted/n_iter", -1), "must be an integer >= 0"),
    "certificate": (field("fitted/certificate", [1.0]), "four numbers"),
    "unknown field": (field("fitted/__class__", "x"), "field '__class__' that is not known"),
    "storage": (field("fitted/vectors", "csr_array"), "array 'vectors"),
    "three classes": (field("fitted/decisions/classes", [0, 1, 2]), "3 classes"),
    "one class": (field("fitted/decisions/classes", [1, 1]), "one class"),
    "classes turned": (field("fitted/decisions/classes", [1, 0]), "do not go together"),
    "mixed classes": (field("fitted/decisions/classes", [0, "a"]), "not of the kind"),
    "wide classes": (field("fitted/decisions/dtype", "<U99999999"), "not of the kind"),
    "object classes": (field("fitted/decisions/dtype", "|O"), "not of the kind"),
    "dtype": (field("fitted/decisions/dtype", "i8,i8"), "not of the kind"),
    "reject label": (field("fitted/decisions/reject_label", 1), "is one of the classes"),
    "no reject label": (field("fitted/decisions/reject_label", None), "do not go together"),
    "positive": (field("fitted/decisions/positive", 7), "pos_label=7 is not one of"),
    "costs": (field("fitted/decisions/costs", {"Costs": [1.0, 1.0, 0.9]}), "can never pay"),
    "negative costs": (field("parameters/costs", {"Costs": [-1.0, 1.0, 0.1]}), "must be positive"),
    "huge number": (field("parameters/C", 10**400), "beyond what a model can have"),
    "C": (field("parameters/C", -1.0), "The 'C' parameter"),
    "threads": (field("parameters/n_jobs", 2**31 - 1), "asks for more than 1024 threads"),
    "unknown parameter": (field("parameters/evil", 1), "'evil' is none of RejectSVC"),
    "unknown value": (field("parameters/C", {"eval": "1"}), "of a kind that this version does not know"),
    "thresholds": (field("fitted/decisions/thresholds", {"Thresholds": [1.0, -1.0]}), "must not exceed upper"),
    "other thresholds": (field("fitted/decisions/thresholds", 3), "costs or thresholds are something else"),
    "names of features": (field("feature_names", ["a"]), "not one text for each feature"),
}
EMBEDDED = {
    "nan": (array("dual_coef", lambda old: old * np.nan), "'dual_coef' holds NaN or infinity"),
    "one coefficient less": (array("dual_coef", lambda old: old[:, 1:]), "does not fit the other fields"),
    "one feature less": (array("vectors", lambda old: old[:, 1:]), "does not fit the other fields"),
    "missing array": (dropped("intercept"), "lacks the array 'intercept'"),
    "weights as well": (array("coef", np.zeros((1, 3))), "has an unknown array 'coef'"),
    "support out of range": (array("support", lambda old: old + 1000), "not increasing indices"),
    "fewer rows than support": (field("fitted/n_rows", 5), "not increasing indices"),
    "no rows": (field("fitted/n_rows", 0), "must be an integer >= 1"),
    "linear": (field("fitted/kernel", ["linear", 1.0, 0.0, 3]), "unknown array|not known|lacks the array"),
    "precomputed": (field("fitted/kernel", ["precomputed", 1.0, 0.0, 3]), "unknown array 'vectors'"),
    "status": (field("fitted/status", "optimal"), "'status' of the machine is 'optimal', which it cannot be"),
    "another lower threshold": (field("fitted/decisions/thresholds", {"Thresholds": [-0.5, 0.25]}), "not -eps and eps"),
    "a wide band": (field("fitted/decisions/thresholds", {"Thresholds": [-1.5, 1.5]}), "not -eps and eps"),
    "an endless band": (
        field("fitted/decisions/thresholds", {"Thresholds": [{"float": "-inf"}, {"float": "inf"}]}),
        "not -eps and eps",
    ),
    "no costs": (field("fitted/decisions/costs", None), "errors that cost 1"),
    "dear errors": (field("fitted/decisions/costs", {"Costs": [2.0, 1.0, 0.2]}), "errors that cost 1"),
    "two prices": (field("fitted/decisions/costs", {"Costs": [1.0, 1.0, {"tuple": [0.1, 0.2]}]}), "errors that cost 1"),
    "a price that never rejects": (field("fitted/decisions/costs", {"Costs": [1.0, 1.0, 0.5]}), "do not agree"),
    "labels that never reject": (field("fitted/decisions/rejects", False), "have no name for a reject"),
    "cut": (field("fitted/decisions/cut", 0.1), "cut elsewhere"),
    "log-odds": (field("fitted/decisions/log_odds_per_score", 1.0), "declared to be log-odds"),
    "risk": (field("fitted/training_risk", 1.5), "does not lie between 0 and 1"),
    "objective": (field("fitted/objective", "x"), "'objective' of the machine is of the wrong kind"),
    "bound": (field("fitted/lower_bound", "x"), "lower bound is no number"),
    "unknown field": (field("fitted/eps", 0.1), "field 'eps' that is not known"),
    "reject cost": (field("parameters/reject_cost", 2.0), "reject_cost=2 must lie in"),
    "margin cost": (field("parameters/margin_cost", 0.9), "margin_cost=0.9 must lie between 0 and reject_cost"),
    "starts": (field("parameters/n_starts", -1), "The 'n_starts' parameter"),
    "kind": (field("kind", "RejectSVC"), "is none of RejectSVC"),
}
PIPELINE = {
    "scale": (array("table.scale", lambda old: 0 * old), "divides by a scale"),
    "statistics": (array("table.statistics", lambda old: old[1:]), "does not fit the other fields"),
    "indicators": (array("table.indicators", lambda old: old + 5), "do not fit its numeric columns"),
    "columns": (field("preprocessing/columns", ["age"]), "uses columns that its table does not have"),
    "columns twice": (field("preprocessing/columns", ["age", "age", "score", "city"]), "uses columns"),
    "categories": (field("preprocessing/categories", [["Ulm", "Bonn"]]), "not texts in rising order"),
    "fewer categories": (field("preprocessing/categories", [["Bonn"]]), "and its machine wants others"),
    "numbers for categories": (field("preprocessing/categories", [[1, 2]]), "not texts in rising order"),
    "one column in both parts": (field("preprocessing/categorical", ["age"]), "more than once"),
    "rows seen": (field("preprocessing/n_samples_seen", 0), "must be an integer >= 1"),
}


@pytest.mark.parametrize("case", MACHINE)
def test_machines(case, machine, forge):
    change, message = MACHINE[case]
    with pytest.raises(ModelFileError, match=message):
        opened(forge(machine, change))


@pytest.mark.parametrize("case", EMBEDDED)
def test_embedded_machines(case, embedded, forge):
    change, message = EMBEDDED[case]
    with pytest.raises(ModelFileError, match=message):
        opened(forge(embedded, change))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (array("coef", lambda old: old[:, 1:]), "does not fit the other fields"),
        (array("coef", lambda old: old + np.inf), "'coef' holds NaN or infinity"),
        (array("support", np.arange(3)), "has an unknown array 'support'"),
        (field("n_features", 4), "does not fit the other fields"),
        (field("fitted/kernel", ["rbf", 1.0, 0.0, 3]), "lacks the field 'vectors'"),
    ],
    ids=["short", "infinite", "support", "features", "kernel"],
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
    with pytest.raises(ModelFileError, match="stands inside another"):
        opened(forge(pipeline, lambda inside: inside.model.update(estimator=copy.deepcopy(inside.model))))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (array("vectors_indices", lambda old: old + 100), "a column outside the features"),
        (array("vectors_indices", lambda old: old - 100), "a column outside the features"),
        (array("vectors_indptr", lambda old: old[::-1]), "row pointers that do not fit"),
        (array("vectors_indptr", lambda old: old[1:]), "row pointers that do not fit"),
        (array("vectors_indices", lambda old: old[::-1]), "unsorted or repeated columns"),
    ],
    ids=["beyond", "negative", "falling", "short", "unsorted"],
)
def test_sparse_support_vectors(change, message, data, forge):
    X, y = data
    machine = RejectSVC().fit(sparse.csr_array(X), y)
    with pytest.raises(ModelFileError, match=message):
        opened(forge(machine, change))


def test_an_empty_search_takes_no_time(search, forge):
    def change(inside):
        tried = {name: old[:0] for name, old in inside.arrays.items() if name.startswith("search_")}
        inside.arrays.update(tried, search_scores=np.empty((0, 2**40)))

    with pytest.raises(ModelFileError, match="has tried nothing"):
        opened(forge(search, change))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (array("search_scores", lambda old: old * np.nan), "means of its search are not missing where"),
        (array("search_mean", lambda old: old * np.nan), "means of its search are not missing where"),
        (array("search_scores", lambda old: old - np.inf), "'search_scores' holds NaN or infinity"),
        (array("search_c", lambda old: old * np.nan), "'search_c' holds NaN or infinity"),
    ],
    ids=["scores", "means", "infinite", "C"],
)
def test_missing_scores_of_a_search(change, message, search, forge):
    with pytest.raises(ModelFileError, match=message):
        opened(forge(search, change))


ODD = [None, True, 0, -1, 3, 2**63, 0.5, -0.0, 1e308, "", "x", "auto", "__class__", [], [1], {}, {"float": "nan"}]
ODD += [{"Costs": [1, 1, 0.1]}, {"tuple": []}, {"dict": [[1, 2]]}, {"array": ["<f8", [1]]}, {"KFold": [2, False, None]}]


def nodes(value, found):
    """All places of a JSON value, as (container, key)."""
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, one in entries:
        found.append((value, key))
        nodes(one, found)
    return found


@pytest.mark.parametrize("kind", ["machine", "search", "embedded", "embedded_linear", "pipeline"])
def test_random_alterations_are_refused_or_harmless(kind, request, forge, data, table):
    estimator = request.getfixturevalue(kind)
    rows = table[0] if kind == "pipeline" else data[0]
    rng = random.Random(3)  # noqa: S311
    taken = 0

    def change(inside):
        container, key = rng.choice(nodes(inside.model, []))
        if rng.random() < 0.2:
            del container[key]
        else:
            container[key] = rng.choice(ODD)

    for _ in range(300):
        try:
            loaded = opened(forge(estimator, change))
        except ModelFileError:
            continue
        taken += 1
        assert type(loaded) is type(estimator)
        try:
            score = loaded.decision_function(rows)
        except ValueError:
            continue
        assert np.isfinite(score).all()
    assert 0 < taken < 150
