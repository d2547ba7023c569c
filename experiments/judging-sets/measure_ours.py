"""The machines of this library: as `abstain fit` trains them, and from Python behind the default preprocessing."""

from __future__ import annotations

import io
import json
import tempfile
import time
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from measure_split import MORE, TWO, Split, answer, split

from abstain import Costs, RejectSVCCV
from abstain.preprocessing import default_pipeline

TARGET = "class of the row"
NOT_CONVERGED = 4  # the exit code of a model that was written all the same


def command_line(here: Split, costs: str) -> dict[str, Any]:
    """`abstain fit` with no option but the columns and costs, then `abstain predict`."""
    with tempfile.TemporaryDirectory() as folder:
        train, test, model, out = (str(Path(folder) / name) for name in ("train.csv", "test.csv", "model", "out.csv"))
        here.X.assign(**{TARGET: here.labels}).to_csv(train, index=False)
        here.X_test.to_csv(test, index=False)
        began = time.process_time()
        said = _abstain("fit", train, "--target", TARGET, "--output", model, *stated(here, costs), "--json")
        seconds = time.process_time() - began
        _abstain("predict", model, test, "--output", out)
        labels = pd.read_csv(out, dtype=str, keep_default_na=False)["label"]
    return answer(here.codes(labels), seconds, machine=json.loads(said)["machine"])


def stated(here: Split, costs: str) -> list[str]:
    """The costs as options; an error costs 1 unless it is stated."""
    if len(here.classes) > 2:
        return ["--reject", str(MORE[costs])]
    c_fp, c_fn, reject = map(str, TWO[costs])
    names = ["--false-positive", c_fp, "--false-negative", c_fn, "--reject", reject]
    return [*names, "--pos-label", here.classes[1]]


def _abstain(*arguments: str) -> str:
    """Run a command in this process, and return what it printed."""
    from abstain.cli.main import app

    printed, said = io.StringIO(), io.StringIO()
    try:
        with redirect_stdout(printed), redirect_stderr(said):
            code = app(list(arguments), standalone_mode=False)
    except SystemExit as ended:
        code = ended.code
    if code not in (None, 0, NOT_CONVERGED):
        raise RuntimeError(f"abstain {' '.join(arguments)} ended with exit code {code}: {said.getvalue()}")
    return printed.getvalue()


def rbf(here: Split, costs: str) -> dict[str, Any]:
    """`RejectSVCCV` with its default kernel, the Gaussian one."""
    return _piped(here, costs, lambda stated, labels: RejectSVCCV(stated, kernel="rbf", **labels))


def laplacian(here: Split, costs: str) -> dict[str, Any]:
    """`RejectSVCCV` with the Laplacian kernel."""
    return _piped(here, costs, lambda stated, labels: RejectSVCCV(stated, kernel="laplacian", **labels))


def _piped(here: Split, costs: str, make: Callable[[Costs, dict[str, Any]], Any]) -> dict[str, Any]:
    several = len(here.classes) > 2
    labels = {} if several else {"pos_label": here.classes[1]}
    model = default_pipeline(make(python_costs(here, costs), labels), here.numeric, here.categorical)
    began = time.process_time()
    model.fit(here.X, here.labels)
    seconds = time.process_time() - began
    return answer(here.codes(model.predict(here.X_test)), seconds)


def python_costs(here: Split, costs: str) -> Costs:
    """The costs as an object."""
    if len(here.classes) == 2:
        return Costs(*TWO[costs])
    return Costs.from_matrix(1.0 - np.eye(len(here.classes)), MORE[costs], labels=list(here.classes))


def takes(make: Callable[[Costs], Any]) -> bool:
    """Whether this version can fit such a machine, tried on a few rows; it checks parameters before it fits."""
    try:
        make(Costs(reject=0.2)).fit(np.linspace(0.0, 1.0, 20)[:, np.newaxis], np.repeat(["a", "b"], 10))
    except ValueError:
        return False
    return True


OURS: dict[str, Callable[[Split, str], dict[str, Any]]] = {
    "command line": command_line,
    "RejectSVCCV, rbf": rbf,
    "RejectSVCCV, laplacian": laplacian,
}


@cache
def known() -> tuple[str, ...]:
    """The methods of this version."""
    without = () if takes(lambda costs: RejectSVCCV(costs, kernel="laplacian")) else ("RejectSVCCV, laplacian",)
    return tuple(name for name in OURS if name not in without)


def ours(method: str, name: str, seed: int, costs: str) -> dict[str, Any]:
    """A method on one split at one of the costs."""
    return {"methods": {method: {costs: OURS[method](split(name, seed), costs)}}}
