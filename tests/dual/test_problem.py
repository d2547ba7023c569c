from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.sparse import csr_array

from abstain.costs.cuts import Thresholds
from abstain.dual.problem import DualProblem
from abstain.kernels import Kernel
from abstain.losses.margin_loss import MarginLoss, PiecewiseLinear
from abstain.losses.tangent_hinge import hinge
from abstain.machines import kernel_machine
from looping import looped
from problems import KERNELS, pose, random_problem

LOSS = MarginLoss(
    negative=PiecewiseLinear((0.0, 2.0), (-4.0, -1.0)),
    positive=PiecewiseLinear((1.0, 3.0), (-5.0, -2.0)),
    thresholds=Thresholds(0, 0),
    cut=0.0,
)


def test_tables_per_row_by_hand():
    problem = pose([[0.0], [1.0], [2.0]], [1, -1, 1], LOSS, C=10.0, weight=[1.0, 0.5, 0.0])
    assert problem.n == 3
    assert problem.knots.tolist() == [[1, 3], [0, 2], [1, 3]]
    assert problem.breakpoints.tolist() == [[0, 20, 50], [0, 5, 20], [0, 0, 0]]


def test_rows_are_priced_by_their_own_class():
    problem = pose([[0.0], [1.0]], [1, -1], LOSS, C=10.0)
    scores, beta = np.array([0.0, 1.0]), np.array([30.0, -30.0])
    # margins 0 and -1: 2 * 3 + 3 * 1 for the positive, 2 + 4 for the negative's 1 * (2 + 1) + 3 * (0 + 1)
    assert_allclose(problem.losses(scores), [90.0, 60.0])
    # phi: 20 at slope 3, then 10 at slope 1; 10 at slope 2, then 20 at slope 0
    assert_allclose(problem.dual_values(beta), [70.0, 20.0])


def with_other_storage(problem, storage):
    if storage == "precomputed":
        return replace(problem, kernel=Kernel("precomputed"), X=problem.gram())
    if storage == "sparse Gram":
        return replace(problem, kernel=Kernel("precomputed"), X=csr_array(problem.gram()))
    return replace(problem, X=csr_array(problem.X)) if storage == "sparse" else problem


@pytest.mark.parametrize("storage", ["dense", "sparse", "precomputed", "sparse Gram"])
@pytest.mark.parametrize("kernel", [*KERNELS, Kernel("sigmoid", 0.1)], ids=lambda kernel: kernel.name)
@looped(entries=[1, 50, 10**6])
def test_scores_are_the_gram_matrix_times_beta(kernel, storage, entries, monkeypatch):
    monkeypatch.setattr(kernel_machine, "_BLOCK", entries)
    problem = with_other_storage(replace(random_problem(1), kernel=kernel), storage)
    beta = np.random.default_rng(0).normal(size=problem.n)
    beta[::3] = 0.0
    expected = problem.gram() @ beta
    assert_allclose(problem.scores(beta), expected, rtol=1e-10, atol=1e-10)
    rows = np.array([3, 0])
    assert_allclose(problem.scores(beta, rows), expected[rows], rtol=1e-10, atol=1e-10)
    assert problem.scores(np.zeros(problem.n)).tolist() == [0.0] * problem.n


def test_linear_scores_survive_far_from_the_origin():
    rng = np.random.default_rng(0)
    X, beta = np.round(rng.normal(size=(200, 3)) * 16) / 16, rng.normal(size=200)
    beta -= beta.mean()
    near, far = (pose(data, np.ones(200), hinge()) for data in (X, X + 1e6))
    moved = far.scores(beta) - near.scores(beta)
    assert np.ptp(moved) < 1e-7  # a shift moves all scores by one constant, which the bias takes up
    assert abs(moved.mean() - 1e6 * (X.T @ beta).sum()) < 1e-4 * np.abs(beta).sum()


def test_data_are_not_copied():
    X = np.eye(3)
    assert pose(X, [1, -1, 1], hinge()).X is X


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"sign": np.array([1, 0], dtype=np.int8)}, "sign must be -1 or \\+1 for each of the 2 rows"),
        ({"sign": np.array([1], dtype=np.int8)}, "sign must be -1 or \\+1"),
        ({"weight": np.array([1.0, -1.0])}, "C times sample_weight must be >= 0"),
        ({"weight": np.array([1.0, np.nan])}, "C times sample_weight"),
        ({"weight": np.array([1.0, np.inf])}, "finite sum"),
        ({"weight": np.ones(3)}, "for each of the 2 rows"),
        ({"kernel": Kernel("precomputed"), "X": np.ones((2, 3))}, r"square Gram matrix.*\(2, 3\)"),
        ({"X": np.array([[1.0], [1e200]])}, "linear kernel overflows at row 1: .* = inf; scale the features"),
        ({"kernel": Kernel("poly", degree=9), "X": np.array([[1e30], [1.0]])}, "poly kernel overflows at row 0"),
    ],
)
def test_invalid_problems_are_refused(change, text):
    whole = {
        "kernel": Kernel("linear"),
        "X": np.eye(2),
        "sign": np.array([1, -1], dtype=np.int8),
        "loss": hinge(),
        "weight": np.ones(2),
    }
    DualProblem(**whole)
    with pytest.raises(ValueError, match=text):
        DualProblem(**(whole | change))
