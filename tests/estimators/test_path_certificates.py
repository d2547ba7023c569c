"""What a path says of any C is certified in extended precision, or is an error."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

from abstain import (
    Costs,
    reject_svc_path,
)
from adversary_cases import Case, random_case
from adversary_paths import PATH_GAP, check_path, line_gaps
from looping import looped


def noise(seed, rows):
    """Labels without any relation to the rows."""
    rng = np.random.default_rng(seed)
    X = rows(rng)
    y = np.where(rng.random(len(X)) < 0.5, 1, -1)
    y[:2] = 1, -1
    return X, y


def cauchy(seed):
    """Rows far out, under a kernel that makes them extreme."""
    X, y = noise(seed, lambda rng: rng.standard_cauchy(size=(30, 2)))
    options = {"kernel": "poly", "C": 1e3, "costs": None, "degree": 3, "gamma": 1.0, "coef0": 1.0}
    return Case(0, X, y, None, options, "poly")


def cheap_rejects(seed):
    """Many rows that nearly depend on each other, and a large C."""
    X, y = noise(seed, lambda rng: rng.normal(size=(40, 1)))
    return Case(0, X, y, None, {"kernel": "rbf", "C": 1e6, "costs": Costs(reject=1e-3)}, "rbf")


def path_of(case, **ends):
    options = {name: value for name, value in case.options.items() if name != "C"}
    return reject_svc_path(case.X, case.y, **{"C_min": 1e-3, "C_max": case.options["C"], **options, **ends})


def between(path):
    """Half-way between neighbouring breakpoints."""
    return np.sqrt(path.breakpoints[1:] * path.breakpoints[:-1])


class TestPath:
    """What `RegularizationPath.at` gives is certified, or it is an error."""

    @looped(seed=range(60))
    def test_poly_of_degree_3_on_cauchy_data(self, seed):
        assert check_path(cauchy(seed), values=8).faults == []

    @looped(seed=range(67))
    def test_noise_in_one_dimension_with_cheap_rejects(self, seed):
        assert check_path(cheap_rejects(seed), values=8).faults == []

    @looped(seed=range(60))
    def test_random_problems(self, seed):
        assert check_path(random_case(seed, path=True), values=3).faults == []


class TestBreakpoints:
    """Between breakpoints the path's own lines are optimal, on problems where rounding leads astray."""

    @looped(case=[cauchy(seed) for seed in (1, 15, 16, 19, 29, 49)])
    def test_poly_of_degree_3_on_cauchy_data(self, case):
        path = path_of(case)
        assert max(line_gaps(case, path, between(path))) <= PATH_GAP

    @looped(case=[cheap_rejects(seed) for seed in (0, 2, 43, 45, 62)])
    def test_noise_in_one_dimension_with_cheap_rejects(self, case):
        path = path_of(case)
        assert max(line_gaps(case, path, between(path))) <= PATH_GAP

    def test_control_rates_that_are_a_little_off_are_caught(self):
        case = cheap_rejects(0)
        path = path_of(case)
        off = replace(path, _pieces={**path._pieces, "rate": 1.001 * path._pieces["rate"]})
        assert max(line_gaps(case, off, between(path))) > PATH_GAP

    @looped(case=[cauchy(seed) for seed in (13, 24, 59)])
    def test_what_rounding_hides_is_an_error_and_the_path_up_to_there_is_right(self, case):
        with pytest.raises(ValueError, match=r"could not be followed beyond C=\S+ .*: rounding hides") as refused:
            path_of(case)
        reached = float(re.search(r"beyond C=(\S+)", str(refused.value)).group(1))
        path = path_of(case, C_max=0.999 * reached)
        assert max(line_gaps(case, path, between(path))) <= PATH_GAP
