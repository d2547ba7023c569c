"""CPU time of `explain` for 1,000 rejected rows of a kernel machine with 5,000 support vectors or more, one thread."""

from __future__ import annotations

import argparse
import time

import numpy as np
from threadpoolctl import threadpool_limits

import abstain


def measured(rows: int, features: int, explained: int) -> tuple[int, int, float, float]:
    """The support vectors, the rows explained, and the seconds without and with the training table."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((rows + 6 * explained, features))
    y = X[:, 0] + X[:, 1] ** 2 - 1 + 2 * rng.standard_normal(len(X)) > 0
    machine = abstain.RejectSVC(abstain.Costs(reject=0.3), gamma=0.5 / features, cache_size=1000)
    machine.fit(X[:rows], y[:rows])
    new = X[rows:]
    decisions = machine.decide(new)
    rejected = np.flatnonzero(decisions.rejected)[:explained]
    seconds = []
    for training in (None, X[:rows]):
        began = time.process_time()
        abstain.explain(machine, new, decisions=decisions, rows=rejected, training=training)
        seconds.append(time.process_time() - began)
    return len(machine.support_), len(rejected), *seconds


def main() -> None:
    """Print a line for each number of features."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trial", action="store_true", help="few rows; the numbers mean nothing")
    rows, explained = (300, 50) if parser.parse_args().trial else (5_500, 1_000)
    with threadpool_limits(1):
        for features in (10, 20, 40):
            vectors, count, alone, trained = measured(rows, features, explained)
            line = f"{vectors:,} support vectors, {features} features, {count:,} rows: {alone:.2f} s"
            print(f"{line}, with the training table {trained:.2f} s")


if __name__ == "__main__":
    main()
