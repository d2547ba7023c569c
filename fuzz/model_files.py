"""Model files: `load` raises ModelFileError, or gives a model that `save` writes again and that scores rows.

Most mutations change the manifest or an array and make all checksums right again: a file with a wrong checksum is
refused before its contents are looked at.
"""

from __future__ import annotations

import copy
import io
import json
import random
import warnings
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from abstain.files.format.container import LARGEST, write_members
from abstain.files.format.errors import ModelFileError
from abstain.files.format.manifest import FORMAT, manifest_members, packed
from abstain.files.model_file import read, write_model

LONGEST = 1 << 16  # bytes of an input
WIDEST = 1 << 16  # features of a row to score; a tree that uses three may have been fitted to more
SEEDS = (Path(__file__).resolve().parent.parent / "tests" / "files" / "data",)  # one file of each kind and format
WHOLE = (0, 1, -1, 2, 3, 60, 2**31 - 1, 2**31, 2**53 + 1, 2**62, -(2**63), 10**40)
NUMBERS = (*WHOLE, 0.0, -0.0, 0.5, 5e-324, 1e-8, 1e308)
TEXTS = ("", "a", "rbf", "linear", "precomputed", "\u0000", "\ud800")
OTHERS = (None, True, False, *TEXTS, [], {}, [[]], {"float": "nan"})
SPECIAL = (*NUMBERS[-6:], 1.0, -1.0, 1e300, np.inf, -np.inf, np.nan, 127, 128, 2**31 - 1, -(2**31))
DTYPES = ("<f8", "<f4", "<i8", "<i4", "|i1")


def run(data: bytes) -> bool:
    """Try one file; whether it was accepted. Any error other than ModelFileError is a finding."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what a file of an earlier version does not have
        try:
            model = read(io.BytesIO(data), len(data), LARGEST)
        except ModelFileError:
            return False
        again = io.BytesIO()
        write_model(model, again)
        if contents(data)[0]["format"] == FORMAT and as_written_by(data, again.getvalue()) != data:
            raise AssertionError("a file was accepted that the library would write differently")
        _score(model)
    return True


def _score(model: Any) -> None:
    """Score rows that take different branches of trees; ValueError is the answer of a model whose numbers overflow."""
    if hasattr(model, "steps") or model.n_features_in_ > WIDEST:
        return  # a table's columns have names and types, which these rows do not have
    for value in (0.0, 1.0, -1e9, np.nan):
        try:
            with np.errstate(all="ignore"):
                model.predict(np.full((1, model.n_features_in_), value))
        except ValueError:
            pass


def contents(data: bytes) -> tuple[dict[str, Any], dict[str, Any]]:
    """The manifest and the arrays of a file."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        manifest = json.loads(archive.read("manifest.json"))
        arrays = {name: np.load(io.BytesIO(archive.read(f"arrays/{name}.npy"))) for name in manifest["arrays"]}
    return manifest, arrays


def written(manifest: dict[str, Any], arrays: dict[str, Any]) -> bytes:
    """A file of these contents, with the right checksums."""
    manifest["arrays"], members = packed(arrays)
    file = io.BytesIO()
    write_members(file, manifest_members(manifest) | members)
    return file.getvalue()


def as_written_by(data: bytes, again: bytes) -> bytes:
    """The file `again` with the version of `data` and without the parameters that this version did not have yet."""
    (given, _), (manifest, arrays) = contents(data), contents(again)
    manifest["library"] = given["library"]
    _leave_out(given["model"], manifest["model"])
    return written(manifest, arrays)


def _leave_out(given: Any, found: Any) -> None:
    for name in [*found] if isinstance(found, dict) else ():
        if name == "parameters":
            # of scikit-learn's classifiers, a value that is a default here may be written out in the file
            found[name] = {key: found[name].get(key, value) for key, value in given[name].items()}
        elif isinstance(given, dict):
            _leave_out(given.get(name), found[name])
    for one, other in zip(given, found, strict=False) if isinstance(given, list) and isinstance(found, list) else ():
        _leave_out(one, other)


def mutate(data: bytes, seed: int, bytewise: Callable[[bytes], bytes]) -> bytes:
    """Change a file: in one of eight cases any bytes, otherwise its contents."""
    rng = random.Random(seed)  # noqa: S311 (mutations, not secrets)
    if rng.random() < 0.125:
        return bytewise(data)
    try:
        manifest, arrays = contents(data)
        for _ in range(rng.choice((1, 1, 1, 2, 4))):
            (_change_manifest if rng.random() < 0.6 else _change_arrays)(rng, manifest, arrays)
        return written(manifest, arrays)
    except Exception:  # noqa: BLE001 (contents that cannot be read or written: any bytes are changed instead)
        return bytewise(data)


def _places(part: Any) -> Iterator[tuple[Any, Any]]:
    """Every place in nested objects and lists, as a container and a key."""
    entries = part.items() if isinstance(part, dict) else enumerate(part) if isinstance(part, list) else ()
    for key, value in entries:
        yield part, key
        yield from _places(value)


def _change_manifest(rng: random.Random, manifest: dict[str, Any], arrays: dict[str, Any]) -> None:
    del arrays
    places = [*_places(manifest["model"]), (manifest, "format"), (manifest, "library"), (manifest, "model")]
    part, key = rng.choice(places)
    action, value = rng.randrange(8), part[key]
    if action == 0:
        part[key] = rng.choice(NUMBERS)
    elif action == 1:
        part[key] = copy.deepcopy(rng.choice(OTHERS))
    elif action == 2:
        part[key] = _near(rng, value)
    elif action == 3:  # the value of another place
        other, there = rng.choice(places)
        part[key] = copy.deepcopy(other[there])
    elif action == 4:
        del part[key]
    elif action == 5 and isinstance(part, dict):
        part[rng.choice([str(there) for _, there in places])] = copy.deepcopy(value)
    elif action == 6 and isinstance(value, list):
        rng.shuffle(value)
    else:
        part[key] = [value] if rng.random() < 0.5 else {str(key): value}


def _near(rng: random.Random, value: Any) -> Any:
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + rng.choice((-1, 1, 2, 64))
    if isinstance(value, float):
        return rng.choice((-value, value * 2, value / 2, value + 1, np.nextafter(value, np.inf).item(), int(value)))
    if isinstance(value, str):
        return rng.choice((value[1:], value + "a", value.upper(), value[::-1]))
    return value * 2 if isinstance(value, list) else value


def _change_arrays(rng: random.Random, manifest: dict[str, Any], arrays: dict[str, Any]) -> None:
    del manifest
    name = rng.choice(list(arrays))
    array, action = arrays[name].copy(), rng.randrange(9)
    with np.errstate(all="ignore"):
        if action == 0 and array.size:
            array.flat[rng.randrange(array.size)] = rng.choice(SPECIAL)
        elif action == 1 and array.size:
            array.flat[rng.randrange(array.size)] += rng.choice((-1, 1))
        elif action == 2:
            array = array[: rng.randrange(len(array) + 1)] if array.ndim else array
        elif action == 3:
            array = array.astype(rng.choice(DTYPES))
        elif action == 4:
            shaped = (array[..., :1], array.reshape(-1), array[np.newaxis], array[::-1])
            array = rng.choice((*shaped, 0 * array, -array, array * 2))
        elif action == 5:
            arrays[rng.choice((*arrays, "evil", "machine.weights"))] = array
        elif action == 6:
            array = np.concatenate([array, array[-1:]]) if array.ndim else array
        elif action == 7:
            arrays.update({key: arrays.pop(key) for key in rng.sample(list(arrays), len(arrays))})
        else:
            del arrays[name]
            return
    arrays[name] = array
