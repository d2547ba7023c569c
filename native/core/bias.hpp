// The bias that minimises the primal for a fixed F; the middle where there is an interval of them.
//
//   sum_i w_i loss_i(y_i (F_i + b)) + total b is convex and piecewise linear in b; far to the left its slope is
//   total - sum_{y_i = +1} w_i u_K, and it grows by w_i (u_(k+1) - u_k) at y_i t_k - F_i
//
// tests/reference_solver.py has the same in Python; tests compare the two.
#pragma once

#include <vector>

#include "problem.hpp"

namespace abstain {

double best_bias(const Problem& problem, const std::vector<double>& F);

}  // namespace abstain
