import numpy as np
import pytest
from sklearn.svm import SVC

from abstain.dual.certificate import certify
from abstain.losses.tangent_hinge import hinge
from clarabel_qp import dual_optimum
from looping import looped
from problems import pose, random_problem
from reference_solver import Reference


@looped(seed=range(30))
def test_agrees_with_a_general_solver(seed):
    problem = random_problem(seed)
    solution = Reference().solve(problem)
    assert certify(problem, solution.beta, solution.bias).primal == pytest.approx(dual_optimum(problem), rel=1e-6)


def test_the_hinge_is_scikit_learns_svc():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    sign = np.where(X[:, 0] + rng.normal(size=60) > 0, 1, -1)
    solution = Reference().solve(pose(X, sign, hinge(), C=3.0))
    theirs = SVC(kernel="linear", C=3.0, tol=1e-10).fit(X, sign)
    # libsvm keeps its kernel rows in single precision
    np.testing.assert_allclose(solution.expansion + solution.bias, theirs.decision_function(X), atol=5e-5)
