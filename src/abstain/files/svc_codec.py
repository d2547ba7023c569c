"""RejectSVC and RejectSVCCV as fields and arrays, and back."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from abstain.dual.certificate import SET_NAMES
from abstain.dual.solution import Status
from abstain.estimators.svc import RejectSVC
from abstain.estimators.svc_cv import RejectSVCCV
from abstain.files.arrays import Arrays
from abstain.files.errors import ModelFileError
from abstain.files.expansion import (
    FLOAT,
    SPARSE_KINDS,
    check_support,
    kernel_from,
    kernel_state,
    vector_parts,
    vector_specs,
    vectors_from,
)
from abstain.files.schema import Fields, Spec, fitting
from abstain.files.terms import attributes, terms_from, terms_state
from abstain.files.values import from_json, to_json

# s support vectors of n training rows; p pairs of a search on f folds
MACHINE: dict[str, Spec] = {
    "support": (("<i8",), ("s",)),
    "n_support": (("<i4",), (2,)),
    "dual_coef": (FLOAT, (1, "s")),
    "intercept": (FLOAT, (1,)),
    "sets": (("|i1",), ("n",)),
    "weight": (FLOAT, ("n",)),
}
SEARCH: dict[str, Spec] = {
    "search_c": (FLOAT, ("p",)),
    "search_scores": (FLOAT, ("p", "f")),
    "search_mean": (FLOAT, ("p",)),
    "search_std": (FLOAT, ("p",)),
    "search_rank": (("<i4",), ("p",)),
}
SEARCH_GAMMA: dict[str, Spec] = {"search_gamma": (FLOAT, ("p",))}
NUMBERS = ("objective_", "dual_objective_", "duality_gap_", "_kkt_violation")


def machine_parts(fitted: RejectSVC) -> tuple[dict[str, Any], Arrays]:
    """Fields and arrays of a fitted machine."""
    kernel = kernel_state(fitted._kernel)
    storage, vectors = vector_parts(fitted._kernel, fitted.support_vectors_)
    state: dict[str, Any] = {
        "kernel": kernel,
        "decisions": terms_state(fitted._terms, fitted.thresholds_),
        "set_names": list(fitted.set_names_),
        "status": fitted.status_,
        "n_iter": int(fitted.n_iter_),
        "indefinite": bool(fitted._indefinite),
        "certificate": [to_json(name, getattr(fitted, name)) for name in NUMBERS],
        "vectors": storage,
    }
    arrays = {
        "support": fitted.support_.astype("<i8"),
        "n_support": fitted.n_support_,
        "dual_coef": fitted.dual_coef_,
        "intercept": fitted.intercept_,
        "sets": fitted.sets_,
        "weight": fitted._weight,
        **vectors,
    }
    if isinstance(fitted, RejectSVCCV):
        _add_search(fitted, state, arrays)
    return state, arrays


def _add_search(fitted: RejectSVCCV, state: dict[str, Any], arrays: Arrays) -> None:
    results = fitted.cv_results_
    state["chosen"] = [to_json("C_", fitted.C_), to_json("gamma_", fitted.gamma_), to_json("best", fitted.best_score_)]
    arrays["search_c"] = np.asarray(results["param_C"])
    if "param_gamma" in results:
        arrays["search_gamma"] = np.asarray(results["param_gamma"])
    scores = [results[f"split{fold}_test_score"] for fold in range(fitted.n_splits_)]
    arrays["search_scores"] = np.column_stack(scores)
    for name in ("mean", "std", "rank"):
        arrays[f"search_{name}"] = results[f"{name}_test_score"]


def machine_attributes(fields: Fields, arrays: Arrays, n_features: int, *, search: bool) -> dict[str, Any]:
    """The fitted attributes of a machine, checked one by one and against each other."""
    kernel = kernel_from(fields)
    terms, thresholds = terms_from(fields.take("decisions", dict))
    set_names = tuple(fields.texts("set_names"))
    if set_names not in SET_NAMES.values():
        raise ModelFileError("the names of its sets are not those of any loss.")
    storage = fields.one_of("vectors", ("dense", *SPARSE_KINDS))
    chosen = fields.take("chosen", list) if search else None
    specs = MACHINE | vector_specs(kernel, storage) | _search_specs(arrays, search=search)
    numbers = fitting(arrays, specs, "machine", {"d": n_features})
    _check_rows(arrays, numbers, n_codes=len(set_names))
    if kernel.name == "precomputed" and numbers["n"] != n_features:
        raise ModelFileError("its Gram matrix has another number of columns than training rows.")
    found = {
        **attributes(terms, thresholds),
        "support_": arrays["support"].astype(np.intp, copy=False),
        "support_vectors_": vectors_from(arrays, kernel, storage, numbers),
        "n_support_": arrays["n_support"],
        "dual_coef_": arrays["dual_coef"],
        "intercept_": arrays["intercept"],
        "sets_": arrays["sets"],
        "set_names_": set_names,
        "n_iter_": fields.whole("n_iter"),
        "status_": fields.one_of("status", [status.value for status in Status]),
        **_certificate(fields),
        "_indefinite": fields.take("indefinite", bool),
        "_weight": arrays["weight"],
        "_kernel": kernel,
        "_X_fit": None,
    }
    return found | (_search(chosen, arrays) if chosen is not None else {})


def _certificate(fields: Fields) -> dict[str, float]:
    values = [from_json(value) for value in fields.take("certificate", list)]
    if len(values) != len(NUMBERS) or not all(isinstance(value, float) for value in values):
        raise ModelFileError("its certificate is not the four numbers that a certificate has.")
    return dict(zip(NUMBERS, values, strict=True))


def _search_specs(arrays: Arrays, *, search: bool) -> dict[str, Spec]:
    if not search:
        return {}
    return SEARCH | (SEARCH_GAMMA if "search_gamma" in arrays else {})


def _check_rows(arrays: Arrays, numbers: dict[str, int], n_codes: int) -> None:
    sets, s = arrays["sets"], numbers["s"]
    check_support(arrays, s, numbers["n"])
    if (arrays["n_support"] < 0).any() or int(arrays["n_support"].sum(dtype=np.int64)) != s:
        raise ModelFileError("its numbers of support vectors by class do not sum to the number of them.")
    if ((sets < 0) | (sets >= n_codes)).any() or (arrays["weight"] < 0).any():
        raise ModelFileError("its sets or weights of training rows are out of range.")


def _search(chosen: list[Any], arrays: Arrays) -> dict[str, Any]:
    if len(chosen) != 3:
        raise ModelFileError("its search has not chosen C, gamma and a score.")
    C, gamma, best_score = (from_json(value) for value in chosen)
    if not all(isinstance(value, float) for value in (C, gamma, best_score)):
        raise ModelFileError("its search has chosen something else than numbers.")
    columns: dict[str, NDArray[Any]] = {"C": arrays["search_c"]}
    if "search_gamma" in arrays:
        columns["gamma"] = arrays["search_gamma"]
    scores = arrays["search_scores"]
    if not scores.size:
        raise ModelFileError("its search has tried nothing.")
    late = np.isnan(scores).any(axis=1)
    if any((np.isnan(arrays[f"search_{name}"]) != late).any() for name in ("mean", "std")):
        raise ModelFileError("the means of its search are not missing where it had no time for a fold, or elsewhere.")
    values = zip(*(column.tolist() for column in columns.values()), strict=True)
    results = {
        "params": [dict(zip(columns, pair, strict=True)) for pair in values],
        **{f"param_{name}": np.ma.MaskedArray(column, mask=False) for name, column in columns.items()},
        **{f"split{fold}_test_score": scores[:, fold].copy() for fold in range(scores.shape[1])},
        **{f"{name}_test_score": arrays[f"search_{name}"] for name in ("mean", "std", "rank")},
    }
    return {"C_": C, "gamma_": gamma, "best_score_": best_score, "cv_results_": results, "n_splits_": scores.shape[1]}
