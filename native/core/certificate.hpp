// How good coefficients are, by the sums F that they give: no number of a solver counts.
//
//   primal = 1/2 sum_i beta_i F_i + sum_i w_i loss_i(z_i) + total bias      z = y (F + bias),  g = y beta
//   dual   = sum_i phi_i(g_i) - 1/2 sum_i beta_i F_i
//   gap    = sum_i |w_i loss_i(z_i) + g_i z_i - phi_i(g_i)| + |bias (sum_i beta_i - total)|
//
// Each bracket is >= 0 by the definition of phi, so large objectives do not cancel. Long sums keep what each step rounds away.
// tests/certified.py has the same in NumPy.
#pragma once

#include <optional>
#include <vector>

#include "problem.hpp"

namespace abstain {

inline constexpr double rounding_of_breakpoint = 1e-12;  // share of the largest coefficient of a row
inline constexpr double rounded_coefficient = 1e-12;     // share of the largest of all, below which one inside its box is 0
inline constexpr double unbalanced = 1e-10;              // share of the sum of coefficients that rounding may leave of it

struct Measures {
    double bias, primal, dual, gap;
    double pairs;             // the first gain of the best pair step
    double outside, excess;   // by how much a coefficient leaves its box, and their sum the total
    double size, length;      // |beta|_1, |beta|_2
    double reach;             // |w |slopes[0]| + |beta||_2
    double top;               // the largest coefficient allowed
    double room;              // the factor at which the first coefficient reaches its first breakpoint
};

// bias: nan is the best one. It is raised by `lift` of its size.
Measures measured(const Problem& problem, const double* beta, const double* F, double bias, double lift);

// Coefficients inside their boxes that add up to the total; none if these are, up to rounding. If the total is 0, the class
// with the larger sum shrinks; else all rows that can move go the same share of their way. What rounding left of a
// coefficient that is 0 becomes 0.
std::optional<std::vector<double>> made_feasible(const Problem& problem, const double* beta);

}  // namespace abstain
