"""Model files of this and of earlier versions are read, and decide as the numbers in them say."""

import io
import json
import subprocess
import sys
import zipfile
from contextlib import nullcontext
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from abstain import load

FOLDER = Path(__file__).parent / "data"
FILES = sorted(FOLDER.glob("0.2.0-*.abstain"))
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
    """What the file holds, read without a line of ours: model and arrays."""
    with zipfile.ZipFile(path) as archive:
        manifest = json.loads(archive.read("manifest.json"))
        arrays = {name: np.load(io.BytesIO(archive.read(f"arrays/{name}.npy"))) for name in manifest["arrays"]}
    assert manifest["format"] == 2
    return manifest["model"], arrays


def decided(model, score):
    """The labels, by cuts in the file or Chow's of the costs."""
    (first, second), cuts, parameters = model["rule"]["classes"], model["rule"]["cuts"], model["parameters"]
    reject = "reject"
    if len(cuts) == 3:
        lower, upper = cuts[:2]
    elif len(cuts) == 1:
        lower, upper = -cuts[0], cuts[0]
    else:
        false_positive, false_negative, price = parameters["costs"]["Costs"]
        lower, upper = (np.log(p / (1 - p)) for p in (price / false_negative, 1 - price / false_positive))
        if parameters["pos_label"] == first:  # scores are oriented to the second class
            lower, upper = -upper, -lower
    return [second if s > upper else first if s < lower else reject for s in score]


def expanded(kernel, arrays, coef, rows):
    """The sum over j of coef_j k(x_j, x), term by term."""
    name, gamma, coef0, degree = kernel
    vectors = arrays.get("vectors")
    if vectors is None:
        vectors = np.zeros((len(arrays["support"]), rows.shape[1]))
        starts = arrays["vectors_indptr"]
        for row, (first, last) in enumerate(pairwise(starts)):
            vectors[row, arrays["vectors_indices"][first:last]] = arrays["vectors_data"][first:last]
    kernels = {
        "linear": lambda x, v: x @ v,
        "rbf": lambda x, v: np.exp(-gamma * np.sum((x - v) ** 2)),
        "poly": lambda x, v: (gamma * (x @ v) + coef0) ** degree,
    }
    return np.array([[kernels[name](x, v) for v in vectors] for x in rows]) @ coef


def leaves(arrays, x):
    """The leaf that a row reaches in each tree, node by node."""
    starts = np.cumsum(arrays["sizes"]) - arrays["sizes"]
    for start in starts:
        node = start
        while arrays["left"][node] >= 0:
            value = x[arrays["feature"][node]]
            left = arrays["missing"][node] == 1 if np.isnan(value) else value <= arrays["threshold"][node]
            node = start + arrays["left" if left else "right"][node]
        yield node


def log_odds(p):
    p = np.clip(p, np.finfo(float).tiny, 1.0)
    return np.log(p) - np.log(np.maximum(1.0 - p, np.finfo(float).tiny))


def probability(model, arrays, rows):
    """Of the second class, by the mean of the trees, or by the mean of the curves over their classifiers' scores."""
    if model["kind"] == "RandomForestClassifier":
        rows = rows.astype(np.float32)
        return np.array([np.mean([arrays["value"][node, 1] for node in leaves(arrays, x)]) for x in rows])
    found, at = [], dict.fromkeys(model["lengths"], 0)
    for fold, inner in enumerate(model["classifiers"]):
        own = {}
        for name, lengths in model["lengths"].items():
            own[name] = arrays[f"fold.{name}"][at[name] : at[name] + lengths[fold]]
            at[name] += lengths[fold]
        by_probability = inner["kind"] == "RandomForestClassifier"
        score = (probability if by_probability else scored)(inner, own, rows)
        if "slope" in arrays:
            found.append(1.0 / (1.0 + np.exp(arrays["slope"][fold, 0] * score + arrays["intercept"][fold, 0])))
        else:
            found.append(np.interp(score, arrays["scores"], arrays["probabilities"]))
    return np.mean(found, axis=0)


def scored_by_trees(model, arrays, rows):
    """The sum over the trees of boosting; otherwise the log-odds of a probability."""
    if "baseline" in arrays:
        return arrays["baseline"][0, 0] + [sum(arrays["value"][node] for node in leaves(arrays, x)) for x in rows]
    return log_odds(probability(model, arrays, rows))


def scored(model, arrays, rows):
    """f(x) = sum_j coef_j k(x_j, x) + bias, or that of a weight per feature, or that of the classifier inside."""
    if "sizes" in arrays or "lengths" in model:
        return scored_by_trees(model, arrays, rows)
    if "classifier" in model:
        part = "classifier."
        own = {name.removeprefix(part): one for name, one in arrays.items() if name.startswith(part)}
        return scored(model["classifier"], own, rows)
    if "coef" in arrays:
        return rows @ arrays["coef"][0] + arrays["intercept"][0]
    own = {name.removeprefix("machine."): one for name, one in arrays.items() if name.startswith("machine.")}
    machine = model["machine"]
    if "weights" in own:
        return (rows - own["centre"]) @ own["weights"] + machine["bias"]
    if machine["kernel"][0] == "linear" and "vectors" in own:  # the bias is the score at the mean of the vectors
        centre = own["vectors"].mean(axis=0)
        own, rows = own | {"vectors": own["vectors"] - centre}, rows - centre
    scale, shift = model["rule"]["cuts"] if "search_tuned" in arrays else (1.0, 0.0)
    return scale * (expanded(machine["kernel"], own, own["coef"], rows) + machine["bias"]) + shift


@pytest.mark.parametrize(
    "path",
    [path for path in FILES if not path.stem.endswith(("pipeline", "steps"))],
    ids=lambda path: path.stem,
)
def test_machines_and_rejectors(path):
    model, arrays = inside(path)
    by_folds = path.stem == "0.2.0-ceiling"  # it certified scores of folds, and decides with another classifier
    with pytest.warns(UserWarning, match="may not hold for it; fit again") if by_folds else nullcontext():
        loaded = load(path)
    rows = X + 1e4 if path.stem.endswith("linear") else np.where(X > 1, np.nan, X) if "boosting" in path.stem else X
    score = scored(model, arrays, rows)
    np.testing.assert_allclose(loaded.decision_function(rows), score, rtol=0, atol=1e-10)
    labels = loaded.predict(rows).tolist()
    assert labels == decided(model, score)
    assert len(set(labels)) > 1


def test_a_file_of_the_first_format_is_refused_with_the_way_out():
    with pytest.raises(ValueError, match=r"has format 1, .*; load it with abstain 0\.2 and save it again\.$"):
        load(FOLDER / "0.1.0-machine.abstain")


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
    score = scored(model["estimator"], arrays, np.hstack([scaled, coded]))
    loaded = load(path)
    frame["city"] = cities
    np.testing.assert_allclose(loaded.decision_function(frame), score, rtol=0, atol=1e-10)
    assert loaded.predict(frame).tolist() == decided(model["estimator"], score)


@pytest.mark.parametrize("path", [path for path in FILES if path.stem.endswith("steps")], ids=lambda path: path.stem)
def test_pipelines_of_steps(path):
    model, arrays = inside(path)
    ((_, columns),) = model["steps"]
    (_, _, _, scale), (_, _, _, encode) = columns["parts"]
    assert (scale["kind"], encode["kind"], model["feature_names"]) == (
        "StandardScaler",
        "OneHotEncoder",
        ["age", "dose", "city"],
    )
    assert arrays["steps.whole"].tolist() == [1, 2]  # the columns of the parts
    mean, _, spread, _ = arrays["steps.double"]  # in the order of the fields, and last the number of rows
    cities = np.random.default_rng(1).choice(np.array(["Bonn", "Ulm", "Rom"], dtype=object), len(X))
    ((_, categories),) = encode["categories"]
    coded = [[float(city == one) for one in categories] for city in cities]
    score = scored(model["estimator"], arrays, np.column_stack([(X[:, 1] - mean) / spread, coded]))
    loaded, frame = load(path), pd.DataFrame({"age": X[:, 0], "dose": X[:, 1], "city": cities})
    np.testing.assert_allclose(loaded.decision_function(frame), score, rtol=0, atol=1e-10)
    assert loaded.predict(frame).tolist() == decided(model["estimator"], score)


@pytest.mark.long
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
def test_pipelines_are_read_without_a_library_of_tables(path):
    script = WITHOUT.format("'pandas', 'polars'") + "import abstain\nprint(abstain.load(sys.argv[1])[-1].status_)"
    ended = subprocess.run([sys.executable, "-c", script, path], capture_output=True, text=True, check=True)  # noqa: S603
    assert ended.stdout == f"{load(path)[-1].status_}\n"


def test_there_is_a_file_of_each_kind():
    kinds = {"machine", "sparse", "search", "embedded", "embedded_kernel", "rejector", "pipeline", "linear", "ceiling"}
    kinds |= {"tuned", "steps", "forest", "boosting", "sigmoids", "curve", "chow"}
    assert {path.stem.partition("-")[2] for path in FILES} == kinds
