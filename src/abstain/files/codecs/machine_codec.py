"""Machines as fields and arrays, and back, and the estimators with a single one and nothing searched.

A `Form` is the table of what the file has of a machine; `machine_parts` and `machine_from` read it.
"""

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from abstain.dual.certificate import shortest_scale
from abstain.estimators.embedded.estimator import EmbeddedRejectSVC
from abstain.estimators.embedded.training import FittedEmbedded
from abstain.estimators.novelty.novelty_detector import FAR, Columns, FittedDetector, NoveltyDetector
from abstain.estimators.svm.one_class import FittedOneClass, OneClassSVM
from abstain.files.codecs import rule_codec as rules
from abstain.files.format import schema
from abstain.files.format.errors import ModelFileError, refuse
from abstain.files.format.values import to_json
from abstain.kernels import Kernel
from abstain.labels import Labels
from abstain.machines.kernel_machine import KernelMachine, OneVsOneMachine
from abstain.machines.linear_machine import LinearMachine

MACHINE = "machine."  # before the names of its arrays
CSR = ("data", "indices", "indptr")
SPARSE_KINDS = {"csr_array": sparse.csr_array, "csr_matrix": sparse.csr_matrix}


@dataclass(frozen=True)
class Form:
    """The fields and the arrays of a machine, both in the order of the file.

    Attributes
    ----------
    kind : type
    fields : str
    arrays : schema.Layout
        `vectors` stands for the arrays of the rows, which may be dense, sparse or, for a precomputed kernel, none.
    """

    kind: Any
    fields: str
    arrays: schema.Layout

    @property
    def table(self) -> dict[str, schema.Kind]:
        """The kinds of the fields."""
        return {name: FIELDS[name] for name in self.fields.split()}

    def specs(self, kernel: Any, storage: str) -> schema.Layout:
        """Return the arrays of a machine with this kernel and rows that are stored in this way."""
        rows = SPARSE
        if storage == "dense":
            rows = {} if kernel.name == "precomputed" else DENSE
        found: schema.Layout = {}
        for name, spec in self.arrays.items():
            found |= rows if name == "vectors" else {name: spec}
        return found


def _kernel(given: Any) -> Kernel:
    if not isinstance(given, list) or [type(value) for value in given] != [str, float, float, int]:
        raise ModelFileError("its kernel is not given by a name and three numbers.")
    name, gamma, coef0, degree = given
    refuse(degree >= 2**31, f"the degree of its kernel, {degree}, is larger than a C int.")
    return Kernel(name, gamma=gamma, coef0=coef0, degree=degree)


def _listed(kernel: Any) -> Any:
    named = isinstance(kernel, Kernel)
    return [kernel.name, kernel.gamma, kernel.coef0, kernel.degree] if named else to_json("kernel", kernel)


def _storage(vectors: Any) -> str:
    return type(vectors).__name__ if sparse.issparse(vectors) else "dense"


FIELDS = {"kernel": schema.Kind(lambda _: True, "a kernel", _kernel, _listed), "bias": schema.FINITE}
FIELDS |= {"n_rows": schema.whole(1), "vectors": replace(schema.one_of(("dense", *SPARSE_KINDS)), to=_storage)}
# s rows with d features, of n in training; m machines, one per class or pair of q classes; k and e numbers in a sparse
# matrix
DENSE = schema.layout(vectors="f8 s d")
SPARSE = schema.layout(vectors_data="f8 k", vectors_indices="i4|i8 k", vectors_indptr="i4|i8 s+1")
_SHARED = DENSE | schema.layout(support="i8 s", biases="f8 m", class_support="i8 q")
_PAIRS = schema.layout(coef_data="f8 e", coef_indices="i4|i8 e", coef_indptr="i4|i8 m+1")
LINEAR = Form(LinearMachine, "bias", schema.layout(weights="f8 d", centre="f8 d"))
LINEAR_CLASSES = Form(LinearMachine, "", schema.layout(weights="f8 m d", centre="f8 d", biases="f8 m"))
EXPANSION = Form(KernelMachine, "kernel bias n_rows vectors", schema.layout(support="i8 s", coef="f8 s") | DENSE)
LANDMARKS = Form(KernelMachine, "kernel vectors", DENSE | schema.layout(coef="f8 m s", biases="f8 m"))
CLASSES = Form(KernelMachine, "kernel n_rows vectors", _SHARED | schema.layout(coef="f8 m s", sets="i1 m n"))
PAIRS = Form(OneVsOneMachine, "kernel n_rows vectors", _SHARED | _PAIRS)


def machine_parts(form: Form, machine: Any, **more: Any) -> schema.Parts:
    """Return the fields and arrays of a machine, of which `more` are not its own; a callable kernel is an error."""
    fields, given = schema.record(machine, form.table), vars(machine) | {"biases": machine.bias} | more
    if form is PAIRS:
        given["coef"] = sparse.csr_array(machine.coef)
    for name in ("vectors", "coef"):
        if sparse.issparse(given.get(name)):
            given |= {f"{name}_{part}": getattr(given[name], part) for part in CSR}
    return fields, schema.stored(given, form.specs(given.get("kernel"), fields.get("vectors", "")))


def machine_from(form: Form, fields: schema.Fields, arrays: schema.Arrays, **letters: int) -> Any:
    """Make a machine from fields and arrays, checking each of them and that they agree."""
    found = fields.record(form.table)
    kernel, storage, n_rows = found.get("kernel"), found.get("vectors", ""), found.get("n_rows", 0)
    numbers = schema.fitting(arrays, form.specs(kernel, storage), "machine", {"n": n_rows} | letters)
    bias: Any = found.get("bias", arrays.get("biases"))
    if kernel is None:
        return LinearMachine(arrays["weights"], arrays["centre"], bias)
    precomputed = kernel.name == "precomputed"
    refuse(precomputed and n_rows != letters["d"], "its Gram matrix does not have one column per training row.")
    vectors = np.empty((0, 0)) if precomputed else arrays.get("vectors")
    if storage != "dense":
        vectors = csr_from(arrays, "vectors", (numbers["s"], numbers["d"]), SPARSE_KINDS[storage])
    if form is LANDMARKS:
        coef, bias = (arrays["coef"][0], float(bias[0])) if letters["m"] == 1 else (arrays["coef"], bias)
        return KernelMachine(kernel, vectors, coef, bias, np.arange(numbers["s"]), numbers["s"])
    given = kernel, vectors, arrays.get("coef"), bias, _support(form, arrays, n_rows), n_rows
    if form is not PAIRS:
        return KernelMachine(*given)
    coef = csr_from(arrays, "coef", (numbers["m"], numbers["s"]))
    return replace(OneVsOneMachine(*given, arrays["class_support"]), coef=coef)


def _support(form: Form, arrays: schema.Arrays, n_rows: int) -> NDArray[np.intp]:
    support: NDArray[np.intp] = arrays["support"].astype(np.intp, copy=False)
    rising, counts = form is EXPANSION, arrays.get("class_support", np.array([len(support)]))
    distinct = (np.diff(support) > 0).all() if rising else len(np.unique(support)) == len(support)
    inside = ((support >= 0) & (support < n_rows)).all()
    if not distinct or not inside or (counts < 0).any() or counts.sum() != len(support):
        order = "increasing" if rising else "different"
        raise ModelFileError(f"the indices of its support vectors are not {order} indices of training rows.")
    return support


def check_kernel(parameters: Any, machine: Any, gamma: Any) -> None:
    """Compare the machine's kernel with the one that the parameters and `gamma` name; "scale" may be any number."""
    if isinstance(machine, LinearMachine):
        same = parameters.kernel == "linear"
    else:
        kernel, gamma = machine.kernel, 1.0 / machine.n_features if gamma == "auto" else gamma
        named = Kernel(parameters.kernel, coef0=float(parameters.coef0), degree=int(parameters.degree))
        if named.formula.takes_gamma and isinstance(kernel, Kernel):
            named = replace(named, gamma=kernel.gamma if gamma == "scale" else float(gamma))
        same = named == kernel
    refuse(not same, "the kernel, gamma, coef0 or degree of its machine differs from its parameters.")


def csr_from(arrays: schema.Arrays, name: str, shape: tuple[int, int], kind: Any = sparse.csr_array) -> Any:
    """Make a sparse matrix whose indices are safe to follow."""
    data, indices, indptr = (arrays[f"{name}_{part}"] for part in CSR)
    rising = len(indptr) == shape[0] + 1 and indptr[0] == 0 and indptr[-1] == len(data) and (np.diff(indptr) >= 0).all()
    refuse(not rising or indptr.dtype != indices.dtype, f"its sparse {name} have row pointers that do not match.")
    if len(data) and not (indices.min() >= 0 and indices.max() < shape[1]):
        raise ModelFileError(f"its sparse {name} have a column outside the matrix.")
    matrix = kind((data, indices, indptr), shape=shape)
    matrix.check_format(full_check=True)
    refuse(not matrix.has_canonical_format, f"its sparse {name} have unsorted or repeated columns.")
    return matrix


FOUND = {"objective": schema.FINITE, "training_risk": schema.real(0.0, 1.0)}
FOUND |= {"lower_bound": schema.optional(schema.real())}
FOUND |= {"status": schema.one_of(("local", "inaccurate", "iteration_limit", "time_limit"))}
FOUND |= {"iterations": schema.whole()}
ROUNDING = 1e-6  # of an objective near its lower bound


def embedded_parts(estimator: EmbeddedRejectSVC) -> schema.Parts:
    """Return the fields and arrays of a fitted machine; an error if it contradicts its parameters."""
    fitted: FittedEmbedded = estimator._fitted_
    eps = fitted.rule.thresholds.upper
    form = LINEAR if isinstance(fitted.machine, LinearMachine) else EXPANSION
    machine, arrays = machine_parts(form, fitted.machine)
    rules.check_same(estimator._rule(_labels(estimator, fitted.rule.labels.classes), eps), fitted.rule)
    check_kernel(estimator, fitted.machine, estimator.gamma)
    _check_bound(estimator, fitted)
    state = {"machine": machine, "rule": rules.rule_state(fitted.rule, (eps,)), **schema.record(fitted, FOUND)}
    return state, schema.prefixed(arrays, MACHINE)


def embedded_from(
    estimator: EmbeddedRejectSVC, fields: schema.Fields, arrays: schema.Arrays, n_features: int, *_: Any
) -> FittedEmbedded:
    """Make the fitted value of these fields and arrays; `embedded_parts` compares them with the parameters."""
    classes, (eps,) = rules.rule_from(fields.take("rule", dict), lambda _: (1,))
    labels = _labels(estimator, classes)
    if not 0.0 <= eps <= 1.0 or (eps > 0.0 and not labels.rejects):
        raise ModelFileError("its reject band is not possible: eps must lie between 0 and 1, and be 0 without rejects.")
    given = fields.inner("machine")
    form = EXPANSION if "kernel" in given else LINEAR
    machine = machine_from(form, given, schema.within(arrays, MACHINE), d=n_features)
    if (form is LINEAR) != (estimator.kernel == "linear"):
        raise ModelFileError("its machine does not have the kernel that its parameters name.")
    return FittedEmbedded(machine=machine, rule=estimator._rule(labels, eps), **fields.record(FOUND))


def _check_bound(estimator: EmbeddedRejectSVC, fitted: FittedEmbedded) -> None:
    """Check that there is a lower bound if the parameters call for one, and that the objective is above it."""
    bound = fitted.lower_bound
    if (bound is None) == (estimator.solver == "dual" or bool(estimator.lower_bound)):
        raise ModelFileError("its lower bound is missing, or it has one that its parameters do not call for.")
    if fitted.objective < max(0.0, -math.inf if bound is None else (1.0 - ROUNDING) * bound):
        raise ModelFileError("its objective lies below its lower bound.")


def _labels(estimator: EmbeddedRejectSVC, classes: Any) -> Labels:
    rejects = estimator._loss().rejects
    return Labels.named(classes, pos_label=estimator.pos_label, reject_label=estimator.reject_label, rejects=rejects)


# d features; two parts of the score
COLUMNS = ("origin", "floor", "centre", "spread")
OWN = schema.layout(**dict.fromkeys(COLUMNS, "f8 d"), residuals="f8 d d", units="f8 2", excess="f8 2")


def one_class_parts(estimator: OneClassSVM) -> schema.Parts:
    """Return the fields and arrays of a fitted machine; an error if it contradicts its parameters."""
    fitted: FittedOneClass = estimator._fitted_
    machine, arrays = machine_parts(EXPANSION, fitted.machine)
    check_kernel(estimator, fitted.machine, estimator.gamma)
    _check(fitted)
    rules.check_status(fitted.proof, fitted.machine.kernel, float(estimator.tol))
    return {"machine": machine, "proof": rules.proofs_state([fitted.proof])[0]}, schema.prefixed(arrays, MACHINE)


def one_class_from(_: Any, fields: schema.Fields, arrays: schema.Arrays, n_features: int, *__: Any) -> FittedOneClass:
    """Make the fitted value from fields and arrays; `one_class_parts` compares them with the parameters."""
    machine = machine_from(EXPANSION, fields.inner("machine"), schema.within(arrays, MACHINE), d=n_features)
    return FittedOneClass(replace(machine, balanced=False), *rules.proofs_from([fields.take("proof", dict)], 1))


def _check(fitted: FittedOneClass) -> None:
    """Check that coefficients are positive, the dual value is that of a length, and the gap no smaller than it can be.

    The gap is relative to the larger objective, or to more where both are nearly 0: then nothing is compared.
    """
    coef, proof = fitted.machine.coef, fitted.proof
    refuse(not len(coef) or not (coef > 0.0).all(), "it has no coefficients, or one of them is not above 0.")
    larger, least = max(abs(proof.objective), abs(proof.dual_objective)), _least_scale(fitted.machine)
    if proof.definite and proof.dual_objective > max(rules.UNBALANCED * larger, least):
        raise ModelFileError("the dual value of its proof is above 0, where it is minus half the square of a length.")
    if larger > least:
        rules.check_objectives(proof, scale=larger)


def _least_scale(machine: KernelMachine) -> float:
    """Return what a gap is relative to at least; infinite if the kernel values are not known."""
    if machine.is_precomputed or not isinstance(machine.kernel, Kernel):
        return math.inf
    with np.errstate(over="ignore", invalid="ignore"):
        return shortest_scale(machine.coef, machine.kernel.diagonal(machine.vectors))


def detector_parts(estimator: NoveltyDetector) -> schema.Parts:
    """Return the fields and arrays of a fitted detector; an error if they contradict each other."""
    now: FittedDetector = estimator._fitted_
    state, machine = one_class_parts(now.one_class)
    own = {name: getattr(now.columns, name) for name in COLUMNS}
    own |= {"residuals": np.ascontiguousarray(now.residuals), "units": now.units, "excess": now.excess}
    positive = (now.columns.spread, now.units, now.excess, np.diag(now.residuals))
    if not all((numbers > 0.0).all() for numbers in positive) or (now.columns.floor < 0.0).any():
        raise ModelFileError("a unit of its detector is not above 0.")
    refuse((np.abs(now.machine.vectors) > FAR).any(), "its detector has vectors beyond the cells that it clips.")
    return state, own | machine


def detector_from(_: Any, fields: schema.Fields, arrays: schema.Arrays, n_features: int, *__: Any) -> FittedDetector:
    """Make the fitted value from fields and arrays."""
    own = schema.beside(arrays, MACHINE)
    schema.fitting(own, OWN, "detector", {"d": n_features})
    one_class = NoveltyDetector.part()
    machine = one_class_from(one_class, fields, arrays, n_features)
    vars(one_class).update(_fitted_=machine, n_features_in_=n_features)
    columns = Columns(*(own[name] for name in COLUMNS))
    return FittedDetector(columns, own["residuals"], one_class, own["units"], own["excess"])
