"""The machines of this library: as `abstain fit` trains them, and from Python behind the default preprocessing."""

from __future__ import annotations

import io
import json
import tempfile
import time
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from measure_reading import LABEL
from measure_split import MORE, TWO, Split, answer, attempted, split

from abstain import Costs, MachineSearch, RejectSVCCV
from abstain.preprocessing import default_pipeline

NOT_CONVERGED = 4  # the exit code of a model that was written all the same


def command_line(here: Split, costs: str, *options: str) -> dict[str, Any]:
    """`abstain fit` with the columns, the costs and these options, then `abstain predict`."""
    with tempfile.TemporaryDirectory() as folder:
        train, test, model, out = (str(Path(folder) / name) for name in ("train.csv", "test.csv", "model", "out.csv"))
        here.X.assign(**{LABEL: here.labels}).to_csv(train, index=False)
        here.X_test.to_csv(test, index=False)
        began = time.process_time()
        said = _abstain("fit", train, "--target", LABEL, "--output", model, *stated(here, costs), *options, "--json")
        seconds = time.process_time() - began
        _abstain("predict", model, test, "--output", out)
        found = pd.read_csv(out, dtype=str, keep_default_na=False)
    facts = json.loads(said)
    novel = int((found["reason"] == "novel").sum()) if "reason" in found else 0
    guard = facts.get("largest_share_rejected_as_novel")
    return answer(here.codes(found["label"]), seconds, machine=facts["machine"], guard=guard, novel=novel)


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
    return _piped(here, costs, lambda stated, labels: RejectSVCCV(stated, kernel="rbf", **labels))[0]


def laplacian(here: Split, costs: str) -> dict[str, Any]:
    """`RejectSVCCV` with the Laplacian kernel."""
    return _piped(here, costs, lambda stated, labels: RejectSVCCV(stated, kernel="laplacian", **labels))[0]


def machine_search(here: Split, costs: str) -> dict[str, Any]:
    """`MachineSearch` with its defaults."""
    found, model = _piped(here, costs, lambda stated, labels: MachineSearch(stated, **labels))
    return {**found, "machine": model[-1].choice_.chosen.name}


def _piped(here: Split, costs: str, make: Callable[[Costs, dict[str, Any]], Any]) -> tuple[dict[str, Any], Any]:
    several = len(here.classes) > 2
    labels = {} if several else {"pos_label": here.classes[1]}
    model = default_pipeline(make(python_costs(here, costs), labels), here.numeric, here.categorical)
    began = time.process_time()
    model.fit(here.X, here.labels)
    seconds = time.process_time() - began
    return answer(here.codes(model.predict(here.X_test)), seconds), model


def python_costs(here: Split, costs: str) -> Costs:
    """The costs as an object."""
    if len(here.classes) == 2:
        return Costs(*TWO[costs])
    return Costs.from_matrix(1.0 - np.eye(len(here.classes)), MORE[costs], labels=list(here.classes))


DEFAULT = "command line"
FIRST: dict[str, Callable[[Split, str], dict[str, Any]]] = {
    DEFAULT: command_line,
    "RejectSVCCV, rbf": rbf,
    "RejectSVCCV, laplacian": laplacian,
}
SECOND: dict[str, Callable[[Split, str], dict[str, Any]]] = {
    DEFAULT: command_line,
    "--no-novelty": lambda here, costs: command_line(here, costs, "--no-novelty"),
    "--machine svm": lambda here, costs: command_line(here, costs, "--machine", "svm"),
    "--machine laplacian": lambda here, costs: command_line(here, costs, "--machine", "laplacian"),
    "--machine best": lambda here, costs: command_line(here, costs, "--machine", "best"),
    "MachineSearch": machine_search,
}
OURS = {"first": FIRST, "second": SECOND}


def ours(method: str, name: str, seed: int, costs: str) -> dict[str, Any]:
    """A method on one split at one of the costs."""
    run, here = (FIRST | SECOND)[method], split(name, seed)
    return {"methods": {method: attempted(here, [costs], lambda: {costs: run(here, costs)})}}
