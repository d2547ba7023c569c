"""A fitted RandomForestClassifier as arrays, and back."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from sklearn.tree import DecisionTreeClassifier
from sklearn.tree._tree import NODE_DTYPE, Tree

from abstain.files.format.arrays import Arrays, Parts
from abstain.files.format.errors import ModelFileError, refuse
from abstain.files.format.schema import Fields, fitting, layout, whole
from abstain.files.sklearn_codecs import trees

# t trees with n nodes in all; c classes
FOREST = trees.SPLITS | layout(value="f8 n c", impurity="f8 n", weight="f8 n", seeds="i8 t")
# scikit-learn's names of the fields of a node
NODE = {
    "left": "left_child",
    "right": "right_child",
    "feature": "feature",
    "threshold": "threshold",
    "missing": "missing_go_to_left",
    "count": "n_node_samples",
    "impurity": "impurity",
    "weight": "weighted_n_node_samples",
}
ROUNDING = 1e-6  # of a sum of probabilities


def forest_parts(forest: Any) -> Parts:
    """Return the fields and arrays of a fitted RandomForestClassifier; out-of-bag results are left out."""
    trees.refuse_settings(forest, "warm_start", "monotonic_cst")
    grown = forest.estimators_
    refuse(len(grown) != forest.n_estimators, "its number of trees differs from n_estimators.")
    states = [tree.tree_.__getstate__() for tree in grown]
    nodes = [state["nodes"] for state in states]
    value = np.concatenate([state["values"][:, 0, :] for state in states])
    leaf = np.concatenate([one["left_child"] for one in nodes]) == trees.LEAF
    seeds = [tree.random_state for tree in grown]
    state = {"max_features": _max_features(forest)}
    return state, trees.tree_arrays(FOREST, nodes, NODE, leaf, value=value, seeds=seeds)


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
    depth = trees.checked_depth(arrays, n_features)
    value, weight, seeds = arrays["value"], arrays["weight"], arrays["seeds"]
    shares = (value >= 0).all() and (value <= 1).all() and (np.abs(value.sum(axis=1) - 1.0) <= ROUNDING).all()
    if not shares or not (weight > 0).all():
        raise ModelFileError("its trees have probabilities that do not lie between 0 and 1, or weights of 0.")
    refuse(((seeds < 0) | (seeds >= 2**32)).any(), "its trees have a random_state that is not possible.")
    shared = {name: getattr(forest, name) for name in forest.estimator_params}
    shared_fit = {
        "n_features_in_": n_features,
        "n_outputs_": 1,
        "classes_": np.arange(len(classes), dtype=np.float64),
        "n_classes_": np.int64(len(classes)),
        "max_features_": max_features,
    }
    sizes, grown = arrays["sizes"], []
    marked = trees.tree_records(arrays, NODE, NODE_DTYPE, {"feature": -2, "threshold": -2.0})
    parts = (trees.apart(one, sizes) for one in (value, depth))
    for nodes, values, deep, seed in zip(marked, *parts, seeds.tolist(), strict=True):
        tree = Tree(n_features, np.array([len(classes)], dtype=np.intp), 1)
        state = {"max_depth": int(deep.max()), "node_count": len(nodes), "nodes": nodes}
        tree.__setstate__(state | {"values": values[:, np.newaxis, :]})
        grown.append(DecisionTreeClassifier(**shared | {"random_state": seed}))
        grown[-1].__dict__.update(shared_fit, tree_=tree)
    return {
        "classes_": classes,
        "n_classes_": len(classes),
        "n_outputs_": 1,
        "estimator_": DecisionTreeClassifier(),
        "estimators_": grown,
    }
