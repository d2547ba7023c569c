// How good a solution is that misses the optimum by no more than the tolerance.
#pragma once

#include "outcome.hpp"
#include "policy.hpp"
#include "problem.hpp"

namespace abstain {

// Whether a violation of the tolerance leaves a gap of at most so many tolerances, relative to the dual value: rows with a
// coefficient may each have a loss of the violation times their weight.
inline bool leaves_small_gap(const Problem& problem, const Outcome& outcome) {
    double dual = 0, most = 0;
    for (Index i = 0; i < problem.size; ++i) {
        const double beta = outcome.beta[i];
        dual += problem.phi(i, problem.sign[i] * beta) - 0.5 * beta * outcome.expansion[i];
        if (beta != 0) most += problem.breakpoint(i, problem.pieces());
    }
    return outcome.status == Status::converged && most <= policy::gap_in_tolerances * dual;
}

}  // namespace abstain
