"""The machines that are compared, each as counts of rejects and errors on both halves for every reject cost."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from harness.external import external_threshold
from measure_pairs import Halves
from numpy.typing import NDArray
from sklearn.svm import SVC

from abstain import Costs, EmbeddedRejectSVC, RejectSVC, embedded_reject_curve

# FR02 does not print its reject costs. Written out, not computed: at w_R = 1/k one error costs exactly k rejects, and a
# grid that rounding has moved by one last digit decides such ties by chance.
REJECT_COSTS = (0.5, 0.45, 0.4, 0.35, 0.3, 0.25, 0.2, 0.15, 0.1, 0.08, 0.06, 0.05, 0.04, 0.03, 0.02, 0.01)
C = 0.1  # FR02, section 4
FACTORS = (1, 2, 4, 8, 16, 32, 64)  # times SVMlight's default C; 0.1 is about 70 times

Counts = list[list[int]]  # for each reject cost: rejects and errors in training, rejects and errors in the test


def svmlight_C(X: NDArray[np.float64]) -> float:
    """SVMlight's default: 1 / mean(x.x)."""
    return float(1.0 / np.mean(np.sum(X * X, axis=1)))


def external(data: Halves, C: float) -> Counts:
    """A plain SVM of weight C that rejects |f| < D, with D chosen on the training half for each reject cost."""
    X, y, X_test, y_test = data
    svm = SVC(kernel="linear", C=C).fit(X, y)
    f, f_test = svm.decision_function(X), svm.decision_function(X_test)
    counts = []
    for cost in REJECT_COSTS:
        D = external_threshold(f, y, cost)
        counts.append([*_counted(_banded(f, D), y), *_counted(_banded(f_test, D), y_test)])
    return counts


def embedded(data: Halves, solver: str) -> Counts:
    """FR02's machine, one fit for each reject cost; the primal solver also starts from the neighbouring cost's."""
    X, y, X_test, y_test = data
    curve = embedded_reject_curve(EmbeddedRejectSVC(C=C, solver=solver), X, y, REJECT_COSTS)
    points, test = curve.training, curve.on(X_test, y_test)
    shares = np.array([points.reject_rate, points.error_rate, test.reject_rate, test.error_rate]).T
    sizes = np.array([len(y), len(y), len(y_test), len(y_test)])
    return np.rint(shares * sizes).astype(int).tolist()


def double_hinge(data: Halves, C_of: Callable[[float], float]) -> Counts:
    """The double hinge with Chow's rule at r = w_R: nothing is tuned on the rows."""
    X, y, X_test, y_test = data
    counts = []
    for cost in REJECT_COSTS:
        clf = RejectSVC(Costs(reject=cost), kernel="linear", C=C_of(cost)).fit(X, y)
        counts.append([*_counted(clf.predict(X), y), *_counted(clf.predict(X_test), y_test)])
    return counts


def hinge_C(r: float) -> float:
    """C of the double hinge that weighs psi_r by 0.1, psi_r(m) = max(0, 1 - m, 1 - m (1 - r) / r).

    psi_r is the double hinge in Bartlett and Wegkamp's units, C_W = C_psi H(r) / r^2 (MATH.md 2); inside the margin it
    is the SVM's own hinge, and at r = 1/2 everywhere.
    """
    return C * entropy(r) / r**2


def risk_C(r: float) -> float:
    """C of the double hinge that weighs 2 r psi_r by 0.1: the same at r = 1/2, and the steep end stays near slope 2."""
    return 2.0 * r * hinge_C(r)


def entropy(p: float) -> float:
    """H(p) = -p log p - (1 - p) log(1 - p)."""
    return float(-p * np.log(p) - (1.0 - p) * np.log1p(-p))


MACHINES: dict[str, Callable[[Halves], Counts]] = {
    "primal": lambda data: embedded(data, "primal"),
    "dual": lambda data: embedded(data, "dual"),
    "external_default": lambda data: external(data, svmlight_C(data[0])),
    "external_same": lambda data: external(data, C),
    "double_hinge": lambda data: double_hinge(data, hinge_C),
    "double_hinge_risk": lambda data: double_hinge(data, risk_C),
}


def measured(data: Halves) -> dict[str, Any]:
    """Every machine's counts and processor seconds, the baseline's for other C, and the sizes of the halves."""
    counts, seconds = {}, {}
    for name, work in MACHINES.items():
        start = time.process_time()
        counts[name] = work(data)
        seconds[name] = time.process_time() - start
    start = time.process_time()
    SVC(kernel="linear", C=svmlight_C(data[0])).fit(data[0], data[1])
    seconds["svm"] = time.process_time() - start
    default = svmlight_C(data[0])
    sweep = [external(data, factor * default) for factor in FACTORS]
    return {"n": [len(data[1]), len(data[3])], "counts": counts, "seconds": seconds, "sweep": sweep}


def measured_scaled(data: Halves) -> dict[str, Counts]:
    """FR02's machine on features divided by 15: FR02 does not say whether its features were scaled.

    The baseline with SVMlight's default C would be the same machine as on the raw features.
    """
    X, y, X_test, y_test = data
    scaled = (X / 15.0, y, X_test / 15.0, y_test)
    return {solver: embedded(scaled, solver) for solver in ("primal", "dual")}


def _banded(f: NDArray[np.float64], D: float) -> NDArray[np.int64]:
    return np.where(np.abs(f) < D, 0, np.where(f > 0, 1, -1))


def _counted(choice: NDArray[np.int64], y: NDArray[np.int64]) -> tuple[int, int]:
    return int(np.sum(choice == 0)), int(np.sum((choice != 0) & (choice != y)))
