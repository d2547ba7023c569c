"""The splits of many trees in a few arrays, checked so that following them ends in a leaf and reads nothing else.

scikit-learn follows the indices of a tree without looking at them: an index outside the tree, or a loop, would crash or
hang the interpreter. All trees lie one after the other; `sizes` gives the number of nodes of each::

    node: left, right  the nodes below it, counted from the root of its tree; -1 and -1 in a leaf
          feature      the column that decides; -1 in a leaf
          threshold    to the left if x <= threshold; infinity where only missing values go to the right; 0 in a leaf
          missing      1 if missing values go to the left; 0 in a leaf
          count        the training rows that reached it: those of the two nodes below it together
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abstain.files.format.arrays import Arrays
from abstain.files.format.errors import ModelFileError, refuse, unsupported
from abstain.files.format.schema import Layout, layout, stored

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
    starts = _checked_starts(arrays["sizes"], len(arrays["left"]))
    sizes = arrays["sizes"]
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


def _checked_starts(sizes: NDArray[np.int64], n_nodes: int) -> NDArray[np.int64]:
    refuse(not 1 <= len(sizes) <= MOST_TREES, f"it has {len(sizes):,} trees, but must have from 1 to {MOST_TREES:,}.")
    if ((sizes < 1) | (sizes > n_nodes)).any() or sizes.sum() != n_nodes:
        raise ModelFileError("the sizes of its trees do not add up to the number of its nodes.")
    return np.cumsum(sizes) - sizes


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
