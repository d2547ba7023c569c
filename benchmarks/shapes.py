"""A map of shapes: rows x features x classes x sparsity x C, the peer's CPU time over ours in each cell."""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from contenders import worked
from scipy.sparse import csr_array
from sklearn.datasets import make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC, LinearSVC
from threadpoolctl import threadpool_limits

from abstain import LinearRejectSVC, RejectSVC

MOST = 2_000_000  # entries of a table
PICTURE = Path(__file__).parent / "shapes.png"


@dataclass(frozen=True)
class Cell:
    """One shape of table and one machine."""

    kernel: str
    rows: int
    features: int
    classes: int
    sparse: bool
    C: float

    @property
    def row(self) -> str:
        """The line of the map."""
        kind = "sparse" if self.sparse else "dense"
        return f"{self.kernel}, {kind}, {self.classes} classes, C = {self.C:g}"

    @property
    def column(self) -> str:
        """The column of the map."""
        return f"{self.rows:,} x {self.features:,}"

    def data(self) -> tuple[Any, Any]:
        """Classes that overlap, a tenth of the labels wrong; of sparse rows one entry in twenty."""
        informative = min(self.features, max(4, self.classes))
        X, y = make_classification(
            self.rows, self.features, n_informative=informative, n_redundant=0, n_classes=self.classes,
            n_clusters_per_class=1, flip_y=0.1, random_state=0,
        )  # fmt: skip
        if not self.sparse:
            return X, y
        return csr_array(np.where(np.abs(X) > np.quantile(np.abs(X), 0.95), X, 0.0)), y

    def machines(self) -> tuple[Any, Any]:
        """The peer, and ours."""
        if self.kernel == "linear":
            return LinearSVC(loss="hinge", C=self.C), LinearRejectSVC(C=self.C)
        return SVC(C=self.C), RejectSVC(C=self.C)


def cells(most: int = MOST) -> Iterator[Cell]:
    """All cells whose table has at most so many entries."""
    shapes = [*product((100, 300, 1000, 3000, 10_000), (8, 50, 500)), (300, 4000)]
    for kernel, sparse, classes, C in product(("rbf", "linear"), (False, True), (2, 10), (1.0, 100.0)):
        for rows, features in shapes:
            cell = Cell(kernel, rows, features, classes, sparse, C)
            if rows * features <= most and not (sparse and (features < 50 or C > 1)):
                yield cell


def measure(cell: Cell, seconds: float) -> dict[str, Any]:
    """The best CPU times of both, in turn, until about so many seconds are spent."""
    X, y = cell.data()
    best, spent, rounds = [np.inf, np.inf], 0.0, 0
    while rounds < 2 or (spent < seconds and rounds < 40):
        for at, machine in enumerate(cell.machines()):
            took, _ = worked(machine.fit, X, y)
            best[at], spent = min(best[at], took), spent + took
        rounds += 1
    return {"row": cell.row, "column": cell.column, "peer": best[0], "ours": best[1], "ratio": best[0] / best[1]}


def run(seconds: float = 1.0, most: int = MOST) -> dict[str, Any]:
    """All cells, and how many are below 1 and below 1.5."""
    found = []
    with threadpool_limits(limits=1), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # LinearSVC stops at its limit of steps
        every = list(cells(most))
        for done, cell in enumerate(every, 1):
            found.append(measure(cell, seconds))
            line = f"{done} of {len(every)}: {found[-1]['row']}, {found[-1]['column']}: {found[-1]['ratio']:.2f}"
            print(line, file=sys.stderr, flush=True)
    ratios = np.array([one["ratio"] for one in found])
    return {"cells": found, "below_1": int((ratios < 1).sum()), "below_1.5": int((ratios < 1.5).sum())}


def measured(folder: Path, **settings: Any) -> dict[str, Any]:
    """Measure all cells and draw the map into a folder."""
    results = run(**settings)
    draw(results, folder / PICTURE.name)
    return results


def draw(results: dict[str, Any], path: Path = PICTURE) -> None:
    """Draw the map: green where ours is faster, red where it is slower, the ratio in each cell."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt
    from matplotlib.colors import TwoSlopeNorm

    found = results["cells"]
    names = [list(dict.fromkeys(one[axis] for one in found)) for axis in ("row", "column")]
    values = np.full((len(names[0]), len(names[1])), np.nan)
    for one in found:
        values[names[0].index(one["row"]), names[1].index(one["column"])] = one["ratio"]
    figure, ax = plt.subplots(figsize=(11, 0.42 * len(names[0]) + 1.8), layout="constrained")
    ax.imshow(np.log2(values), cmap="RdYlGn", norm=TwoSlopeNorm(0.0, -2.0, 4.0), aspect="auto")
    for (i, j), value in np.ndenumerate(values):
        if np.isfinite(value):
            ax.text(j, i, f"{value:.1f}", ha="center", va="center", fontsize=8)
    ax.set_xticks(range(len(names[1])), names[1], rotation=45, ha="right", fontsize=8)
    ax.set_yticks(range(len(names[0])), names[0], fontsize=8)
    ax.set_title("CPU time of scikit-learn's SVC or LinearSVC over ours, one thread (above 1: ours is faster)")
    figure.savefig(path, dpi=110)
    plt.close(figure)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=1.0, help="CPU seconds for each cell")
    parser.add_argument("--most", type=int, default=MOST, help="entries of the largest table")
    print(json.dumps(measured(PICTURE.parent, **vars(parser.parse_args())), indent=2))
