"""The proof of several machines that were trained on problems of their own: that of the sum of the problems."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from abstain.dual.proof import Proof
from abstain.dual.solution import Status

__all__ = ["joint_proof"]

# how a set of fits ended: as the first of these that any of them ended
_WORST = (Status.TIME_LIMIT, Status.ITERATION_LIMIT, Status.INACCURATE, Status.OPTIMAL)


def joint_proof(proofs: Sequence[Proof]) -> Proof:
    """Give the proof of the sum of the problems, which no machine of one affects in another.

    ::

        objective = sum of objectives,   gap = sum of gaps (not relative) / objective,   violation = the largest

    The status is the worst one: "optimal" only if every machine is.
    """
    objective = sum(proof.objective for proof in proofs)
    apart = sum(proof.gap * abs(proof.objective) for proof in proofs)
    statuses = {proof.status for proof in proofs}
    return Proof(
        objective=objective,
        dual_objective=sum(proof.dual_objective for proof in proofs),
        gap=min(apart / max(abs(objective), sys.float_info.min), sys.float_info.max),
        violation=max(proof.violation for proof in proofs),
        status=next(status.value for status in _WORST if status.value in statuses),
        iterations=sum(proof.iterations for proof in proofs),
        definite=all(proof.definite for proof in proofs),
    )
