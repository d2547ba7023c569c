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
from abstain.solvers.native import SMO
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


@pytest.mark.parametrize("values_first", [False, True])
@pytest.mark.parametrize("max_iter", [10_000, 20, 0])
def test_sums_biases_and_certificates_are_those_of_each_part(parts, values_first, max_iter):
    answers = SMO(tol=1e-4, max_iter=max_iter).solve_parts(replace(parts, values_first=values_first))
    known = certify_parts(parts, answers.beta, answers.expansion)
    for part, (beta, sums) in enumerate(zip(split(parts, answers.beta), split(parts, answers.expansion), strict=True)):
        problem = by_itself(parts, part)
        np.testing.assert_allclose(sums, problem.gram() @ beta, atol=1e-12)
        assert known.bias[part] == pytest.approx(best_bias(problem, sums), abs=1e-12)
        own, found = certify(problem, beta, known.bias[part]), known.certificates()[part]
        for name in ("primal", "dual", "gap", "kkt_violation"):
            assert getattr(found, name) == pytest.approx(getattr(own, name), rel=1e-9, abs=1e-9)
        assert (found.relative_gap < 1e-3) == (max_iter == 10_000)
        assert known.feasible[part]
        least = rounding(problem, beta) / own.primal  # what is estimated for each
        assert known.hidden[part] >= (1.0 - 1e-12) * least
        assert answers.status[part] == ("optimal" if max_iter == 10_000 else "iteration_limit")


def test_infeasible_coefficients_have_the_certificates_of_each_part(parts):
    """Outside their boxes, off their sum, or not finite; rows of weight 0; coefficients next to a breakpoint."""
    rng = np.random.default_rng(5)
    top = parts.weight * -parts.loss.tables()[1].min()
    g = np.where(rng.random(len(top)) < 0.5, rng.choice([0.0, 1e-14, 0.5, 1.0, 1.0 - 1e-13], len(top)), 1.0) * top
    for beta in (parts.sign * g, parts.sign * g * rng.normal(size=len(g)), 1e200 * parts.sign):
        F = np.concatenate([by_itself(parts, part).gram() @ own for part, own in enumerate(split(parts, beta))])
        known = certify_parts(parts, beta, F)
        for part, (own_beta, own_F) in enumerate(zip(split(parts, beta), split(parts, F), strict=True)):
            own = certify(by_itself(parts, part), own_beta, known.bias[part], own_F)
            found = known.certificates()[part]
            numbers = [(one.primal, one.dual, one.gap, one.relative_gap, one.kkt_violation) for one in (found, own)]
            np.testing.assert_allclose(*numbers, rtol=1e-9)
        assert not known.feasible.any()
    known = certify_parts(parts, np.full(len(g), np.nan), np.full(len(g), np.nan))
    assert (known.relative_gap == np.finfo(np.float64).max).all()
    assert not known.feasible.any()


@pytest.mark.parametrize("name", ["rbf", "laplacian", "poly", "sigmoid"])
def test_from_kernel_values_as_from_rows(parts, name):
    """All of them given, or those of each part made first: parts of runs, of single rows, of rows that no other has."""
    kernel = Kernel(name, gamma=0.5, coef0=0.1, degree=2)
    parts = replace(parts, whole=replace(parts.whole, kernel=kernel))
    gram = gram_values(kernel, parts.whole.X)
    np.testing.assert_allclose(gram[:, :300], parts.whole.gram(), rtol=1e-11, atol=1e-13)
    solver, rows = SMO(tol=1e-9, n_jobs=2), (parts.rows, parts.starts)
    plain = solver.solve_parts(parts)
    for read in (replace(parts, gram=gram), replace(parts, values_first=True)):
        found = solver.solve_parts(read)
        if kernel.formula.definite(kernel):
            np.testing.assert_allclose(found.beta, plain.beta, atol=1e-7)
        sums = expand_parts(kernel, parts.whole.X, *rows, coef=found.beta)
        np.testing.assert_allclose(found.expansion, sums, rtol=1e-10, atol=1e-11)
    # control: other values have other answers
    assert abs(solver.solve_parts(replace(parts, gram=gram**2)).beta - plain.beta).max() > 0.01


def test_problems_over_all_rows_are_parts_too(parts):
    rng = np.random.default_rng(3)
    sign = [np.where(rng.random(300) < 0.4, 1, -1).astype(np.int8) for _ in range(2)]
    losses = double_hinge(Costs(reject=0.2)), double_hinge(Costs(false_negative=2, reject=0.3))
    problems = [replace(parts.whole, sign=y, loss=loss) for y, loss in zip(sign, losses, strict=True)]
    both = Parts.of_all(problems, values_first=True)
    answers = SMO(tol=1e-5).solve_parts(both)
    known = certify_parts(both, answers.beta, answers.expansion)
    each = zip(problems, split(both, answers.beta), known.bias, known.certificates(), strict=True)
    for problem, beta, b, found in each:
        own = certify(problem, beta, b)
        assert own.relative_gap < 1e-4
        assert (found.primal, found.dual) == pytest.approx((own.primal, own.dual), rel=1e-9)
        np.testing.assert_allclose(beta, SMO(tol=1e-5).solve(problem).beta, atol=1e-3)


def test_control_wrong_coefficients_show_in_their_part_only(parts):
    beta = SMO().solve_parts(parts).beta
    wrong = slice(parts.starts[1], parts.starts[2])
    beta[wrong] *= 1.1
    F = expand_parts(parts.whole.kernel, parts.whole.X, parts.rows, parts.starts, coef=beta)
    known = certify_parts(parts, beta, F)
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
