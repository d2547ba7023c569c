"""`RegularizationPath.at` proves what it returns, and a path that cannot go on says where it ended."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from abstain.costs.costs import Costs
from abstain.dual.certificate import certify
from abstain.kernels import Kernel
from abstain.losses.tangent_hinge import double_hinge, hinge
from abstain.solvers import path as module
from abstain.solvers.path import follow_path
from problems import clouds, pose, two_points

RBF, ASYMMETRIC = Kernel("rbf", gamma=0.5), double_hinge(Costs(1, 5, 0.3))


class TestCertified:
    """`at` proves what it gives, and solves again where the path's line is wrong."""

    @pytest.fixture
    def strayed(self):
        path = follow_path(pose(*clouds(), ASYMMETRIC, kernel=RBF), 1e-2, 1e3)
        wrong = {**path._pieces, "gamma": 1.01 * path._pieces["gamma"]}
        return path, replace(path, _pieces=wrong)

    def test_a_line_that_strayed_is_solved_again(self, strayed):
        path, wrong = strayed
        assert certify(path.problem_at(30.0), *wrong._interpolated(30.0)).relative_gap > 1e-6
        for C in (0.02, 3.0, 30.0, 900.0):
            assert certify(path.problem_at(C), *wrong.at(C)).relative_gap < 1e-9
            np.testing.assert_allclose(wrong.at(C)[0], path.at(C)[0], atol=1e-8 * C)

    def test_what_cannot_be_certified_is_an_error(self, strayed, monkeypatch):
        _, wrong = strayed
        helpless = SimpleNamespace(solve=lambda _, beta: SimpleNamespace(beta=beta))
        monkeypatch.setattr(module, "ActiveSet", lambda **_: helpless)
        with pytest.raises(ValueError, match=r"at C=30 cannot be certified: .* gap of .*, above 1e-06; scale the feat"):
            wrong.at(30.0)

    def test_a_line_that_is_right_is_not_solved_again(self, strayed, monkeypatch):
        path, _ = strayed
        monkeypatch.setattr(module, "ActiveSet", None)
        assert all(np.isfinite(path.at(C)[1]) for C in path.breakpoints)


@pytest.mark.parametrize("C", [0.5e-2, 1.001e3, 0.0, -1.0, np.inf, np.nan])
def test_a_C_off_the_path_is_refused(C):
    path = follow_path(two_points(hinge(), 1.0), 1e-2, 1e3)
    with pytest.raises(ValueError, match=r"must lie on the path, between C_min=0.01 and C_max=1000; follow a longer"):
        path.at(C)


@pytest.mark.parametrize(("ends", "reached"), [([2.0, 0.5], "C=2 "), ([], r"C=0\.01 ")])
def test_a_path_that_ends_early_says_where(monkeypatch, ends, reached):
    broken = SimpleNamespace(path=lambda **_: {"complete": False, "end": np.array(ends)})
    monkeypatch.setattr(module, "_native", broken)
    with pytest.raises(ValueError, match=rf"beyond {reached}\(of C_max=1000\).*scale the features, or pass a smaller"):
        follow_path(two_points(hinge(), 1.0), 1e-2, 1e3)


def test_a_path_that_is_stopped_says_so_and_one_that_is_watched_goes_on():
    problem = pose(*clouds(900), ASYMMETRIC, kernel=RBF)
    with pytest.raises(ValueError, match=r"stopped by its progress function at C=.* \(of C_max=1e\+06\)"):
        follow_path(problem, 1e-4, 1e6, progress=lambda *_: True)
    assert len(follow_path(problem, 1e-2, 1.0, progress=lambda *_: False).breakpoints) > 2
