"""Compare two builds in one run: CPU time of fits, in turn, and the ratio of the best times.

    $ python benchmarks/two_builds.py BEFORE AFTER [--rounds 7] [--instruction-set x86-64-v3] [--whole]

The two are `_native*.so` files of two commits, loaded by one process each with the same Python code around them; or two
folders that have the whole package, such as the `src` of two checkouts with their `_native*.so` in it. With ``--whole``
come the fits of small.py, all cells of shapes.py and the guards of guard.py.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np


def load(path: str) -> Any:
    """Load a build as `abstain._native`, or its folder's package, before anything else imports it."""
    if os.path.isdir(path):  # noqa: PTH112 (the argument may be a file)
        sys.path.insert(0, path)
        return importlib.import_module("abstain._native")
    spec = importlib.util.spec_from_file_location("abstain._native", path)
    if spec is None or spec.loader is None:
        raise SystemExit(f"{path} is not an extension module; give the path of a _native*.so")
    module = importlib.util.module_from_spec(spec)
    sys.modules["abstain._native"] = module
    spec.loader.exec_module(module)
    return module


@cache
def data(rows: int, features: int, *, sparse: bool = False) -> tuple[Any, Any]:
    """Two classes that overlap, a tenth of the labels wrong."""
    from scipy.sparse import csr_array
    from sklearn.datasets import make_classification

    X, y = make_classification(
        rows, features, n_informative=features, n_redundant=0, class_sep=0.5, flip_y=0.1, random_state=0
    )
    return (csr_array(np.where(np.abs(X) > 1, X, 0)) if sparse else X), y


def workloads() -> dict[str, Callable[[], Any]]:
    """Fits by name; the data are made outside the clock, by a first call."""
    from abstain import Costs, EmbeddedRejectSVC, LinearRejectSVC, RejectSVC, RejectSVCCV

    reject = Costs(reject=0.2)

    def svm(
        rows: int, features: int, *, costs: Any = None, sparse: bool = False, **parameters: Any
    ) -> Callable[[], Any]:
        return lambda: RejectSVC(costs, **parameters).fit(*data(rows, features, sparse=sparse))

    def linear(rows: int, features: int, **parameters: Any) -> Callable[[], Any]:
        return lambda: LinearRejectSVC(reject, **parameters).fit(*data(rows, features))

    fitted = svm(3000, 10, costs=reject)()
    return {
        "rbf, hinge, n = 500, d = 10": svm(500, 10),
        "rbf, hinge, n = 5,000, d = 10": svm(5000, 10),
        "rbf, double hinge, n = 500, d = 10": svm(500, 10, costs=reject),
        "rbf, double hinge, n = 5,000, d = 10": svm(5000, 10, costs=reject),
        "rbf, double hinge, n = 2,000, d = 50, C = 10": svm(2000, 50, costs=reject, C=10.0),
        "rbf, double hinge, n = 2,000, d = 200": svm(2000, 200, costs=reject),
        "rbf, double hinge, n = 2,000, active set": svm(2000, 10, costs=reject, solver="active-set"),
        "rbf, double hinge, n = 1,000, d = 20, sparse": svm(1000, 20, costs=reject, sparse=True),
        "poly, double hinge, n = 2,000, d = 10": svm(2000, 10, costs=reject, kernel="poly", gamma=0.02, coef0=1.0),
        "linear kernel, double hinge, n = 900, d = 10": svm(900, 10, costs=reject, kernel="linear"),
        "linear machine, n = 50,000, d = 20": linear(50_000, 20),
        "linear machine, n = 5,000, d = 200": linear(5000, 200),
        "embedded, n = 1,000, d = 10": lambda: EmbeddedRejectSVC(0.2, n_starts=20).fit(*data(1000, 10)),
        "search, 3 C x 2 gamma, n = 1,000, d = 10": lambda: RejectSVCCV(
            reject, Cs=[0.1, 1.0, 10.0], gammas=[0.02, 0.1], cv=3
        ).fit(*data(1000, 10)),
        "scores of 3,000 rows, rbf, d = 10": lambda: fitted.decision_function(data(3000, 10)[0]),
    }


def whole() -> dict[str, Callable[[], Any]]:
    """The fits of other scripts of this folder, by name."""
    import guard
    import shapes
    import small

    def fit(make: Callable[[], Any], made: Callable[[], tuple[Any, Any]]) -> Callable[[], Any]:
        made = cache(made)
        return lambda: make().fit(*made())

    found = {f"small: {case.name}": fit(case.ours, case.data) for case in small.CASES}
    for cell in shapes.cells():
        found[f"map: {cell.row}, {cell.column}"] = fit(lambda cell=cell: cell.machines()[1], cell.data)
    for case in guard.cases(**{name: guard.TRIAL[name] for name in ("rows", "test_rows", "large_rows")}):
        make = partial(lambda made: guard.NoveltyRejector(made(), random_state=0), case.make)
        found[f"guard: {case.name}"] = fit(make, partial(lambda X, y: (X, y), case.X, case.y))
    return found


SHORT = 0.05  # seconds of fits to choose the best of, at least


def seconds_of(work: Callable[[], Any]) -> float:
    """The best CPU seconds of some runs."""
    times: list[float] = []
    while sum(times) < SHORT:
        begun = time.process_time()
        work()
        times.append(time.process_time() - begun)
    return min(times)


def serve(path: str, instruction_set: str, *, more: bool) -> None:
    """Run the workloads whose names arrive, one per line, and answer with their CPU seconds."""
    native = load(path)
    warnings.simplefilter("ignore")
    if instruction_set and hasattr(native, "use_instruction_set"):
        native.use_instruction_set(instruction_set)
    todo = workloads() | (whole() if more else {})
    print(json.dumps(list(todo)), flush=True)
    for line in sys.stdin:
        print(seconds_of(todo[line.strip()]), flush=True)


class Build:
    """A process with one of the two builds."""

    def __init__(self, path: str, instruction_set: str, *, more: bool) -> None:
        command = [sys.executable, __file__, "--serve", path, "--instruction-set", instruction_set]
        command += ["--whole"] * more
        threads = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=os.environ | threads
        )
        self.names: list[str] = json.loads(self.answer())

    def answer(self) -> str:
        """Return the next line that the process prints."""
        line = self.process.stdout.readline() if self.process.stdout else ""
        if not line:
            raise SystemExit("a build has failed; its error is above")
        return line

    def seconds(self, name: str) -> float:
        """CPU seconds of one run."""
        if self.process.stdin:
            print(name, file=self.process.stdin, flush=True)
        return float(self.answer())


def main() -> None:
    """Print a table of the best times and their ratio."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("builds", nargs="*", help="two files or folders, before and after")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--only", default="", help="workloads whose name contains this")
    parser.add_argument(
        "--instruction-set", default="", help="one of _native.instruction_sets(); ignored by builds that cannot choose"
    )
    parser.add_argument("--whole", action="store_true", help="also the fits of small.py, shapes.py and guard.py")
    parser.add_argument("--serve", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.serve:
        serve(given.serve, given.instruction_set, more=given.whole)
        return
    if len(given.builds) != 2:
        parser.error("give two builds, before and after")
    before, after = (Build(path, given.instruction_set, more=given.whole) for path in given.builds)
    print("| fit | before (ms) | after (ms) | ratio |\n|---|---|---|---|")
    for name in before.names:
        if given.only not in name:
            continue
        for build in (before, after):
            build.seconds(name)  # makes the data
        times = [(before.seconds(name), after.seconds(name)) for _ in range(given.rounds)]
        first, second = (min(each) for each in zip(*times, strict=True))
        print(f"| {name} | {1e3 * first:.1f} | {1e3 * second:.1f} | {second / first:.2f} |", flush=True)


if __name__ == "__main__":
    main()
