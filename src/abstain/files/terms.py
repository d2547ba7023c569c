"""What decisions are made in, as JSON and back: classes, reject label, prices and the units of the score."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abstain.costs import Costs
from abstain.estimators.decide import Terms
from abstain.files.errors import ModelFileError
from abstain.files.schema import Fields
from abstain.files.values import DTYPES, from_json, to_json
from abstain.labels import Labels
from abstain.thresholds import Thresholds

WIDEST = 1024  # characters of a text dtype, unless a class itself is longer


def terms_state(terms: Terms, thresholds: Thresholds) -> dict[str, Any]:
    """Terms and thresholds of a fitted estimator."""
    labels = terms.labels
    if labels.classes.dtype.str not in DTYPES and labels.classes.dtype.kind not in "UO":
        raise ValueError(f"classes of dtype {labels.classes.dtype} cannot be held by a model file; use plain numbers.")
    return {
        "dtype": labels.classes.dtype.str,
        "classes": to_json("classes_", labels.classes.tolist()),
        "positive": to_json("pos_label", labels.positive),
        "reject_label": to_json("reject_label", labels.reject_label),
        "costs": to_json("costs", terms.costs),
        "cut": to_json("cut", terms.cut),
        "log_odds_per_score": to_json("log_odds_per_score", terms.log_odds_per_score),
        "rejects": labels.rejects,
        "thresholds": to_json("thresholds_", thresholds),
    }


def terms_from(state: Any) -> tuple[Terms, Thresholds]:
    """Terms and thresholds, made by the constructors that check them."""
    fields = Fields(state, "decisions")
    classes = _classes(fields)
    positive, reject_label = from_json(fields.take("positive")), from_json(fields.take("reject_label"))
    rejects = fields.take("rejects", bool)
    asked = "auto" if reject_label is None else reject_label
    labels = Labels.of(classes, pos_label=positive, reject_label=asked, rejects=rejects)
    same = labels.classes.tolist() == classes.tolist() and labels.positive == positive
    if not same or labels.reject_label != reject_label or type(labels.reject_label) is not type(reject_label):
        raise ModelFileError("its classes, positive class and reject label do not go together.")
    costs, thresholds = from_json(fields.take("costs")), from_json(fields.take("thresholds"))
    if not (costs is None or isinstance(costs, Costs)) or not isinstance(thresholds, Thresholds):
        raise ModelFileError("its costs or thresholds are something else.")
    if thresholds.rejects and not rejects:
        raise ModelFileError("its thresholds reject, and its labels have no name for a reject.")
    cut, unit = (_real(fields, name) for name in ("cut", "log_odds_per_score"))
    fields.end()
    return Terms(labels, costs, cut=cut, log_odds_per_score=unit), thresholds


def attributes(terms: Terms, thresholds: Thresholds) -> dict[str, Any]:
    """The fitted attributes that follow from the terms."""
    labels = terms.labels
    return {
        "classes_": labels.classes,
        "reject_label_": labels.reject_label,
        "thresholds_": thresholds,
        "_terms": terms,
    }


def _real(fields: Fields, name: str) -> float:
    value = from_json(fields.take(name))
    if not isinstance(value, float):
        raise ModelFileError(f"the field {name!r} of the decisions must be a number.")
    return value


def _classes(fields: Fields) -> NDArray[Any]:
    dtype, values = fields.take("dtype", str), from_json(fields.take("classes", list))
    texts = all(isinstance(value, str) for value in values)
    if dtype in DTYPES and not any(isinstance(value, str) for value in values):
        return np.array(values, dtype=dtype)
    if texts and dtype == "|O":
        return np.array(values, dtype=object)
    width = re.fullmatch(r"[<>]U([1-9][0-9]{0,8})", dtype)
    if not texts or width is None or int(width[1]) > max(WIDEST, *map(len, values), 1):
        raise ModelFileError("its classes are not of the kind that its manifest says.")
    return np.array(values, dtype=dtype)
