"""A fitted RandomForestClassifier or HistGradientBoostingClassifier as fields and arrays, and back.

The splits of many trees lie in a few arrays, checked so that following them ends in a leaf and reads nothing else:
scikit-learn follows the indices of a tree without looking at them, and an index outside the tree, or a loop, would
crash or hang the interpreter. All trees lie one after the other; `sizes` gives the number of nodes of each::

    node: left, right  the nodes below it, counted from the root of its tree; -1 and -1 in a leaf
          feature      the column that decides; -1 in a leaf
          threshold    to the left if x <= threshold; infinity where only missing values go to the right; 0 in a leaf
          missing      1 if missing values go to the left; 0 in a leaf
          count        the training rows that reached it: those of the two nodes below it together
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn._loss.loss import HalfBinomialLoss, HalfMultinomialLoss
from sklearn.ensemble._hist_gradient_boosting.binning import _BinMapper as BinMapper
from sklearn.ensemble._hist_gradient_boosting.common import PREDICTOR_RECORD_DTYPE
from sklearn.ensemble._hist_gradient_boosting.predictor import TreePredictor
from sklearn.preprocessing import LabelEncoder
from sklearn.tree import DecisionTreeClassifier
from sklearn.tree._tree import NODE_DTYPE, Tree

from abstain.files.format.errors import ModelFileError, refuse, unsupported
from abstain.files.format.schema import Arrays, Fields, Layout, Parts, fitting, layout, stored, whole

# t trees with n nodes in all
SPLITS = layout(sizes="i8 t", left="i4 n", right="i4 n", feature="i4 n", threshold="f8 n", missing="i1 n", count="i8 n")
LEAF = -1
MOST_TREES = 2**15  # of a model: a tree takes two kilobytes and a tenth of a millisecond, however few its nodes
MOST_ROWS = 2**32 - 1  # that a node may count


def tree_arrays(
    arrays: Layout, trees: list[NDArray[Any]], names: Mapping[str, str], leaf: NDArray[Any], **more: Any
) -> Arrays:
    """Return the arrays of trees, each given as records, whose fields may have other `names`, and `more`.

    What leaves contain beside the count and the values of `arrays` is replaced by the values above.
    """
    fields = {name: names.get(name, name) for name in arrays.keys() - more.keys() - {"sizes"}}
    nodes = {name: np.concatenate([tree[field] for tree in trees]) for name, field in fields.items()}
    found = stored(nodes | {"sizes": [len(tree) for tree in trees]} | more, arrays)
    for name, value in {"left": LEAF, "right": LEAF, "feature": LEAF, "threshold": 0.0, "missing": 0}.items():
        found[name][leaf] = value
    return found


def tree_records(arrays: Arrays, names: Mapping[str, str], dtype: Any, in_leaf: dict[str, Any]) -> list[NDArray[Any]]:
    """Return the records of each tree; `in_leaf` has what scikit-learn writes into the fields of a leaf."""
    leaf = arrays["left"] == LEAF
    nodes = np.zeros(len(leaf), dtype=dtype)
    for name, array in arrays.items():
        if (field := names.get(name, name)) in dtype.names:
            nodes[field] = array
    for field, value in in_leaf.items():
        nodes[field][leaf] = value
    return apart(nodes, arrays["sizes"])


def apart(joined: NDArray[Any], sizes: Sequence[int] | NDArray[np.int64]) -> list[NDArray[Any]]:
    """Return what belongs to each tree, or other part, of these sizes."""
    return [part.copy() for part in np.split(joined, np.cumsum(sizes)[:-1])]


def refuse_settings(classifier: Any, *names: str) -> None:
    """Raise an error if one of these parameters is set."""
    for name in names:
        value = getattr(classifier, name)
        if not (value is None or (isinstance(value, bool | np.bool_) and not value)):
            what = f"has a {type(classifier).__name__} with {name}={value!r}"
            raise unsupported(what, f"leave {name} at its default and fit it again")


def checked_depth(arrays: Arrays, n_features: int) -> NDArray[np.int64]:
    """Check the arrays of `SPLITS`, whose dtypes and shapes fit; return the depth of every node, 0 for a root."""
    sizes, n_nodes = arrays["sizes"], len(arrays["left"])
    refuse(not 1 <= len(sizes) <= MOST_TREES, f"it has {len(sizes):,} trees, but must have from 1 to {MOST_TREES:,}.")
    if ((sizes < 1) | (sizes > n_nodes)).any() or sizes.sum() != n_nodes:
        raise ModelFileError("the sizes of its trees do not add up to the number of its nodes.")
    starts = np.cumsum(sizes) - sizes
    root, last = np.repeat(starts, sizes), np.repeat(sizes, sizes)
    left, right, inner = arrays["left"], arrays["right"], arrays["left"] != LEAF
    own = np.arange(len(left)) - root
    for below in (left, right):
        if ((below <= own) | (below >= last))[inner].any() or (below != LEAF)[~inner].any():
            raise ModelFileError("its trees have a node whose branches do not lead to later nodes of the same tree.")
    above = np.flatnonzero(inner)
    below_left, below_right = (root + left)[above], (root + right)[above]
    reached = np.bincount(below_left, minlength=len(left)) + np.bincount(below_right, minlength=len(left))
    reached[starts] += 1
    refuse((reached != 1).any(), "its trees have a node that no branch or more than one leads to.")
    _check_nodes(arrays, inner, n_features)
    count = arrays["count"]
    if (count[above] != count[below_left] + count[below_right]).any():
        raise ModelFileError("its trees have a node that counts other rows than the two nodes below it.")
    parent = np.arange(len(left))
    parent[below_left] = parent[below_right] = above
    return _depth(parent)


def _check_nodes(arrays: Arrays, inner: NDArray[np.bool_], n_features: int) -> None:
    feature, threshold, missing, count = (arrays[name] for name in ("feature", "threshold", "missing", "count"))
    leaf = ~inner
    if ((feature < 0) | (feature >= n_features))[inner].any() or (feature != LEAF)[leaf].any():
        raise ModelFileError("its trees split on features that do not exist.")
    if threshold[leaf].any() or np.signbit(threshold[leaf]).any() or missing[leaf].any():
        raise ModelFileError("its trees have a leaf with a threshold.")
    refuse(((missing < 0) | (missing > 1)).any(), "its trees send missing values neither to the left nor to the right.")
    if ((count < 1) | (count > MOST_ROWS)).any():
        raise ModelFileError("its trees have a node that no training row reached, or too many.")


def _depth(parent: NDArray[np.int64]) -> NDArray[np.int64]:
    """The steps up to a root, which is its own parent; each pass doubles them, so a chain of n takes log n passes."""
    depth = (parent != np.arange(len(parent))).astype(np.int64)
    while True:
        more = depth[parent]
        if not more.any():
            return depth
        depth += more
        parent = parent[parent]


# t trees with n nodes in all; c classes; d features; k trees of an iteration; s and v scores of training
FOREST = SPLITS | layout(value="f8 n c", impurity="f8 n", weight="f8 n", seeds="i8 t")
BOOSTING = SPLITS | layout(value="f8 n", gain="f8 n", bin="i4 n", bins="i4 d", baseline="f8 1 k")
BOOSTING |= layout(train_score="f8 s", validation_score="f8 v")
# scikit-learn's names of the fields of a node, where they differ; of boosting, "depth" and "is_leaf" follow, and others
# are for categories
MISSING = {"missing": "missing_go_to_left"}
FOREST_NODE = MISSING | {"left": "left_child", "right": "right_child", "count": "n_node_samples"}
FOREST_NODE |= {"weight": "weighted_n_node_samples"}
BOOSTING_NODE = MISSING | {"feature": "feature_idx", "threshold": "num_threshold", "bin": "bin_threshold"}
ROUNDING = 1e-6  # of a sum of probabilities


def forest_parts(forest: Any) -> Parts:
    """Return the fields and arrays of a fitted RandomForestClassifier; out-of-bag results are left out."""
    refuse_settings(forest, "warm_start", "monotonic_cst")
    grown = forest.estimators_
    refuse(len(grown) != forest.n_estimators, "its number of trees differs from n_estimators.")
    states = [tree.tree_.__getstate__() for tree in grown]
    nodes = [state["nodes"] for state in states]
    value = np.concatenate([state["values"][:, 0, :] for state in states])
    leaf = np.concatenate([one["left_child"] for one in nodes]) == LEAF
    seeds = [tree.random_state for tree in grown]
    state = {"max_features": _max_features(forest)}
    return state, tree_arrays(FOREST, nodes, FOREST_NODE, leaf, value=value, seeds=seeds)


def _max_features(forest: Any) -> int:
    """Return the number of features that a split tries, which follows from the parameter as in scikit-learn."""
    given, n_features = forest.max_features, int(forest.n_features_in_)
    found: Any = {"sqrt": math.sqrt(n_features), "log2": math.log2(n_features), None: n_features}.get(given, given)
    found = found * n_features if isinstance(given, float | np.floating) else found
    if int(forest.estimators_[0].max_features_) != max(1, int(found)):
        raise ModelFileError("its max_features differ from those of its trees.")
    return max(1, int(found))


def forest_attributes(forest: Any, fields: Fields, arrays: Arrays, n_features: int, classes: Any) -> dict[str, Any]:
    """Return the fitted attributes of a RandomForestClassifier for these classes."""
    fitting(arrays, FOREST, "forest", {"c": len(classes)})
    max_features = fields.take("max_features", whole(1))
    depth = checked_depth(arrays, n_features)
    value, weight, seeds = arrays["value"], arrays["weight"], arrays["seeds"]
    shares = (value >= 0).all() and (value <= 1).all() and (np.abs(value.sum(axis=1) - 1.0) <= ROUNDING).all()
    if not shares or not (weight > 0).all():
        raise ModelFileError("its trees have probabilities that do not lie between 0 and 1, or weights of 0.")
    refuse(((seeds < 0) | (seeds >= 2**32)).any(), "its trees have a random_state that is not possible.")
    shared = {name: getattr(forest, name) for name in forest.estimator_params}
    codes = np.arange(len(classes), dtype=np.float64)
    shared_fit = {"n_features_in_": n_features, "n_outputs_": 1, "classes_": codes}
    shared_fit |= {"n_classes_": np.int64(len(classes)), "max_features_": max_features}
    sizes, grown = arrays["sizes"], []
    marked = tree_records(arrays, FOREST_NODE, NODE_DTYPE, {"feature": -2, "threshold": -2.0})
    parts = (apart(one, sizes) for one in (value, depth))
    for nodes, values, deep, seed in zip(marked, *parts, seeds.tolist(), strict=True):
        tree = Tree(n_features, np.array([len(classes)], dtype=np.intp), 1)
        state = {"max_depth": int(deep.max()), "node_count": len(nodes), "nodes": nodes}
        tree.__setstate__(state | {"values": values[:, np.newaxis, :]})
        grown.append(DecisionTreeClassifier(**shared | {"random_state": seed}))
        grown[-1].__dict__.update(shared_fit, tree_=tree)
    found = {"classes_": classes, "n_classes_": len(classes), "n_outputs_": 1}
    return found | {"estimator_": DecisionTreeClassifier(), "estimators_": grown}


def boosting_parts(machine: Any) -> Parts:
    """Return the fields and arrays of a fitted HistGradientBoostingClassifier: its trees, without the edges of bins."""
    refuse_settings(machine, "warm_start", "monotonic_cst")
    if machine.is_categorical_ is not None:
        what = "has a HistGradientBoostingClassifier with categorical features"
        raise unsupported(what, "encode them in a Pipeline, as default_pipeline does")
    done, stopped = len(machine._predictors), bool(machine.do_early_stopping_)
    if done > machine.max_iter or (done < machine.max_iter and not stopped):
        raise ModelFileError("its number of iterations differs from max_iter.")
    grown = [tree.nodes for iteration in machine._predictors for tree in iteration]
    leaf = np.concatenate([tree["is_leaf"] for tree in grown]).astype(bool)
    state = {"early_stopping": stopped, "weighted": bool(getattr(machine, "_fitted_with_sw", False))}
    more = {"bins": machine._bin_mapper.n_bins_non_missing_, "baseline": machine._baseline_prediction}
    more |= {"train_score": machine.train_score_, "validation_score": machine.validation_score_}
    return state, tree_arrays(BOOSTING, grown, BOOSTING_NODE, leaf, **more)


def boosting_attributes(machine: Any, fields: Fields, arrays: Arrays, n_features: int, classes: Any) -> dict[str, Any]:
    """Return the fitted attributes of a HistGradientBoostingClassifier for these classes."""
    per_iteration = 1 if len(classes) <= 2 else len(classes)
    fitting(arrays, BOOSTING, "boosting", {"d": n_features, "k": per_iteration})
    stopped, weighted = fields.take("early_stopping", bool), fields.take("weighted", bool)
    depth = checked_depth(arrays, n_features)
    sizes, leaf = arrays["sizes"], arrays["left"] == LEAF
    n_iterations = len(sizes) // per_iteration
    refuse(len(sizes) % per_iteration, "its trees are not the same number for each class.")
    if any(len(arrays[name]) not in (0, n_iterations + 1) for name in ("train_score", "validation_score")):
        raise ModelFileError("its scores of training are not one for each iteration.")
    _check_bins(machine, arrays, leaf)
    bitsets, grown = np.zeros((0, 8), dtype=np.uint32), []
    places = dict.fromkeys(("left", "right", "feature_idx"), 0)
    arrays = arrays | {"depth": depth}
    for nodes in tree_records(arrays, BOOSTING_NODE, PREDICTOR_RECORD_DTYPE, places):
        nodes["is_leaf"] = nodes["left"] == 0
        grown.append(TreePredictor(nodes, bitsets.copy(), bitsets.copy()))
    encoder = LabelEncoder()
    encoder.classes_ = classes
    found = {"classes_": classes, "is_categorical_": None, "n_trees_per_iteration_": per_iteration}
    found |= {"do_early_stopping_": stopped, "train_score_": arrays["train_score"]}
    found |= {"validation_score_": arrays["validation_score"], "_preprocessor": None, "_is_categorical_remapped": None}
    found |= {"_label_encoder": encoder, "_n_features": n_features}
    found["_loss"] = HalfBinomialLoss() if per_iteration == 1 else HalfMultinomialLoss(n_classes=per_iteration)
    found |= {"_bin_mapper": _bin_mapper(machine, arrays["bins"]), "_baseline_prediction": arrays["baseline"]}
    found["_predictors"] = [grown[at : at + per_iteration] for at in range(0, len(grown), per_iteration)]
    return found | ({"_fitted_with_sw": True} if weighted else {})


def _check_bins(machine: Any, arrays: Arrays, leaf: Any) -> None:
    """Check the bins of the features, and that a node splits at one: at the last, only missing values go right."""
    bins, at = arrays["bins"], arrays["bin"]
    refuse(((bins < 1) | (bins > machine.max_bins)).any(), "it has a feature with no bins, or with more than max_bins.")
    last = bins[arrays["feature"][~leaf]] - 1
    inside, endless = at[~leaf], np.isinf(arrays["threshold"][~leaf])
    if at[leaf].any() or ((inside < 0) | (inside > last)).any() or ((inside == last) != endless).any():
        raise ModelFileError("its trees split at bins that do not match the features or the thresholds.")


def _bin_mapper(machine: Any, bins: Any) -> Any:
    """Return what predicting asks of the bins: that no feature is categorical."""
    mapper = BinMapper(n_bins=machine.max_bins + 1)
    mapper.is_categorical_ = np.zeros(len(bins), dtype=np.uint8)
    mapper.n_bins_non_missing_ = bins.astype(np.uint32)
    mapper.missing_values_bin_idx_ = machine.max_bins
    mapper.bin_thresholds_ = []  # of categorical features, as far as predicting goes
    return mapper
