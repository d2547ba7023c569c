"""The fitted part of a rule as JSON, and back: its classes, and cuts that do not follow from its parameters."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abstain.files.format.errors import ModelFileError
from abstain.files.format.schema import Fields
from abstain.files.format.values import DTYPES, from_json, to_json
from abstain.rules.action_rule import ActionRule
from abstain.rules.row_rule import RowRule
from abstain.rules.rule import Rule

WIDEST = 1024  # characters of a string dtype, unless a class itself is longer


def rule_state(rule: Rule | ActionRule | RowRule, cuts: tuple[float, ...] = ()) -> dict[str, Any]:
    """Give the classes of a rule and the cuts; costs and labels follow from the estimator's parameters."""
    classes = rule.labels.classes
    if classes.dtype.str not in DTYPES and classes.dtype.kind not in "UO":
        raise ValueError(f"a model file cannot contain classes of dtype {classes.dtype}; use plain numbers.")
    return {
        "dtype": classes.dtype.str,
        "classes": to_json("classes_", classes.tolist()),
        "cuts": [to_json("cuts", float(cut)) for cut in cuts],
    }


def rule_from(given: Any, *cuts: int) -> tuple[NDArray[Any], list[float]]:
    """Give the classes and one of these numbers of cuts; the estimator makes the rule from them and checks them."""
    fields = Fields(given, "rule")
    classes, found = _classes(fields), [from_json(cut) for cut in fields.take("cuts", list)]
    fields.end()
    if len(found) not in cuts or not all(isinstance(cut, float) for cut in found):
        raise ModelFileError(f"its rule does not have {' or '.join(map(str, cuts))} cuts, each a number.")
    return classes, found


def check_same(rule: Rule | ActionRule | RowRule, fitted: Rule | ActionRule | RowRule) -> None:
    """Compare the rule that the parameters imply with the fitted one."""
    same = type(rule) is type(fitted) and rule.costs == fitted.costs
    if not isinstance(rule, RowRule) and not isinstance(fitted, RowRule):
        same &= rule.thresholds == fitted.thresholds and repr(rule.cut) == repr(fitted.cut)
    same &= repr(rule.unit) == repr(fitted.unit)  # so that nan equals nan
    named = rule.labels.reject_label == fitted.labels.reject_label and rule.labels.positive == fitted.labels.positive
    if not (same and named and rule.labels.rejects == fitted.labels.rejects):
        raise ModelFileError("its costs, thresholds or labels do not match its parameters.")


def _classes(fields: Fields) -> NDArray[Any]:
    dtype, values = fields.take("dtype", str), from_json(fields.take("classes", list))
    texts = all(isinstance(value, str) for value in values)
    if dtype in DTYPES and not any(isinstance(value, str) for value in values):
        return np.array(values, dtype=dtype)
    if texts and dtype == "|O":
        return np.array(values, dtype=object)
    width = re.fullmatch(r"[<>]U([1-9][0-9]{0,8})", dtype)
    if not texts or width is None or int(width[1]) > max(WIDEST, *map(len, values), 1):
        raise ModelFileError("its classes do not have the type given in its manifest.")
    return np.array(values, dtype=dtype)
