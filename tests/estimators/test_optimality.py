"""RejectSVC is optimal on real data and says truly how nearly: a third of the cases of ``verification/``."""

import os
from dataclasses import replace

import numpy as np
import pytest

from abstain import Costs, RejectSVC
from optimality_cases import COSTS, DATA_SETS, KERNELS, STRENGTHS, Case, covering_cases, judge

needs_data = pytest.mark.skipif("ABSTAIN_DATA" not in os.environ, reason="ABSTAIN_DATA names no folder with the data")
MARKS = {"wdbc": [pytest.mark.long], "pima": [pytest.mark.long, needs_data]}  # seconds of the general solver
EACH_SET = [pytest.param(data, marks=MARKS.get(data, [needs_data])) for data in DATA_SETS]


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("data", EACH_SET)
def test_objective_and_gap(data, kernel):
    for case in covering_cases(data):
        if case.kernel == kernel:
            verdict = judge(case)
            assert verdict.holds, (case, verdict)


@pytest.mark.parametrize("kernel", KERNELS)
def test_a_wide_gap_is_reported_as_truly_as_a_narrow_one(kernel):
    verdict = judge(Case("wdbc", kernel, COSTS[2], 1.0), solver="smo", tol=0.3)
    assert verdict.true_gap > 1e-5
    assert verdict.reported_gap == pytest.approx(verdict.true_gap, rel=1e-6)
    assert verdict.error <= verdict.true_gap


def test_the_sample_covers_every_pair_of_settings():
    cases = covering_cases("wdbc")
    assert {(case.kernel, case.costs) for case in cases} == {(kernel, costs) for kernel in KERNELS for costs in COSTS}
    assert {(case.kernel, case.C) for case in cases} == {(kernel, C) for kernel in KERNELS for C in STRENGTHS}
    assert {(case.costs, case.C) for case in cases} == {(costs, C) for costs in COSTS for C in STRENGTHS}


def test_the_judge_has_teeth():
    verdict = judge(Case("wdbc", "rbf", COSTS[2], 1.0))
    assert verdict.holds
    assert not replace(verdict, objective=verdict.objective * (1 + 2e-9)).holds
    worse = verdict.objective * (1 + 2e-6)
    assert not replace(verdict, objective=worse, true_objective=worse).holds
    assert not replace(verdict, reported_gap=verdict.true_gap + 1e-8).holds
    assert not replace(verdict, status="inaccurate").holds


@pytest.mark.parametrize("power", [-60, -25, 40])
def test_the_unit_of_the_rows_does_not_matter(power):
    # powers of two, so that all numbers are the same but for their exponents
    rng = np.random.default_rng(0)
    X, unit = rng.normal(size=(200, 4)), 2.0**power
    y = X[:, 0] + 0.7 * rng.normal(size=200) > 0
    fits = [RejectSVC(Costs(reject=0.3), C=s**-2, kernel="linear", solver="smo").fit(s * X, y) for s in (1.0, unit)]
    assert fits[0].n_iter_ == fits[1].n_iter_
    np.testing.assert_array_equal(fits[0].decision_function(X), fits[1].decision_function(unit * X))
