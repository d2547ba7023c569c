"""Fits have the same bits on every instruction set that the processor has, and for one thread and two."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.datasets import make_classification

from abstain import Costs, EmbeddedRejectSVC, LinearRejectSVC, OneClassSVM, RejectSVC, _native, reject_svc_path

SETS = _native.instruction_sets()


@pytest.fixture(autouse=True)
def restored() -> Iterator[None]:
    yield
    _native.use_instruction_set(SETS[-1])


def data(rows: int, features: int) -> tuple[Any, Any]:
    return make_classification(
        rows, features, n_informative=features, n_redundant=0, class_sep=0.5, flip_y=0.1, random_state=0
    )


def written(model: Any, X: Any, y: Any) -> bytes:
    model.fit(X, y)
    learned = [getattr(model, name) for name in ("coef_", "dual_coef_") if hasattr(model, name)]
    assert learned
    parts = [*learned, model.intercept_, model.decision_function(X[:100])]
    return b"".join(np.ascontiguousarray(part).tobytes() for part in parts)


def wide(X: Any) -> Any:
    """The rows in 50 blocks of columns: so few entries that the solver keeps them sparse."""
    n, d = X.shape
    columns = d * (np.arange(n) % 50)[:, np.newaxis] + np.arange(d)
    return csr_array((X.ravel(), columns.ravel(), d * np.arange(n + 1)), shape=(n, 50 * d))


def svm(n_jobs: int, **parameters: Any) -> RejectSVC:
    return RejectSVC(Costs(reject=0.2), n_jobs=n_jobs, **parameters)


FITS: dict[str, Callable[[Any, int], bytes]] = {
    "rbf": lambda X, jobs: written(svm(jobs), X, data(len(X), 8)[1]),
    "rbf, active set": lambda X, jobs: written(svm(jobs, solver="active-set"), X, data(len(X), 8)[1]),
    "rbf, sparse": lambda X, jobs: written(svm(jobs), csr_array(X[:300]), data(len(X), 8)[1][:300]),
    "laplacian": lambda X, jobs: written(svm(jobs, kernel="laplacian"), X, data(len(X), 8)[1]),
    "laplacian, sparse": lambda X, jobs: written(
        svm(jobs, kernel="laplacian"), wide(X[:300]), data(len(X), 8)[1][:300]
    ),
    "laplacian, votes": lambda X, jobs: written(
        RejectSVC(kernel="laplacian", n_jobs=jobs), X[:600], data(len(X), 8)[1][:600] + (X[:600, 0] > 1.0)
    ),
    "poly": lambda X, jobs: written(svm(jobs, kernel="poly", coef0=1.0), X[:600], data(len(X), 8)[1][:600]),
    "sigmoid": lambda X, jobs: written(svm(jobs, kernel="sigmoid", gamma=0.01), X[:600], data(len(X), 8)[1][:600]),
    "linear": lambda X, jobs: written(svm(jobs, kernel="linear"), X, data(len(X), 8)[1]),
    "linear machine": lambda X, jobs: written(LinearRejectSVC(n_jobs=jobs), X, data(len(X), 8)[1]),
    "linear machine, single": lambda X, jobs: written(
        LinearRejectSVC(n_jobs=jobs), X.astype(np.float32), data(len(X), 8)[1]
    ),
    "linear machine, sparse": lambda X, jobs: written(
        LinearRejectSVC(n_jobs=jobs), wide(X[:300]), data(len(X), 8)[1][:300]
    ),
    "linear machines, sparse": lambda X, jobs: written(
        LinearRejectSVC(n_jobs=jobs), wide(X[:300]), data(len(X), 8)[1][:300] + (X[:300, 0] > 1.0)
    ),
    "embedded": lambda X, _: written(EmbeddedRejectSVC(0.2, n_starts=3), X[:200], data(len(X), 8)[1][:200]),
    "one class": lambda X, jobs: written(OneClassSVM(n_jobs=jobs), X, None),
}


@pytest.mark.filterwarnings("ignore:.*not positive semidefinite")  # sigmoid
@pytest.mark.parametrize("name", FITS)
def test_fits_have_the_same_bits_everywhere(name):
    X, _ = data(1500, 8)
    answers = []
    for instruction_set in SETS:
        _native.use_instruction_set(instruction_set)
        assert _native.instruction_set() == instruction_set
        answers += [FITS[name](X, n_jobs) for n_jobs in (1, 2)]
    assert len(set(answers)) == 1
    # control: the last bit of one number of all rows shows
    _native.use_instruction_set(SETS[-1])
    X[7, 3] = np.nextafter(np.float32(X[7, 3]), np.float32(np.inf))
    assert FITS[name](X, 1) != answers[0]


def test_paths_have_the_same_bits_everywhere():
    X, y = data(120, 4)
    answers = set()
    for instruction_set in SETS:
        _native.use_instruction_set(instruction_set)
        beta, bias = reject_svc_path(X, y, Costs(reject=0.2), C_min=0.1, C_max=10.0).at(3.0)
        answers.add((beta.tobytes(), bias))
    assert len(answers) == 1


def test_other_instruction_sets_are_refused():
    with pytest.raises(ValueError, match="instruction_sets"):
        _native.use_instruction_set("x86-64-v9")
