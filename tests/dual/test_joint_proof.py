"""The proof of several machines together."""

import numpy as np
import pytest

from abstain.dual.proof import OptimalProofs, Proof, joint_proof


def proof(objective, dual, status="optimal", violation=0.0, *, definite=True):
    return Proof(objective, dual, (objective - dual) / objective, violation, status, 7, definite)


def test_the_sum_of_objectives_and_of_gaps():
    joint = joint_proof([proof(10.0, 9.0), proof(30.0, 29.0, violation=0.2)])
    assert (joint.objective, joint.dual_objective, joint.iterations) == (40.0, 38.0, 14)
    assert joint.gap == pytest.approx(2.0 / 40.0)
    assert joint.violation == 0.2
    assert joint.status == "optimal"


@pytest.mark.parametrize("status", ["inaccurate", "iteration_limit", "time_limit"])
def test_one_machine_that_is_not_optimal_shows(status):
    assert joint_proof([proof(1.0, 1.0), proof(1.0, 0.5, status), proof(1.0, 1.0)]).status == status
    assert not joint_proof([proof(1.0, 1.0), proof(1.0, 1.0, definite=False)]).definite


def test_the_worst_of_two_is_shown():
    assert joint_proof([proof(1.0, 0.5, "inaccurate"), proof(1.0, 0.5, "time_limit")]).status == "time_limit"


def test_proofs_in_arrays_are_those_made_one_by_one():
    each = [Proof(10.0 + k, 9.0 + k, 0.1 * k, 0.01 * k, "optimal", 7 * k) for k in range(4)]
    names = ("objective", "dual_objective", "gap", "violation", "iterations")
    proofs = OptimalProofs(*(np.array([getattr(one, name) for one in each]) for name in names))
    assert list(proofs) == each
    assert (len(proofs), proofs[-1], proofs[1:3]) == (4, each[3], tuple(each[1:3]))
    assert joint_proof(proofs) == joint_proof(each)
    assert {type(value) for value in vars(proofs[2]).values()} == {float, int, str, bool}
