"""Fitted RejectSVC and RejectSVCCV of more than two classes as fields and arrays, and back."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import astuple
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

from abstain.estimators.fitting.implied import implied
from abstain.estimators.fitting.kernel_fit import FittedSVC
from abstain.estimators.svm.svc import RejectSVC
from abstain.estimators.svm.svc_cv import FittedSearch, RejectSVCCV
from abstain.files.codecs.machine_codec import (
    DENSE,
    FLOAT,
    INDEX,
    SPARSE,
    SPARSE_KINDS,
    check_kernel,
    kernel_from,
    vector_parts,
    vectors_from,
)
from abstain.files.codecs.rule_codec import rule_from, rule_state
from abstain.files.codecs.svc_codec import (
    UNBALANCED,
    check_grid,
    check_proof,
    grid_arrays,
    grid_from,
    proof_from,
    proof_state,
    search_specs,
    svc_from,
    svc_parts,
)
from abstain.files.format.arrays import Arrays
from abstain.files.format.errors import ModelFileError
from abstain.files.format.schema import Fields, Spec, fitting
from abstain.files.format.values import to_json
from abstain.kernels import Kernel
from abstain.machines.class_machine import OneVsOneMachine, OneVsRestMachine
from abstain.machines.kernel_machine import KernelMachine
from abstain.rules.class_rule import ClassRule
from abstain.rules.tuning.class_lead import Lead

__all__ = ["any_svc_from", "any_svc_parts"]

# m machines on s of n training rows of q classes; e entries of a sparse matrix of coefficients
SHARED: dict[str, Spec] = {
    "support": (("<i8",), ("s",)),
    "biases": (FLOAT, ("m",)),
    "class_support": (("<i8",), ("q",)),
}
REST: dict[str, Spec] = {"coef": (FLOAT, ("m", "s")), "sets": (("|i1",), ("m", "n"))}
PAIRS: dict[str, Spec] = {
    "coef_data": (FLOAT, ("e",)),
    "coef_indices": (INDEX, ("e",)),
    "coef_indptr": (INDEX, ("m + 1",)),
}


def any_svc_parts(estimator: RejectSVC) -> tuple[dict[str, Any], Arrays]:
    """Give the fields and arrays of a fitted machine of any number of classes."""
    return (class_parts if len(estimator._fitted_.proofs) > 1 else svc_parts)(estimator)


def any_svc_from(estimator: RejectSVC, fields: Fields, arrays: Arrays, n_features: int) -> Any:
    """Make the fitted value from fields and arrays."""
    return (class_from if "machines" in fields else svc_from)(estimator, fields, arrays, n_features)


def class_parts(estimator: RejectSVC) -> tuple[dict[str, Any], Arrays]:
    """Give the fields and arrays of machines of several classes; an error if they contradict the parameters."""
    fitted: FittedSVC = estimator._fitted_
    machine, grid = fitted.machine, fitted.grid if isinstance(fitted, FittedSearch) else None
    kernel = machine.kernel
    if not isinstance(kernel, Kernel):
        to_json("kernel", kernel)
        raise TypeError  # never reached: to_json raises for a callable
    rule, _ = implied(estimator, _twice(fitted.rule.labels.classes))
    if grid is not None:
        check_grid(estimator, grid, rule.costs)
    check_kernel(estimator, machine, estimator.gamma if grid is None else grid.best[1])
    lead = getattr(fitted.rule, "lead", None)
    if (lead is not None) != (grid is not None and grid.best_is_tuned):
        raise ModelFileError("the probabilities of its rule are not what its search found.")
    _check_machines(fitted, float(estimator.tol))
    storage, arrays = vector_parts(machine)
    state = {
        "machines": {
            "kernel": [kernel.name, kernel.gamma, kernel.coef0, kernel.degree],
            "n_rows": machine.n_rows,
            "vectors": storage,
        },
        "rule": rule_state(fitted.rule, () if lead is None else astuple(lead)),
        "proofs": [proof_state(proof) for proof in fitted.proofs],
    }
    arrays |= {
        "support": machine.support.astype("<i8"),
        "biases": machine.biases,
        "class_support": fitted.n_support.astype("<i8"),
    }
    if isinstance(machine, OneVsOneMachine):
        coef = csr_array(machine.coef)
        arrays |= {"coef_data": coef.data, "coef_indices": coef.indices, "coef_indptr": coef.indptr}
    else:
        arrays |= {"coef": machine.coef, "sets": np.asarray(fitted.sets)}
    return state, arrays | ({} if grid is None else grid_arrays(grid, machine.n_rows))


def class_from(estimator: RejectSVC, fields: Fields, arrays: Arrays, n_features: int) -> FittedSVC:
    """Make the fitted value from fields and arrays; `class_parts` compares them with the parameters."""
    searches = isinstance(estimator, RejectSVCCV)
    # one number: a scale without the sigmoid's correction, as in older files
    classes, numbers = rule_from(fields.take("rule", dict), *((0, 1, 3) if searches else (0,)))
    if len(classes) < 3 or (np.unique(classes) != classes).any():
        raise ModelFileError("its classes are not more than two, different and sorted.")
    rule, losses = implied(estimator, _twice(classes))
    if numbers:
        rule = with_lead(rule, numbers)
    rest, q = isinstance(rule, ClassRule), len(classes)
    m = q if rest else q * (q - 1) // 2
    given = Fields(fields.take("machines", dict), "machines")
    kernel, n_rows = kernel_from(given), given.whole("n_rows", least=1)
    storage = given.one_of("vectors", ("dense", *SPARSE_KINDS))
    given.end()
    precomputed = kernel.name == "precomputed"
    specs = SHARED | (REST if rest else PAIRS) | (SPARSE if storage != "dense" else {} if precomputed else DENSE)
    if searches:
        specs |= search_specs(arrays, halves=True)
    letters = {"d": n_features, "n": n_rows, "m": m, "q": q, "m + 1": m + 1}
    sizes = fitting(arrays, specs, "machines", letters)
    support, n_support = arrays["support"].astype(np.intp, copy=False), arrays["class_support"]
    inside = len(np.unique(support)) == len(support) and ((support >= 0) & (support < n_rows)).all()
    if not inside or (n_support < 0).any() or n_support.sum() != len(support):
        raise ModelFileError("the indices of its support vectors are not different indices of training rows.")
    if precomputed and n_rows != n_features:
        raise ModelFileError("its Gram matrix does not have one column per training row.")
    vectors = np.empty((0, 0)) if precomputed else vectors_from(arrays, storage, sizes)
    listed = fields.take("proofs", list)
    if len(listed) != m:
        raise ModelFileError("it does not have one proof per machine.")
    proofs = tuple(proof_from(Fields({"proof": proof}, "machines")) for proof in listed)
    if rest:
        machine = OneVsRestMachine(kernel, vectors, arrays["coef"], arrays["biases"], support, n_rows)
    else:
        machine = OneVsOneMachine(
            kernel, vectors, _pair_coef(arrays, m, len(support)), arrays["biases"], support, n_rows, n_support
        )
    n_knots = max(loss.n_knots for loss in losses)
    found = FittedSVC(
        machine, rule, proofs, n_support=n_support.astype(np.int32), sets=arrays.get("sets"), n_knots=n_knots
    )
    return FittedSearch.of(found, grid_from(arrays, n_rows)) if searches else found


def with_lead(rule: Any, numbers: Sequence[float]) -> ClassRule:
    """Give the rule with probabilities by a lead that is possible."""
    lead, finite = Lead(*numbers), all(map(math.isfinite, numbers))
    if not (isinstance(rule, ClassRule) and finite and lead.scale > 0.0 and lead.slope > 0.0):
        raise ModelFileError("the scale, slope and shift of its scores are not possible.")
    return rule.tuned(lead)


def _pair_coef(arrays: Arrays, m: int, s: int) -> Any:
    data, indices, indptr = (arrays[name] for name in ("coef_data", "coef_indices", "coef_indptr"))
    rising = indptr[0] == 0 and indptr[-1] == len(data) and (np.diff(indptr) >= 0).all()
    if not rising or indptr.dtype != indices.dtype or (len(indices) and not 0 <= indices.min() <= indices.max() < s):
        raise ModelFileError("the coefficients of its pairs have indices that do not match.")
    coef = csr_array((data, indices, indptr), shape=(m, s))
    if not coef.has_canonical_format:
        raise ModelFileError("the coefficients of its pairs have unsorted or repeated columns.")
    return coef


def _check_machines(fitted: FittedSVC, tol: float) -> None:
    """Check that the coefficients of each machine sum to 0, that every vector is used, and the proofs."""
    machine = fitted.machine
    coef = machine.coef if issparse(machine.coef) else csr_array(machine.coef)
    if np.bincount(coef.indices[coef.data != 0], minlength=coef.shape[1]).min(initial=1) < 1:
        raise ModelFileError("one of its support vectors has no coefficient.")
    if fitted.sets is not None and ((fitted.sets < 0) | (fitted.sets > 2 * fitted.n_knots)).any():
        raise ModelFileError("its sets of training rows are out of range.")
    for k, proof in enumerate(fitted.proofs):
        row = coef.data[coef.indptr[k] : coef.indptr[k + 1]]
        size = np.abs(row)
        room = max(UNBALANCED * float(size.sum()), proof.violation * float(size.max(initial=0.0)))
        if abs(float(row.sum())) > room:
            raise ModelFileError("the coefficients of one of its machines do not sum to 0.")
        one = KernelMachine(machine.kernel, np.empty((0, 0)), row, float(machine.biases[k]), machine.support, 0)
        check_proof(proof, one, tol)


def _twice(classes: NDArray[Any]) -> NDArray[Any]:
    """Each class twice, because scikit-learn warns of more than 20 labels that all differ."""
    return np.repeat(classes, 2)
