// How good the coefficients of a problem are, by these and their sums F = K beta alone: nothing that a solver found is read.
//
//   primal = 1/2 beta'F + sum_i w_i loss_i(z_i),   dual = sum_i phi_i(g_i) - 1/2 beta'F,   z = y (F + bias),  g = y beta
//   primal - dual = sum_i [w_i loss_i(z_i) + g_i z_i - phi_i(g_i)] - bias sum_i beta_i
//
// Each bracket is >= 0 by the definition of phi, so that large objectives do not cancel. For problems whose total is 0.
#pragma once

#include "problem.hpp"

namespace abstain {

struct PartCertificate {
    double bias;  // with the least primal at these sums
    double primal, dual, gap;
    double relative_gap;  // gap / |primal|, at most the largest number
    double violation;     // max(up) - min(down), or the share of the largest coefficient by which beta is infeasible
    double hidden;        // an upper bound on what rounding may hide of the gap, as a share of the primal
    bool feasible;        // inside the boxes, with a sum of 0 up to rounding
};

// |k(x_i, x_j)| <= root^2, and rounding of its exponent changes it by no more than the share eps (1 + 2 exponent).
struct KernelSize {
    double root, exponent;
};

PartCertificate certify(const Problem& problem, const double* beta, const double* F, const KernelSize& size);

}  // namespace abstain
