"""Changes of a model file, for files whose every checksum is right and whose contents are not."""

import io
import json
import zipfile

import numpy as np
import pytest

from abstain.files.format.container import LARGEST
from abstain.files.format.errors import ModelFileError
from abstain.files.model_file import read


def opened(raw):
    return read(io.BytesIO(raw), len(raw), LARGEST)


def refused(raw, message):
    with pytest.raises(ModelFileError, match=message):
        opened(raw)


def manifest_of(raw):
    with zipfile.ZipFile(io.BytesIO(raw)) as archive:
        return json.loads(archive.read("manifest.json"))


def part_at(model, path):
    """The part of the model that contains the end of a path, and its key there."""
    *way, last = path.split("/") if isinstance(path, str) else path
    for step in way:
        model = model[int(step) if isinstance(model, list) else step]
    return model, int(last) if isinstance(model, list) else last


def field(path, value):
    """A change of one field of the model: a new value, or a function of the old one."""

    def change(inside):
        part, key = part_at(inside.model, path)
        part[key] = value(part[key]) if callable(value) else value

    return change


def lacking(path):
    """A change that removes a field of the model."""

    def change(inside):
        part, key = part_at(inside.model, path)
        del part[key]

    return change


def array(name, value):
    """A change of one array: a new one, or a function that returns another or alters the one that it is given."""

    def change(inside):
        old = inside.arrays[name].copy() if name in inside.arrays else None
        new = value(old) if callable(value) else value
        inside.arrays[name] = old if new is None else new

    return change


def entry(name, at, value):
    """A change of one entry of an array."""
    return array(name, lambda old: old.flat.__setitem__(at, value))


def shifted(name, at, by):
    return array(name, lambda old: old.flat.__setitem__(at, old.flat[at] + by))


def dropped(name):
    return lambda inside: inside.arrays.pop(name)


def both(*changes):
    return lambda inside: [change(inside) for change in changes]


def parameters(**values):
    return lambda inside: inside.model["parameters"].update(values)


def other_whole(old):
    with np.errstate(invalid="ignore"):
        return old.astype("<i8" if old.dtype == np.int32 else "<i4")
