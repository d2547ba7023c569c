"""Problems over parts of the same rows: their certificates together are those of each by itself."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from abstain import Costs
from abstain.dual.certificate import certify, rounding
from abstain.dual.parts import Parts, certify_parts, runs
from abstain.dual.problem import DualProblem
from abstain.kernels import Kernel
from abstain.losses.tangent_hinge import double_hinge, hinge
from abstain.machines.kernel_machine import expand_parts, gram_values
from abstain.solvers.native import SMO, part_biases
from reference_solver import best_bias


@pytest.fixture(params=["hinge", "double hinge"])
def parts(request):
    rng = np.random.default_rng(0)
    X, n = rng.standard_normal((300, 3)), 300
    loss = hinge() if request.param == "hinge" else double_hinge(Costs(reject=0.2))
    whole = DualProblem(Kernel("rbf", gamma=0.5), X, np.ones(n, dtype=np.int8), loss, 0.5 + rng.random(n))
    rows = [np.arange(120), np.arange(60, 200), np.arange(150, 300, 3)]
    sign = [np.where(X[r, 0] * X[r, 1] + 0.3 * rng.standard_normal(len(r)) > 0, 1, -1).astype(np.int8) for r in rows]
    starts = np.cumsum([0, *map(len, rows)], dtype=np.int64)
    return Parts.of(whole, np.concatenate(rows).astype(np.int64), starts, np.concatenate(sign))


def by_itself(parts, part):
    """The problem of one part."""
    rows = slice(parts.starts[part], parts.starts[part + 1])
    whole, own = parts.whole, parts.rows[rows]
    return DualProblem(whole.kernel, whole.X[own], parts.sign[rows], whole.loss, whole.weight[own])


def split(parts, values):
    return np.split(values, parts.starts[1:-1])


def test_solutions_sums_biases_and_certificates_are_those_of_each_part(parts):
    answers = SMO(tol=1e-4).solve_parts(parts)
    F = expand_parts(parts.whole.kernel, parts.whole.X, parts.rows, parts.starts, coef=answers.beta)
    bias = part_biases(parts, F)
    known = certify_parts(parts, answers.beta, bias, F)
    for part, (beta, sums) in enumerate(zip(split(parts, answers.beta), split(parts, F), strict=True)):
        problem = by_itself(parts, part)
        np.testing.assert_allclose(sums, problem.gram() @ beta, atol=1e-12)
        assert bias[part] == pytest.approx(best_bias(problem, sums), abs=1e-12)
        own, found = certify(problem, beta, bias[part]), known.certificates()[part]
        for name in ("primal", "dual", "gap", "kkt_violation"):
            assert getattr(found, name) == pytest.approx(getattr(own, name), rel=1e-9, abs=1e-9)
        assert found.relative_gap < 1e-3
        assert known.feasible[part]
        assert known.hidden[part] >= rounding(problem, beta) / own.primal  # a bound on what is estimated for each
        assert answers.status[part] == "optimal"


def test_from_all_kernel_values_as_from_rows(parts):
    gram = gram_values(parts.whole.kernel, parts.whole.X)
    np.testing.assert_allclose(gram[:, :300], parts.whole.gram(), atol=1e-14)
    solver, kernel, rows = SMO(tol=1e-9), parts.whole.kernel, (parts.rows, parts.starts)
    plain, read = solver.solve_parts(parts), solver.solve_parts(replace(parts, gram=gram))
    np.testing.assert_allclose(read.beta, plain.beta, atol=1e-9)
    sums = [expand_parts(kernel, parts.whole.X, *rows, coef=plain.beta, gram=values) for values in (None, gram)]
    np.testing.assert_allclose(sums[1], sums[0], atol=1e-12)
    # control: other values have other answers
    assert abs(solver.solve_parts(replace(parts, gram=gram**2)).beta - plain.beta).max() > 0.01


def test_problems_over_all_rows_are_parts_too(parts):
    rng = np.random.default_rng(3)
    sign = [np.where(rng.random(300) < 0.4, 1, -1).astype(np.int8) for _ in range(2)]
    losses = double_hinge(Costs(reject=0.2)), double_hinge(Costs(false_negative=2, reject=0.3))
    problems = [replace(parts.whole, sign=y, loss=loss) for y, loss in zip(sign, losses, strict=True)]
    both = Parts.of_all(problems, gram_values(parts.whole.kernel, parts.whole.X))
    answers = SMO(tol=1e-5).solve_parts(both)
    F = expand_parts(parts.whole.kernel, parts.whole.X, both.rows, both.starts, coef=answers.beta, gram=both.gram)
    bias = part_biases(both, F)
    known = certify_parts(both, answers.beta, bias, F).certificates()
    for problem, beta, b, found in zip(problems, split(both, answers.beta), bias, known, strict=True):
        own = certify(problem, beta, b)
        assert own.relative_gap < 1e-4
        assert (found.primal, found.dual) == pytest.approx((own.primal, own.dual), rel=1e-9)
        np.testing.assert_allclose(beta, SMO(tol=1e-5).solve(problem).beta, atol=1e-3)


def test_control_wrong_coefficients_show_in_their_part_only(parts):
    answers = SMO().solve_parts(parts)
    beta = answers.beta.copy()
    wrong = slice(parts.starts[1], parts.starts[2])
    beta[wrong] *= 1.1
    F = expand_parts(parts.whole.kernel, parts.whole.X, parts.rows, parts.starts, coef=beta)
    known = certify_parts(parts, beta, part_biases(parts, F), F)
    assert known.feasible.tolist() == [True, False, True]
    assert (known.violation > 0.01).tolist() == [False, True, False]


def test_runs_cover_all_parts_in_order():
    found = runs([5, 5, 30, 1, 1, 1, 9], 10)
    assert found[0][0] == 0
    assert found[-1][1] == 7
    assert all(a[1] == b[0] for a, b in pairwise(found))
    assert runs([], 10) == []


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"rows": np.array([0, 300])}, "rows must be indices"),
        ({"rows": np.array([-1, 0])}, "rows must be indices"),
        ({"starts": np.array([0, 3])}, "starts must run"),
        ({"starts": np.array([0, 2, 1, 2])}, "starts must ascend"),
        ({"coef": np.ones(3)}, "coef must have"),
    ],
)
def test_the_core_refuses_parts_that_are_not_there(wrong, words):
    X, kernel = np.zeros((300, 2)), Kernel("rbf")
    good = {"rows": np.arange(2), "starts": np.array([0, 2]), "coef": np.ones(2)}
    assert expand_parts(kernel, X, **good).tolist() == [2.0, 2.0]
    with pytest.raises(ValueError, match=words):
        expand_parts(kernel, X, **(good | wrong))
