"""Run a graph with onnxruntime and compare it with Python, on rows like the training rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.pipeline import Pipeline

from abstain.estimators.unwrap import decide
from abstain.files.onnx import scoring_machine
from abstain.files.onnx_inputs import Inputs
from abstain.kernels import Kernel
from abstain.machines.kernel_machine import KernelMachine
from abstain.machines.linear_machine import LinearMachine

if TYPE_CHECKING:
    import onnx

ROWS = 200
ROUNDING = 1e-10  # the largest difference of two scores, relative to the terms of their sums; float32 gives 1e-7


def compare(model: onnx.ModelProto, estimator: Any) -> None:
    """Raise an error if the graph's scores or labels differ from Python's; without onnxruntime, do nothing."""
    try:
        import onnxruntime
    except ImportError:
        return
    piped = type(estimator) is Pipeline
    decider = estimator[-1] if piped else estimator
    machine = scoring_machine(decider)
    rows, feeds = Inputs.of(estimator).rows(estimator[:-1], ROWS) if piped else _machine_rows(machine)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3  # errors only
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    label, score, rejected = session.run(["label", "score", "rejected"], feeds)
    features = _dense(estimator[:-1].transform(rows)) if piped else rows
    decisions = decide(estimator, rows)
    slack = ROUNDING * _sizes(machine, features)
    edges = [decider.thresholds_.lower, decider.thresholds_.upper]
    near = np.abs(score[:, np.newaxis] - edges).min(axis=1) <= slack
    agree = (label == decisions.label) & (rejected == decisions.rejected)
    apart = np.abs(score - decisions.score)
    if not (apart <= slack).all() or not (agree | near).all():
        raise RuntimeError(
            f"the results of onnxruntime {onnxruntime.__version__} differ from Python's: scores by up to "
            f"{apart.max():.3g}, and {int((~agree).sum())} of {len(agree)} decisions; no graph is returned."
        )


def _sizes(machine: KernelMachine | LinearMachine, X: NDArray[np.float64]) -> NDArray[np.float64]:
    """The size of the terms whose sum is each row's score."""
    linear = machine if isinstance(machine, LinearMachine) else machine.linear
    if linear is not None:
        terms = (np.abs(X) + np.abs(linear.centre)) @ np.abs(linear.weights)
    elif isinstance(machine, KernelMachine):
        kernel, coef = machine.kernel, np.abs(machine.coef)
        if not isinstance(kernel, Kernel) or kernel.name == "rbf":
            terms = np.full(len(X), coef.sum())
        else:  # |tanh(u) - tanh(v)| <= |u - v|
            degree = kernel.degree if kernel.name == "poly" else 1
            alike = Kernel("poly", gamma=kernel.gamma, coef0=abs(kernel.coef0), degree=degree)
            terms = alike(np.abs(X), np.abs(_dense(machine.vectors))) @ coef + coef.sum()
    return np.asarray(terms + abs(machine.bias) + 1.0)


def _dense(vectors: Any) -> NDArray[np.float64]:
    return np.asarray(vectors.toarray() if sparse.issparse(vectors) else vectors)


def _machine_rows(machine: KernelMachine | LinearMachine) -> tuple[NDArray[np.float64], dict[str, Any]]:
    """Support vectors and points between two of them; for linear machines, points with scores from -3 to 3."""
    rng = np.random.default_rng(0)
    linear = machine if isinstance(machine, LinearMachine) else machine.linear
    if linear is not None:
        weights = linear.weights
        rows = rng.standard_normal((ROWS, len(weights)))
        square = float(weights @ weights)
        if square >= np.finfo(np.float64).tiny:  # else every score is the bias, up to rounding
            apart = np.linspace(-3.0, 3.0, ROWS) - rows @ weights - machine.bias
            rows += np.outer(apart / square, weights)
        rows += linear.centre
        return rows, {"X": rows}
    vectors = _dense(machine.vectors) if isinstance(machine, KernelMachine) else np.empty((0, 0))
    if not len(vectors):
        vectors = np.zeros((1, machine.n_features))
    first, second = (vectors[rng.integers(0, len(vectors), ROWS)] for _ in range(2))
    share = rng.uniform(0, 1, (ROWS, 1)) * (np.arange(ROWS) % 2)[:, np.newaxis]
    rows = np.ascontiguousarray(first + share * (second - first))
    return rows, {"X": rows}
