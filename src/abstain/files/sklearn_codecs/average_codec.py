"""An average of machines as fields and arrays, and back: each machine's arrays have a letter of its own."""

from __future__ import annotations

from string import ascii_lowercase
from typing import Any

from abstain.candidates.average import MachineAverage
from abstain.files.format.errors import ModelFileError, refuse, unsupported
from abstain.files.format.schema import Arrays, Fields, Parts, beside, one_of, prefixed, within
from abstain.files.sklearn_codecs.classifiers import (
    CALIBRATED,
    INSIDE,
    Codec,
    classifier_from,
    classifier_parts,
    codec_of,
    table,
)
from abstain.files.sklearn_codecs.steps_codec import asked

AVERAGED = INSIDE | table(CALIBRATED)
AVERAGED_PREFIXES = tuple(f"{letter}." for letter in ascii_lowercase)  # of the arrays of each machine of an average


def average_parts(average: MachineAverage) -> Parts:
    """Return the fields and arrays of a fitted average."""
    states, arrays = [], dict[str, Any]()
    if len(average.estimators) > len(AVERAGED_PREFIXES):
        raise unsupported("has an average of more machines than letters", "average fewer")
    for at, ((name, given), part) in enumerate(zip(average.estimators, average.estimators_, strict=True)):
        codec = codec_of(part, AVERAGED)
        if codec is None:
            what = f"has an average of machines with a {type(part).__name__}"
            raise unsupported(what, f"use some of {', '.join(AVERAGED)}")
        refuse(asked(given) != asked(part), "the parameters of an averaged machine differ from those that were fitted.")
        refuse(part.classes_.tolist() != average.classes_.tolist(), "its averaged machines have different classes.")
        state, own = classifier_parts(part, codec)
        states.append([name, state])
        arrays |= prefixed(own, AVERAGED_PREFIXES[at])
    return {"machines": states}, arrays


def average_attributes(
    average: MachineAverage, fields: Fields, arrays: Arrays, n_features: int, classes: Any
) -> dict[str, Any]:
    """Return the attributes of an average for these classes, its parameter included."""
    del average
    given, parts, left = fields.take("machines", list), dict[str, Any](), arrays
    pairs = all(isinstance(one, list) and len(one) == 2 for one in given)
    if not pairs or not 1 <= len(given) <= len(AVERAGED_PREFIXES):
        raise ModelFileError(f"its average is not of 1 to {len(AVERAGED_PREFIXES)} machines, each with a name.")
    for at, (name, state) in enumerate(given):
        inner, prefix = Fields(state, "classifier"), AVERAGED_PREFIXES[at]
        refuse(not isinstance(name, str) or name in parts, "two of its averaged machines have the same name.")
        kind = inner.take("kind", one_of(AVERAGED))
        parts[name] = classifier_from(kind, AVERAGED, inner, within(left, prefix), classes)
        left = beside(left, prefix)
        same = parts[name].n_features_in_ == n_features and parts[name].classes_.tolist() == classes.tolist()
        refuse(not same, "its averaged machines differ in their features or classes.")
    refuse(bool(left), "its average has arrays of no machine.")
    return dict(vars(MachineAverage.of(parts)))


AVERAGE = Codec(MachineAverage, average_parts, average_attributes)
