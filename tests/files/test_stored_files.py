"""Model files of this and of earlier versions are read, and decide as the numbers in them say."""

import io
import json
import subprocess
import sys
import zipfile
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from abstain import load

FOLDER = Path(__file__).parent / "data"
FILES = sorted(FOLDER.glob("*.abstain"))
X = np.random.default_rng(0).standard_normal((40, 2))


# Begins a script in an environment without some packages.
WITHOUT = """
import sys

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name in [{}]:
            raise ModuleNotFoundError(name)

sys.meta_path.insert(0, Absent())
"""


def inside(path):
    """What the file holds, read without a line of ours."""
    with zipfile.ZipFile(path) as archive:
        manifest = json.loads(archive.read("manifest.json"))
        arrays = {name: np.load(io.BytesIO(archive.read(f"arrays/{name}.npy"))) for name in manifest["arrays"]}
    return manifest["model"], arrays


def decided(decisions, score):
    lower, upper = decisions["thresholds"]["Thresholds"]
    first, second = decisions["classes"]
    return [second if s > upper else first if s < lower else decisions["reject_label"] for s in score]


def expanded(model, arrays, rows):
    """f(x) = sum_j beta_j k(x_j, x) + bias, term by term."""
    name, gamma, coef0, degree = model["fitted"]["kernel"]
    vectors = arrays.get("vectors")
    if vectors is None:
        vectors = np.zeros((len(arrays["support"]), model["n_features"]))
        starts = arrays["vectors_indptr"]
        for row, (first, last) in enumerate(pairwise(starts)):
            vectors[row, arrays["vectors_indices"][first:last]] = arrays["vectors_data"][first:last]
    kernels = {
        "linear": lambda x, v: x @ v,
        "rbf": lambda x, v: np.exp(-gamma * np.sum((x - v) ** 2)),
        "poly": lambda x, v: (gamma * (x @ v) + coef0) ** degree,
    }
    values = np.array([[kernels[name](x, v) for v in vectors] for x in rows])
    return values @ arrays["dual_coef"][0] + arrays["intercept"][0]


@pytest.mark.parametrize("path", [path for path in FILES if "pipeline" not in path.name], ids=lambda path: path.stem)
def test_machines_and_rejectors(path):
    model, arrays = inside(path)
    loaded = load(path)
    if "coef" in arrays:
        score = X @ arrays["coef"][0] + arrays["intercept"][0]
    elif "wrapped" in model:
        score = X @ arrays["wrapped.coef"][0] + arrays["wrapped.intercept"][0]
    else:
        score = expanded(model, arrays, X)
    np.testing.assert_allclose(loaded.decision_function(X), score, rtol=0, atol=1e-10)
    labels = loaded.predict(X).tolist()
    assert labels == decided(model["fitted"]["decisions"], score)
    assert len(set(labels)) > 1


@pytest.mark.parametrize("path", [path for path in FILES if "pipeline" in path.name], ids=lambda path: path.stem)
def test_pipelines(path):
    model, arrays = inside(path)
    rng = np.random.default_rng(1)
    cities = rng.choice(np.array(["Bonn", "Ulm", "Rom", None], dtype=object), len(X))
    frame = pd.DataFrame({"age": np.where(rng.uniform(size=len(X)) < 0.2, np.nan, X[:, 0]), "dose": X[:, 1]})
    numbers = frame.to_numpy()
    filled = np.where(np.isnan(numbers), arrays["table.statistics"], numbers)
    flags = np.isnan(numbers)[:, arrays["table.indicators"]].astype(float)
    scaled = (np.hstack([filled, flags]) - arrays["table.mean"]) / arrays["table.scale"]
    (categories,) = model["preprocessing"]["categories"]
    coded = [[float(("(missing)" if city is None else city) == one) for one in categories] for city in cities]
    score = expanded(model["estimator"], arrays, np.hstack([scaled, coded]))
    loaded = load(path)
    frame["city"] = cities
    np.testing.assert_allclose(loaded.decision_function(frame), score, rtol=0, atol=1e-10)
    assert loaded.predict(frame).tolist() == decided(model["estimator"]["fitted"]["decisions"], score)


@pytest.mark.parametrize("path", [path for path in FILES if "pipeline" in path.name], ids=lambda path: path.stem)
@pytest.mark.usefixtures("polars")
def test_pipelines_are_read_where_only_polars_is_installed(path):
    script = (
        WITHOUT.format("'pandas'") + "import polars as pl, abstain\n"
        "rows = pl.DataFrame({'age': [1.0, None], 'dose': [0.5, 2.0], 'city': ['Ulm', None]})\n"
        "print(*abstain.load(sys.argv[1]).decision_function(rows).tolist())"
    )
    ended = subprocess.run([sys.executable, "-c", script, path], capture_output=True, text=True, check=True)  # noqa: S603
    rows = pd.DataFrame({"age": [1.0, None], "dose": [0.5, 2.0], "city": ["Ulm", None]})
    assert [float(score) for score in ended.stdout.split()] == load(path).decision_function(rows).tolist()


@pytest.mark.parametrize("path", [path for path in FILES if "pipeline" in path.name], ids=lambda path: path.stem)
def test_pipelines_ask_for_a_library_of_tables(path):
    script = WITHOUT.format("'pandas', 'polars'") + (
        "import abstain\ntry:\n    abstain.load(sys.argv[1])\nexcept ImportError as error:\n    print(error)"
    )
    ended = subprocess.run([sys.executable, "-c", script, path], capture_output=True, text=True, check=True)  # noqa: S603
    assert ended.stdout == "a Pipeline of named columns needs pandas or polars; install one of them.\n"


def test_there_is_a_file_of_each_kind():
    kinds = {path.stem.rpartition("-")[2] for path in FILES}
    assert kinds >= {"machine", "sparse", "search", "embedded", "embedded_kernel", "rejector", "pipeline"}
