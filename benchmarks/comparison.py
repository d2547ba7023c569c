"""The README's `abstain compare` with its imports, against nested cross-validation of such machines by scikit-learn."""

from __future__ import annotations

import argparse
import json
import warnings
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd
from contenders import timed, worked
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits
from wide import seconds

AIM = 8.0  # seconds, of CPU and on the clock
OPTIONS = ("--target", "diagnosis", "--pos-label", "malignant", "--false-negative", "5", "--reject", "0.3")
MACHINES = ("svm", "logistic", "forest", "boosting")
TRIAL = {"machines": ("logistic",), "repeats": 1}


def searches() -> dict[str, GridSearchCV]:
    """The machines of `compare` with the values that it tries, each as scikit-learn's users would tune it."""
    found = {
        "svm": (SVC(), {"C": np.logspace(-2, 3, 6), "gamma": 4.0 ** np.arange(-2, 3, 2) / 30}),
        "logistic": (LogisticRegression(max_iter=1000), {"C": np.logspace(-3, 2, 6)}),
        "forest": (RandomForestClassifier(random_state=0), {"min_samples_leaf": [20, 5, 1]}),
        "boosting": (
            HistGradientBoostingClassifier(early_stopping=False, random_state=0),
            {"max_leaf_nodes": [3, 8, 31], "max_iter": [10, 20, 40, 80, 160, 320]},
        ),
    }
    return {name: GridSearchCV(machine, grid, cv=5) for name, (machine, grid) in found.items()}


def peer(table: Path, machines: tuple[str, ...]) -> None:
    """Tune and judge the machines in five folds within five folds; one SVM, where `compare` has six rules on SVMs."""
    rows = pd.read_csv(table)
    X, y = rows.drop(columns="diagnosis"), rows["diagnosis"]
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in machines:
            cross_val_score(make_pipeline(StandardScaler(), searches()[name]), X, y, cv=5)


def run(machines: tuple[str, ...] = MACHINES, repeats: int = 2) -> dict[str, Any]:
    """The least times of several runs, which take turns."""
    clock: dict[str, list[float]] = {"abstain compare": [], "scikit-learn": []}
    cpu: dict[str, list[float]] = {name: [] for name in clock}
    with TemporaryDirectory() as folder:
        table, report = Path(folder) / "patients.csv", Path(folder) / "report.html"
        seconds("demo", "--csv", table)
        command = ("compare", table, *OPTIONS, "--machine", ",".join(machines), "-o", report, "--force")
        for _ in range(repeats):
            wall, used = timed(seconds, *command)
            clock["abstain compare"].append(wall)
            cpu["abstain compare"].append(used)
            used, (wall, _) = worked(timed, peer, table, machines)
            clock["scikit-learn"].append(wall)
            cpu["scikit-learn"].append(used)
        rows = len(pd.read_csv(table))
    times = [{"name": name, "cpu": min(cpu[name]), "clock": min(clock[name])} for name in clock]
    return {"rows": rows, "aim": AIM, "repeats": repeats, "times": times}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trial", action="store_true", help="one machine; the numbers mean nothing")
    print(json.dumps(run(**(TRIAL if parser.parse_args().trial else {})), indent=2))
