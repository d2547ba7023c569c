"""Forged trees and calibrations, all checksums right: scikit-learn would follow their indices anywhere."""

import time

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier

from abstain import Costs, ThresholdRejector, save
from files import forging
from files.forging import both, field, opened, refused
from looping import looped


def changed(name, function):
    """A change of one array of the classifier."""
    return forging.array(f"classifier.{name}", function)


def entry(name, at, value):
    return forging.entry(f"classifier.{name}", at, value)


def a_leaf(name, value):
    """A change of what the first leaf contains."""

    def change(inside):
        leaf = int(np.flatnonzero(inside.arrays["classifier.left"] == -1)[0])
        entry(name, leaf, value)(inside)

    return change


BRANCHES = "whose branches do not lead to later nodes of the same tree"
REACHED = "a node that no branch or more than one leads to"
SIZES = "the sizes of its trees do not add up"
TREES = {
    "beyond the tree": (entry("left", 0, 2**31 - 1), BRANCHES),
    "into the next tree": (lambda inside: entry("right", 0, inside.arrays["classifier.sizes"][0])(inside), BRANCHES),
    "before the tree": (entry("left", 0, -5), BRANCHES),
    "to itself": (entry("left", 0, 0), BRANCHES),
    "a loop": (lambda inside: entry("left", inside.arrays["classifier.left"][0], 0)(inside), BRANCHES),
    "one branch": (entry("right", 0, -1), BRANCHES),
    "a leaf with a branch": (a_leaf("right", 2), BRANCHES),
    "both branches to one node": (changed("right", lambda array: array.__setitem__(0, 1)), REACHED),
    "a root that is a leaf": (
        both(*(entry(name, 0, value) for name, value in [("left", -1), ("right", -1), ("feature", -1)])),
        f"{REACHED}|{BRANCHES}",
    ),
    "sizes of 0": (changed("sizes", lambda array: 0 * array), SIZES),
    "huge sizes": (changed("sizes", lambda array: array.fill(2**63 - 1)), SIZES),
    "a size too large": (entry("sizes", 0, 10**6), SIZES),
    "sizes of other trees": (changed("sizes", lambda array: np.array([1, array.sum() - 2, 1])), BRANCHES),
    "no trees": (changed("sizes", lambda array: array[:0]), "0 trees, but must have from 1|does not match the other"),
    "feature beyond": (entry("feature", 0, 3), "split on features that do not exist"),
    "a leaf with a feature": (a_leaf("feature", 1), "split on features that do not exist"),
    "a leaf with a threshold": (a_leaf("threshold", 1.0), "a leaf with a threshold"),
    "a leaf with -0": (a_leaf("threshold", -0.0), "a leaf with a threshold"),
    "a leaf with a way for missing values": (a_leaf("missing", 1), "a leaf with a threshold"),
    "missing values go nowhere": (entry("missing", 0, 2), "neither to the left nor to the right"),
    "count of 0": (a_leaf("count", 0), "no training row reached"),
    "negative counts": (changed("count", lambda array: -array), "no training row reached"),
    "counts that overflow": (changed("count", lambda array: array.fill(2**63 - 1)), "no training row reached, or too"),
    "another count": (entry("count", 0, 7), "counts other rows than the two nodes below it"),
    "warm_start": (field("classifier/parameters/warm_start", True), "not formatted|warm_start=True, which"),
    "another classifier": (field("classifier/kind", "ExtraTreesClassifier"), "not 'ExtraTreesClassifier'"),
    "an array of another order": (
        lambda inside: inside.arrays.update({"rows_sign": inside.arrays.pop("rows_sign")}),
        "not in the order",
    ),
}
FOREST = TREES | {
    "probability above 1": (changed("value", lambda array: array * 2), "do not lie between 0 and 1"),
    "probabilities that do not sum to 1": (changed("value", lambda array: array / 2), "do not lie between 0 and 1"),
    "weights of 0": (changed("weight", lambda array: 0 * array), "or weights of 0"),
    "a negative seed": (entry("seeds", 0, -1), "a random_state that is not possible"),
    "other max_features": (field("classifier/max_features", 2), "its max_features differ from those of its trees"),
    "more trees by parameter": (field("classifier/parameters/n_estimators", 4), "number of trees differs"),
    "threads": (field("classifier/parameters/n_jobs", 10**6), "not formatted as|requests more than 1024 threads"),
}
BINS = "split at bins that do not match the features or the thresholds"
ITERATIONS = "its number of iterations differs from max_iter"
BOOSTING = TREES | {
    "bins of 0": (changed("bins", lambda array: 0 * array), "a feature with no bins, or with more than max_bins"),
    "many bins": (entry("bins", 0, 256), "a feature with no bins, or with more than max_bins"),
    "a bin beyond": (entry("bin", 0, 255), BINS),
    "a negative bin": (entry("bin", 0, -1), BINS),
    "a leaf with a bin": (a_leaf("bin", 1), BINS),
    "finite where only missing values go right": (
        changed("threshold", lambda array: np.where(np.isinf(array), 0.5, array)),
        BINS,
    ),
    "counts beyond 32 bits": (a_leaf("count", 2**32), "no training row reached, or too many"),
    "scores": (changed("train_score", lambda _: np.zeros(2)), "are not one for each iteration"),
    "fewer iterations": (field("classifier/parameters/max_iter", 1), ITERATIONS),
    "more iterations": (
        both(field("classifier/early_stopping", False), field("classifier/parameters/max_iter", 9)),
        ITERATIONS,
    ),
    "max_bins": (field("classifier/parameters/max_bins", 3), "not formatted as|more than max_bins"),
    "constraints": (field("classifier/parameters/monotonic_cst", [1]), "not formatted as|monotonic_cst=.*, which"),
}
CURVES = "scores or probabilities that do not increase, or lie outside 0 to 1"
FOLDS = "do not add up to that of the file's"
ISOTONIC = {
    "unsorted scores": (changed("scores", lambda array: array[::-1]), CURVES),
    "equal scores": (changed("scores", lambda array: 0 * array), CURVES),
    "falling": (changed("probabilities", lambda array: array[::-1]), CURVES),
    "above 1": (changed("probabilities", lambda array: array + 1), CURVES),
    "below 0": (changed("probabilities", lambda array: array - 1), CURVES),
    "lengths of 0": (changed("lengths", lambda array: 0 * array), "lengths of its curves do not add up"),
    "huge lengths": (changed("lengths", lambda array: array.fill(2**63 - 1)), "lengths of its curves do not add up"),
    "other lengths": (changed("lengths", lambda array: array + np.array([[1], [-1]])), CURVES),
    "temperature": (field("classifier/parameters/method", "temperature"), "temperature"),
    "a machine with other classes": (field("classifier/classifiers/0/rule/classes", [0, 2]), "classes of its class"),
    "a machine with other parameters": (field("classifier/classifiers/1/parameters/cache_size", 9.0), "parameters of"),
    "another kernel": (field("classifier/classifiers/1/parameters/kernel", "poly"), "the kernel, gamma, coef0"),
    "rows of the other fold": (field("classifier/lengths/sets", [29, 31]), "does not match|do not match|indices"),
}
SIGMOIDS = {
    "no folds": (field("classifier/classifiers", []), "it has 0 classifiers"),
    "a hundred and one folds": (field("classifier/classifiers", [{}] * 101), "it has 101 classifiers"),
    "a fold of nothing": (field("classifier/classifiers", [None]), "does not match the other fields"),
    "lengths": (field("classifier/lengths/left", [0, 0]), FOLDS),
    "negative lengths": (field("classifier/lengths/left", [-1, 15]), FOLDS),
    "huge lengths": (field("classifier/lengths/left", [2**62, -(2**62)]), FOLDS),
    "whole lengths": (field("classifier/lengths/left", [7.0, 7.0]), FOLDS),
    "a rejector inside": (field("classifier/classifiers/0/kind", "ThresholdRejector"), "must be one of"),
    "a calibration inside": (field("classifier/classifiers/0/kind", "CalibratedClassifierCV"), "must be one of"),
    "two kinds": (field("classifier/classifiers/1/kind", "LogisticRegression"), "does not exist in LogisticRegression"),
    "frozen": (field("classifier/frozen", True), "with 2 classifiers"),
    "added": (field("sigmoid_added", True), "a sigmoid that its parameters do not call for"),
    "not ensemble": (field("classifier/parameters/ensemble", False), "not formatted|although ensemble is False"),
    "curves": (field("classifier/parameters/method", "isotonic"), "not formatted as|array '"),
    "features": (field("classifier/n_features", 4), "the features of its classifiers differ"),
    "names": (field("classifier/feature_names", [*"abc"]), "the features of its classifiers differ"),
    "ten thousand classes": (
        lambda inside: inside.model["rule"].update(classes=[*range(10_001)], cuts=[]),
        "it has 2 classifiers with a calibration, not from 1 to 100|curves",
    ),
    "a tree out of bounds": (entry("fold.left", 0, 10**6), BRANCHES),
    "more trees than a model may have": (
        lambda inside: inside.arrays.update({"classifier.fold.sizes": np.ones(2**15 + 1, dtype=np.int64)}),
        "more than 32,768 trees",
    ),
}
TABLES = {"forest": FOREST, "boosting": BOOSTING, "curves": ISOTONIC, "sigmoids": SIGMOIDS}


@pytest.mark.parametrize("kind", TABLES)
def test_forgeries(kind, request, forge, data):
    estimator = request.getfixturevalue(kind)
    loaded = opened(forge(estimator, lambda _: None))  # the control
    assert loaded.predict(data[0]).tolist() == estimator.predict(data[0]).tolist()

    @looped(case=TABLES[kind])
    def every(case):
        change, message = TABLES[kind][case]
        refused(forge(estimator, change), message)

    every()


def test_another_rule_for_all_rows_is_not_saved_and_forged_shares_are_refused(forge, data, tmp_path):
    estimator = ThresholdRejector(DummyClassifier(strategy="prior"), Costs(reject=0.4), method="chow").fit(*data)
    assert opened(forge(estimator, lambda _: None)).predict(data[0]).tolist() == estimator.predict(data[0]).tolist()
    refused(forge(estimator, changed("class_prior", lambda prior: np.nan * prior)), ".")
    refused(forge(estimator, changed("class_prior", lambda prior: np.append(prior, 0.0))), ".")
    other = ThresholdRejector(DummyClassifier(strategy="stratified"), Costs(reject=0.4), method="chow").fit(*data)
    with pytest.raises(ValueError, match=r"strategy='stratified'.*use strategy='prior'"):
        save(other, tmp_path / "model")


def test_a_tree_as_deep_as_it_has_nodes_takes_no_longer(forest, forge, data):
    """A chain: every second node is a leaf. Its depth is found without walking it."""
    steps = 100_000
    inner = np.arange(2 * steps + 1) % 2 == 0
    inner[-1] = False

    def chain(inside):
        own = np.arange(2 * steps + 1)
        values = {
            "left": np.where(inner, own + 1, -1).astype("<i4"),
            "right": np.where(inner, own + 2, -1).astype("<i4"),
            "feature": np.where(inner, 0, -1).astype("<i4"),
            "threshold": np.where(inner, -1e9, 0.0),
            "missing": np.zeros(len(own), dtype="|i1"),
            "count": np.where(own % 2, 1, steps + 1 - own // 2),
            "value": np.tile([0.25, 0.75], (len(own), 1)),
            "impurity": np.zeros(len(own)),
            "weight": np.ones(len(own)),
            "sizes": np.array([len(own)]),
            "seeds": np.array([0]),
        }
        inside.arrays.update({f"classifier.{name}": value for name, value in values.items()})
        inside.model["classifier"]["parameters"]["n_estimators"] = 1

    raw = forge(forest, chain)
    start = time.process_time()
    loaded = opened(raw)
    assert time.process_time() - start < 5
    assert loaded.estimator_.estimators_[0].get_depth() == steps
    np.testing.assert_array_equal(loaded.predict_proba(data[0][:3]), [[0.25, 0.75]] * 3)


def test_more_trees_than_a_model_may_have(forest, forge):
    def many(inside):
        inside.arrays["classifier.sizes"] = np.ones(2**15 + 1, dtype=np.int64)
        inside.arrays["classifier.seeds"] = np.zeros(2**15 + 1, dtype=np.int64)

    refused(forge(forest, many), "32,769 trees, but must have from 1 to 32,768")
