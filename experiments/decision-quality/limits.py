"""Where `machines="auto"` begins and ends to try a machine: each machine alone on training sets of several sizes.

``python limits.py`` writes limits.json, which the page shows, after each run; runs that it has are not made again. The
choice among machines is the one of least cross-validated mean cost, as `MachineSearch` chooses. One split for each
size; two costs.
"""

from __future__ import annotations

import json
import sys
import time
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

FOLDER = Path(__file__).parent
sys.path[:0] = [str(FOLDER), str(FOLDER.parent)]

SIZES, TESTED, FEWEST = (600, 1200, 2500, 6000, 16_000, 32_000), 8000, 4000  # rows to train on, and to test at most
MOST = {"covtype": 6000}  # rows of sets on which the svm takes too long: it has seven classes
MACHINES = ("svm", "laplacian", "boosting", "logistic", "forest")
CHOICES = (
    ("laplacian",),
    ("boosting",),
    ("logistic", "boosting"),
    ("svm", "laplacian"),
    ("svm", "laplacian", "logistic"),
    ("svm", "laplacian", "boosting"),
    MACHINES,
)
TWO = {"1 : 1 : 0.2": (1.0, 1.0, 0.2), "1 : 5 : 0.4": (1.0, 5.0, 0.4)}
MORE = {"0.1": 0.1, "0.3": 0.3}
FLOOR = 0.002  # a mean cost below it counts as it: of few errors, ratios say nothing


def sets() -> dict[str, Any]:
    """Public sets with enough rows: rows and classes as numbers from 0."""
    from public_data import load_covtype, load_letter, load_mitbih

    X, y = load_letter(return_X_y=True)
    found = {"vowels": (X, np.isin(y, [ord(letter) - ord("A") for letter in "AEIOU"]))}
    for name, classes in {"1 v 2": (1, 2), "3 v 2": (3, 2), "6 v 4": (6, 4), "": None}.items():
        found[f"covtype {name}".strip()] = load_covtype(classes=classes, return_X_y=True)
    found["mitbih"] = load_mitbih(return_X_y=True)
    return {name: (X, np.unique(y, return_inverse=True)[1]) for name, (X, y) in found.items()}


def measured(X: Any, y: Any, rows: int, machine: str, costs: str) -> dict[str, float]:
    """The mean cost on test rows, the least cross-validated one, and the seconds of CPU."""
    from sklearn.model_selection import StratifiedKFold, train_test_split
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    from abstain import Costs, MachineSearch

    n_classes = int(y.max()) + 1
    train, rest = train_test_split(np.arange(len(y)), train_size=rows, stratify=y, random_state=0)
    test = rest
    if len(rest) > TESTED:
        test, _ = train_test_split(rest, train_size=TESTED, stratify=y[rest], random_state=0)
    if n_classes == 2:
        stated, labels = Costs(*TWO[costs]), {"pos_label": 1}
        table = np.array([[0.0, TWO[costs][0], TWO[costs][2]], [TWO[costs][1], 0.0, TWO[costs][2]]])
    else:
        errors = 1.0 - np.eye(n_classes)
        stated, labels = Costs.from_matrix(errors, MORE[costs], labels=list(range(n_classes))), {}
        table = np.column_stack([errors, np.full(n_classes, MORE[costs])])
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    search = MachineSearch(stated, (machine,), cv=folds, reject_label=-1, **labels)
    model = make_pipeline(StandardScaler(), search)
    began = time.process_time()
    model.fit(X[train], y[train])
    seconds = time.process_time() - began
    said = np.asarray(model.predict(X[test]))
    paid = table[y[test], np.where(said == -1, n_classes, said)]
    return {"cost": float(paid.mean()), "least": search.choice_.chosen.least, "seconds": seconds}


def summary(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The cost of each choice relative to the svm's: geometric mean over the costs of a set, then over sets."""
    rows = []
    for size in sorted({item["rows"] for item in found}):
        here = [item for item in found if item["rows"] == size]
        for choice in CHOICES:
            logs: dict[str, list[float]] = {}
            for key in sorted({(item["set"], item["costs"]) for item in here}):
                own = {item["machine"]: item for item in here if (item["set"], item["costs"]) == key}
                if {"svm", *choice} <= own.keys():
                    best = min((own[name] for name in choice), key=lambda item: item["least"])
                    logs.setdefault(key[0], []).append(
                        float(np.log(max(best["cost"], FLOOR) / max(own["svm"]["cost"], FLOOR)))
                    )
            if len(logs) > 1:
                mean = np.array([np.mean(own) for own in logs.values()])
                error = float(mean.std(ddof=1) / np.sqrt(len(mean)))
                seconds = [item["seconds"] for item in here if item["machine"] in choice]
                rows.append({
                    "rows": size, "choice": " + ".join(choice), "sets": len(mean), "ratio": float(np.exp(mean.mean())),
                    "error": error, "seconds": float(np.sum(seconds) / max(1, len(seconds)) * len(choice)),
                })  # fmt: skip
    return rows


def main() -> None:
    """Measure what is not in limits.json, and write it."""
    stored = FOLDER / "limits.json"
    found = json.loads(stored.read_text())["runs"] if stored.exists() else []
    known = {tuple(item[key] for key in ("set", "rows", "machine", "costs")) for item in found}
    data = sets()
    for rows in SIZES:
        for name, (X, y) in data.items():
            if rows > MOST.get(name, rows) or len(y) < rows + FEWEST:
                continue
            for costs, machine in product(TWO if y.max() == 1 else MORE, MACHINES):
                if (name, rows, machine, costs) not in known:
                    about = {"set": name, "rows": rows, "machine": machine, "costs": costs}
                    found.append(about | measured(X, y, rows, machine, costs))
                    print(found[-1], file=sys.stderr)
                    stored.write_text(json.dumps({"summary": summary(found), "runs": found}, indent=1) + "\n")


if __name__ == "__main__":
    main()
