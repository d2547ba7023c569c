"""Every number, name and field of a stored Pipeline, changed, with all checksums right again.

`load` refuses the file, or gives a Pipeline that `save` writes again bit for bit and that transforms rows to numbers.
"""

import copy
import io
import json
import math
import warnings
import zipfile
from types import SimpleNamespace

import numpy as np
import pytest

from abstain import save
from abstain.files.format.arrays import packed
from abstain.files.format.container import LARGEST, write_members
from abstain.files.format.errors import ModelFileError
from abstain.files.format.manifest import manifest_members
from abstain.files.load import read
from pipeline_cases import fitted

NAMES = [
    "StandardScaler",
    "MinMaxScaler",
    "MaxAbsScaler",
    "RobustScaler",
    "PowerTransformer",
    "QuantileTransformer",
    "SimpleImputer",
    "SimpleImputer constant",
    "OneHotEncoder of numbers",
    "OneHotEncoder of missing text",
    "OrdinalEncoder",
    "mixed",
    "columns by number",
]
EACH = 60  # changes of each Pipeline, evenly spread over all of them
OTHERS = [None, True, -1, 0, 1, 2, 10**6, 2**70, 0.5, -1e300, "x", "passthrough", "drop", [], {}, {"float": "nan"}]


def unpacked(raw):
    with zipfile.ZipFile(io.BytesIO(raw)) as archive:
        manifest = json.loads(archive.read("manifest.json"))
        arrays = {name: np.load(io.BytesIO(archive.read(f"arrays/{name}.npy"))) for name in manifest["arrays"]}
    return manifest, arrays


def repacked(manifest, arrays):
    declared, members = packed(arrays)
    file = io.BytesIO()
    write_members(file, manifest_members(manifest | {"arrays": declared}) | members)
    return file.getvalue()


def places(value, path=()):
    """The paths of all values in JSON, those that contain others included."""
    yield path
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, one in inner:
        yield from places(one, (*path, key))


def variants(value):
    """Values of JSON like this one, but not this one."""
    yield from (one for one in OTHERS if json.dumps(one) != json.dumps(value))
    if isinstance(value, list) and value:
        yield from (value[1:], [*value, value[-1]], [value[0], *value], value[::-1])
    if isinstance(value, dict):
        yield value | {"more": 1}
        yield from ({name: one for name, one in value.items() if name != left} for left in value)
    if isinstance(value, int) and not isinstance(value, bool):
        yield from (value + 1, value - 1, float(value))
    if isinstance(value, str):
        yield from (value + "_", value[1:])


def changed_fields(manifest):
    """All changes of one field of the steps, each as a function that gives the changed manifest."""
    model = {name: one for name, one in manifest["model"].items() if name != "estimator"}
    for path in places(model):
        if not path:
            continue
        old = model
        for key in path:
            old = old[key]
        for new in variants(old):

            def change(path=path, new=new):
                other = copy.deepcopy(manifest)
                part = other["model"]
                for key in path[:-1]:
                    part = part[key]
                part[path[-1]] = new
                return other

            yield f"{path}: {old!r} -> {new!r}"[:200], change


def changed_arrays(arrays):
    """All changes of one entry of the steps' arrays, and of their lengths."""
    for name in ("steps.double", "steps.single", "steps.whole"):
        array = arrays[name]
        for at, old in enumerate(array.tolist()):
            news = [-old, 0, old + 1, old - 1, 2 * old, 10**6]
            news += [] if name == "steps.whole" else [math.nan, math.inf, -0.0, 1e-300, 1e300, np.nextafter(old, 9)]
            for new in news:
                other = array.copy()
                with np.errstate(over="ignore"):
                    other[at] = new
                if other.tobytes() != array.tobytes():
                    yield f"{name}[{at}]: {old!r} -> {new!r}", {name: other}
        yield f"{name} longer", {name: np.append(array, array.dtype.type(1))}
        if len(array):
            yield f"{name} shorter", {name: array[1:]}


def changes(raw):
    """The names and bytes of all changed files, made when they are asked for."""
    manifest, arrays = unpacked(raw)
    for name, change in changed_fields(manifest):
        yield name, lambda change=change: repacked(change(), arrays)
    for name, other in changed_arrays(arrays):
        yield name, lambda other=other: repacked(manifest, arrays | other)


def judged(raw, X, path):
    """Whether a file is refused; if not, it must be what `save` writes, and its steps must give numbers or an error."""
    reason = ""
    try:
        loaded = read(io.BytesIO(raw), len(raw), LARGEST)
    except ModelFileError as error:
        reason = str(error)
    if reason:
        assert reason.endswith("."), reason
        return True
    save(loaded, path)
    assert path.read_bytes() == raw, "save writes another file"
    if len(loaded) == 1:
        return False
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            made = loaded[:-1].transform(X)
        except (TypeError, ValueError):  # an unknown category, or other columns, where their names were exchanged
            return False
    assert made.shape == (X.shape[0], loaded[-1].n_features_in_)
    return False


@pytest.fixture(scope="module")
def files(contents):
    return SimpleNamespace(of=lambda name: contents(fitted(name)[0]))


@pytest.mark.parametrize("name", NAMES)
def test_a_changed_pipeline_is_refused_or_written_again_bit_for_bit(name, files, tmp_path):
    raw, X = files.of(name), fitted(name)[1]
    assert not judged(raw, X, tmp_path / "again"), "the control: the file itself is read"
    found = [*changes(raw)]
    refused = 0
    for what, made in found[:: max(1, len(found) // EACH)]:
        try:
            refused += judged(made(), X, tmp_path / "again")
        except AssertionError as error:
            raise AssertionError(f"{name}, {what}") from error
    assert refused > EACH // 4, "most changes contradict something"
