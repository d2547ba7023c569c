"""Files of format 1 whose every checksum is right and whose contents are not: refused, whatever was altered."""

import io

import numpy as np
import pytest

from abstain.files.container import LARGEST
from abstain.files.errors import ModelFileError
from abstain.files.load import read

KINDS = ["machine", "sparse", "search", "rejector", "embedded", "embedded_kernel", "pipeline"]


def opened(raw):
    return read(io.BytesIO(raw), len(raw), LARGEST)


def fitted(way="", **values):
    """A change of some fields of what was fitted, or of a part of it."""

    def change(inside):
        part = inside.model.get("estimator", inside.model)["fitted"]
        (part[way] if way else part).update(values)

    return change


def parameters(**values):
    return lambda inside: inside.model.get("estimator", inside.model)["parameters"].update(values)


def array(name, value):
    def change(inside):
        inside.arrays[name] = value(inside.arrays[name]) if callable(value) else value

    return change


def dropped(name):
    return lambda inside: inside.arrays.pop(name)


def turned(inside):
    decisions = inside.model.get("estimator", inside.model)["fitted"]["decisions"]
    decisions["positive"] = next(label for label in decisions["classes"] if label != decisions["positive"])


def reject_for_more(inside):
    known = inside.model.get("estimator", inside.model)["parameters"]
    known.update({"reject_cost": 0.25} if "reject_cost" in known else {"costs": {"Costs": [1.0, 1.0, 0.25]}})


NAN = {"float": "nan"}
DECISIONS = "its decisions do not match its parameters"
SAME = "its weights, sets or numbers of support vectors"
SEARCH = "the choice or the tried values of its search do not match its scores"
RULE = {  # what was written of the decisions, in every kind of file
    "thresholds": (fitted("decisions", thresholds={"Thresholds": [-0.5, 0.25]}), f"{DECISIONS}|'cuts'"),
    "thresholds crossed": (fitted("decisions", thresholds={"Thresholds": [1.0, -1.0]}), "must not exceed|'cuts'"),
    "no thresholds": (fitted("decisions", thresholds=3), "its contents are not a model"),
    "cut": (fitted("decisions", cut=0.1), f"{DECISIONS}|'cuts'"),
    "costs": (fitted("decisions", costs={"Costs": [1.0, 1.0, 0.25]}), DECISIONS),
    "no costs": (fitted("decisions", costs=None), DECISIONS),
    "costs by parameter": (reject_for_more, f"{DECISIONS}|'cuts'"),
    "positive": (turned, DECISIONS),
    "positive that is not a class": (fitted("decisions", positive="dead"), DECISIONS),
    "pos_label": (parameters(pos_label="dead"), "pos_label='dead' is not one of"),
    "reject label": (fitted("decisions", reject_label="ask"), DECISIONS),
    "rejects": (fitted("decisions", rejects=False), DECISIONS),
    "rejects by number": (fitted("decisions", rejects=1), DECISIONS),
    "log-odds": (fitted("decisions", log_odds_per_score=2.0), DECISIONS),
    "classes turned": (
        fitted("decisions", classes=["well", "ill"]),
        "field 'classes' differs from what|the classes of its classifier differ",
    ),
    "three classes": (
        fitted("decisions", classes=["a", "b", "c"]),
        "3 classes|the classes of its classifier differ|do not have the type|does not match the other",
    ),
    "dtype": (fitted("decisions", dtype="|O8"), "do not have the type"),
    "a field more": (fitted("decisions", evil=1), "unknown field 'evil'"),
    "a field of the machine": (fitted(evil=1), "unknown field 'evil'"),
    "no decisions": (fitted(decisions=None), "has the wrong type"),
}
MACHINE = {
    "gap of nan": (fitted(certificate=[1.0, 1.0, NAN, 0.0]), "four numbers"),
    "short certificate": (fitted(certificate=[1.0]), "four numbers"),
    "long certificate": (fitted(certificate=[1.0, 1.0, 0.0, 0.0, 0.0]), "four numbers"),
    "large gap": (fitted(certificate=[1.0, 1.0, 0.5, 0.0]), "its status is optimal"),
    "unproven": (fitted(certificate=[1.0, 0.5, 0.5, 0.0]), "its status is optimal, but its proof does not show that"),
    "indefinite": (fitted(indefinite=True, status="inaccurate"), "marked as indefinite|differs from what"),
    "status": (fitted(status="perfect"), "'perfect', which is not allowed"),
    "iterations": (fitted(n_iter=-1), "must be an integer"),
    "set names": (fitted(set_names=["I_0"]), SAME),
    "kernel": (fitted(kernel=["sigmoid", 1.0, 0.0, 3]), "the kernel, gamma, coef0 or degree of its machine differs"),
    "long kernel": (fitted(kernel=["rbf", 1.0, 0.0, 3, 4]), "not given by a name and three numbers"),
    "degree": (parameters(degree=9), "the kernel, gamma, coef0 or degree of its machine differs"),
    "n_support": (array("n_support", lambda old: old + np.array([1, -1], dtype=old.dtype)), SAME),
    "n_support too many": (array("n_support", lambda old: old + 1), SAME),
    "no n_support": (dropped("n_support"), "lacks the array 'n_support'"),
    "no weight": (dropped("weight"), "lacks the array 'weight'"),
    "weights of 0": (array("weight", lambda old: 0 * old), SAME),
    "weights below 0": (array("weight", lambda old: -old), SAME),
    "fewer weights": (array("weight", lambda old: old[1:]), "does not match the other fields"),
    "sets": (array("sets", lambda old: old + 9), "out of range"),
    "sets of 0": (array("sets", lambda old: 0 * old), "do not match its coefficients"),
    "coefficients": (array("dual_coef", np.abs), "do not sum to 0"),
    "flat coefficients": (array("dual_coef", lambda old: old[0]), "wrong dtype or number of axes"),
    "intercept": (array("intercept", lambda old: old * np.inf), "NaN or infinity"),
    "two intercepts": (array("intercept", lambda old: np.append(old, 1.0)), "does not match the other fields"),
    "support": (array("support", lambda old: old[::-1]), "not increasing indices"),
    "unknown array": (array("evil", np.zeros(1)), "unknown array 'evil'"),
}
SEARCHED = {
    "chosen C": (fitted(chosen=[1.0, 0.04239071537431951, -0.2416666666666667]), SEARCH),
    "chosen gamma": (fitted(chosen=[1000.0, 1.0, -0.2416666666666667]), SEARCH),
    "best score": (fitted(chosen=[1000.0, 0.04239071537431951, 0.0]), SEARCH),
    "two chosen": (fitted(chosen=[1000.0, 0.04239071537431951]), SEARCH),
    "mean": (array("search_mean", lambda old: old + 0.1), SEARCH),
    "deviation": (array("search_std", lambda old: old + 0.1), SEARCH),
    "rank": (array("search_rank", lambda old: old + 1), SEARCH),
    "pairs in another order": (array("search_c", lambda old: old[::-1]), SEARCH),
    "scores": (
        array("search_scores", lambda old: old[::-1]),
        f"{SEARCH}|the kernel, gamma, coef0 or degree of its machine",
    ),
    "C": (array("search_c", lambda old: 2 * old), "the C, gamma or number of folds of its search differ"),
    "no C": (dropped("search_c"), "lacks the array 'search_c'"),
    "gamma for some": (array("search_gamma", lambda old: old[1:]), "does not match the other fields"),
}
EMBEDDED = {
    "band": (fitted("decisions", thresholds={"Thresholds": [-0.5, 0.25]}), DECISIONS),
    "wide band": (fitted("decisions", thresholds={"Thresholds": [-1.5, 1.5]}), "eps must lie between 0 and 1"),
    "kernel": (
        fitted(kernel=["poly", 1.0, 0.0, 3]),
        "not the linear one of its parameters|the kernel, gamma, coef0 or degree of its machine differs",
    ),
    "rows": (fitted(n_rows=0), "must be an integer >= 1"),
    "risk": (fitted(training_risk=2.0), "does not lie between 0 and 1"),
    "objective": (fitted(objective=-1.0), "objective lies below"),
    "bound": (fitted(lower_bound=1e9), "below its lower bound|its lower bound is missing, or it has one"),
}
REJECTOR = {
    "rows cut elsewhere": (fitted(rows=[0.5, ""]), "the cut of its rows differs from the cut of its score"),
    "rows that are not described": (
        fitted(rows=[0.0]),
        "the description of the rows that its thresholds were tuned on is not valid",
    ),
    "no rows": (fitted(rows=None), "unknown array 'rows_score'"),
    "certificate": (fitted(certificate=[0.1, 0.9, 24, 24, 0]), "'error_bound' differs from what"),
    "probabilities": (fitted(response_method="predict_proba"), "'cuts' differs from what|'method' differs from what"),
    "signs": (array("rows_sign", lambda old: -old), "'cuts' differs from what"),
    "fitted inside": (lambda inside: inside.model["wrapped"].update(fitted={"x": 1}), "unknown field 'x'"),
}


FORGERIES = [
    *((kind, case, RULE) for kind in KINDS for case in RULE),
    *((kind, case, MACHINE) for kind in ("machine", "search") for case in MACHINE),
    *(("search", case, SEARCHED) for case in SEARCHED),
    *((kind, case, EMBEDDED) for kind in ("embedded", "embedded_kernel") for case in EMBEDDED),
    *(("rejector", case, REJECTOR) for case in REJECTOR),
]


@pytest.mark.parametrize(("kind", "case", "cases"), FORGERIES, ids=[f"{kind}, {case}" for kind, case, _ in FORGERIES])
def test_forgeries(kind, case, cases, forge_stored):
    change, message = cases[case]
    with pytest.raises(ModelFileError, match=message):
        opened(forge_stored(kind, change))


@pytest.mark.parametrize("kind", KINDS)
def test_the_control_is_not_refused(kind, forge_stored):
    opened(forge_stored(kind, lambda _: None))


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_is_left_unread(kind, forge_stored):
    """Without any one of its fields or arrays, a file is refused; only parameters have defaults."""
    paths, names = [], []

    def listed(value, path):
        for key, one in value.items() if isinstance(value, dict) else ():
            paths.append((*path, key))
            listed(one, (*path, key))

    forge_stored(kind, lambda inside: (listed(inside.model, ()), names.extend(inside.arrays)))

    def without(path):
        def change(inside):
            part = inside.model
            for step in path[:-1]:
                part = part[step]
            del part[path[-1]]

        return change

    for path in paths:
        if "parameters" not in path[:-1]:
            with pytest.raises(ModelFileError):
                opened(forge_stored(kind, without(path)))
    for name in names:
        with pytest.raises(ModelFileError):
            opened(forge_stored(kind, dropped(name)))


def chow(inside):
    """The rejector of 0.1 by Chow's rule: on the probability, with nothing tuned."""
    inside.model["parameters"]["method"] = "chow"
    bayes = {"thresholds": {"Thresholds": [0.1, 0.7]}, "cut": 0.25}  # of Costs(1, 3, 0.3), by hand
    inside.model["fitted"]["decisions"].update(bayes)
    inside.model["fitted"].update(response_method="predict_proba", rows=None)
    for name in ("score", "sign", "weight"):
        inside.arrays.pop(f"rows_{name}")


def budget(inside):
    """The same by a budget of rejects: tuned on probabilities."""
    inside.model["parameters"].update(method="chow", costs=None, reject_rate=0.25)
    score = inside.arrays["rows_score"]
    inside.arrays["rows_score"] = 1 / (1 + np.exp(-score))
    inside.model["fitted"]["decisions"].update(costs=None, cut=0.5, thresholds={"Thresholds": [0.4, 0.6]})
    inside.model["fitted"].update(response_method="predict_proba", rows=[0.5, ""])


def test_scores_that_were_probabilities_become_log_odds(forge_stored):
    clf = opened(forge_stored("rejector", chow))
    X = np.random.default_rng(0).normal(size=(200, 2))
    p = clf.estimator_.predict_proba(X)[:, 1]
    expected = np.select([p > 0.7, p < 0.1], ["well", "ill"], "reject")
    np.testing.assert_array_equal(clf.predict(X), expected)
    np.testing.assert_array_equal(clf.predict_forced(X), np.where(p > 0.25, "well", "ill"))
    tuned = opened(forge_stored("rejector", budget))
    assert np.mean(np.abs(tuned._fitted_.rows.score) <= tuned.thresholds_.upper) == 0.25
    with pytest.raises(ModelFileError, match=DECISIONS):
        opened(forge_stored("rejector", lambda inside: (chow(inside), fitted("decisions", cut=0.3)(inside))))
