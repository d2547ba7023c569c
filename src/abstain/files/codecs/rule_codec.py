"""The fitted part of a rule (classes, and cuts that do not follow from parameters) and proofs as JSON, and back."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import fields as fields_of
from dataclasses import is_dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from abstain.dual.proof import Proof, Status
from abstain.files.format.errors import ModelFileError, refuse
from abstain.files.format.schema import FLAG, Fields, one_of, real, record, whole
from abstain.files.format.values import DTYPES, from_json, to_json
from abstain.kernels import Kernel

WIDEST = 1024  # characters of a string dtype, unless a class itself is longer


def rule_state(rule: Any, cuts: tuple[float, ...] = ()) -> dict[str, Any]:
    """Return the classes of a rule and the cuts; costs and labels follow from the estimator's parameters."""
    classes = rule.labels.classes
    if classes.dtype.str not in DTYPES and classes.dtype.kind not in "UO":
        raise ValueError(f"a model file cannot contain classes of dtype {classes.dtype}; use plain numbers.")
    return {
        "dtype": classes.dtype.str,
        "classes": to_json("classes_", classes.tolist()),
        "cuts": [to_json("cuts", float(cut)) for cut in cuts],
    }


def rule_from(given: Any, cuts: Callable[[int], tuple[int, ...]]) -> tuple[NDArray[Any], tuple[float, ...]]:
    """Return the classes and the cuts, of which there may be so many for this number of classes."""
    fields = Fields(given, "rule")
    classes, found = _classes(fields), tuple(from_json(cut) for cut in fields.take("cuts", list))
    if len(classes) < 2 or not np.array_equal(np.unique(classes), classes):
        raise ModelFileError("its classes are not two or more, different and sorted.")
    allowed = cuts(len(classes))
    if len(found) not in allowed or not all(isinstance(cut, float) for cut in found):
        raise ModelFileError(f"its rule does not have {' or '.join(map(str, allowed))} cuts, each a number.")
    return classes, found


def check_same(rule: Any, fitted: Any) -> None:
    """Compare the rule that the parameters imply with the fitted one."""
    refuse(not _same(rule, fitted), "its costs, thresholds or labels do not match its parameters.")


def _same(first: Any, second: Any) -> bool:
    """Return whether two values have the same type and, however deep, the same fields; NaN equals NaN."""
    if type(first) is not type(second):
        return False
    if is_dataclass(first):
        return all(_same(getattr(first, one.name), getattr(second, one.name)) for one in fields_of(first))
    if isinstance(first, np.ndarray):
        return first.dtype == second.dtype and np.array_equal(first, second, equal_nan=first.dtype.kind == "f")
    if isinstance(first, tuple | list):
        return len(first) == len(second) and all(map(_same, first, second))
    return bool(first == second) or repr(first) == repr(second)


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


PROOF = {
    "objective": real(),
    "dual_objective": real(),
    "gap": real(0.0),
    "violation": real(0.0),
    "status": one_of([one.value for one in Status]),
    "iterations": whole(),
    "definite": FLAG,
}
UNBALANCED = 1e-6  # rounding error allowed in a sum, as a share of the sizes of its terms


def proofs_state(proofs: Sequence[Proof]) -> list[dict[str, Any]]:
    """Return the fields of proofs."""
    return [record(proof, PROOF) for proof in proofs]


def proofs_from(given: list[Any], count: int) -> tuple[Proof, ...]:
    """Make so many proofs."""
    refuse(len(given) != count, "it does not have one proof per machine.")
    return tuple(Proof(**Fields(one, "proof").record(PROOF)) for one in given)


def check_objectives(proof: Proof, *, room: float = 0.0, scale: float | None = None) -> None:
    """Check that the gap is at least the difference of the objectives, up to rounding and `room`.

    The gap is relative to the objective, or to `scale`. Whether the objectives are those of the machine depends on
    weights of training rows, which are not in a file.
    """
    sizes = abs(proof.objective) + abs(proof.dual_objective)
    apart, room = proof.objective - proof.dual_objective, room + UNBALANCED * sizes
    if not math.isfinite(sizes) or proof.gap >= sys.float_info.max:
        return
    refuse(apart < -room, "the dual value of its proof is above the primal one.")
    if apart - proof.gap * (abs(proof.objective) if scale is None else scale) > room:
        raise ModelFileError("the gap of its proof is smaller than the difference of its objectives.")


def check_expansion(proof: Proof, coef: Any, bias: float, kernel: Any, tol: float) -> None:
    """Check the proof of a kernel expansion.

    The gap counts the bias times the sum of the coefficients by its size, the objectives by its sign.
    """
    room = UNBALANCED * abs(bias) * float(np.abs(coef).sum()) + 3.0 * abs(bias * float(coef.sum()))
    if math.isfinite(room):
        check_objectives(proof, room=room)
    check_status(proof, kernel, tol)


def check_status(proof: Proof, kernel: Any, tol: float) -> None:
    """Check that the proof fits the kernel, and that "optimal" is proven."""
    if isinstance(kernel, Kernel) and kernel.formula.definite(kernel) and not proof.definite:
        raise ModelFileError("its kernel is marked as indefinite, but this kernel is always positive semidefinite.")
    _check_optimal(proof, tol, proven=proof.proves(tol))


def _check_optimal(proof: Proof, tol: float, *, proven: bool) -> None:
    if proof.status == Status.OPTIMAL and not proven:
        raise ModelFileError(f"its status is optimal, but its proof does not show that for tol={tol:g}.")


def check_linear(proof: Proof, w: Any, tol: float) -> None:
    """Check a proof against the weights and in itself.

    ::

        objective >= 1/2 |w|^2,    gap objective >= objective - dual objective >= 1/2 violation^2

    The losses are not negative, and the gap is a sum of such terms and of 1/2 |w - sum_i y_i gamma_i x_i|^2.
    """
    with np.errstate(over="ignore"):
        square = 0.5 * float(w @ w)
    refuse(not proof.definite, "its kernel is marked as indefinite, but a linear kernel is positive semidefinite.")
    check_objectives(proof)
    sizes = abs(proof.objective) + abs(proof.dual_objective)
    if proof.gap < sys.float_info.max and math.isfinite(sizes):
        if proof.objective < square - UNBALANCED * sizes:
            raise ModelFileError("the objective of its proof is smaller than its weights alone make it.")
        if 0.5 * proof.violation**2 - proof.gap * abs(proof.objective) > UNBALANCED * sizes:
            raise ModelFileError("the violation of its proof is larger than its gap allows.")
    _check_optimal(proof, tol, proven=proof.gap <= tol)
