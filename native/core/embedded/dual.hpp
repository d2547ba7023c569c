// FR02's own solver: the dual of the training problem (equation 27), divided by C, in t = alpha / C and v = sum_i t_i y_i x_i:
//
//   max  W(t) / C = sum_i t_i - 1/2 v.v + min_{0 <= eps <= 1} sum_i g_eps(t_i)        y't = 0,  t >= 0
//
// by pairs of multipliers and golden section. W is concave but given only through the inner minimisation g, tabulated
// over (t, eps) with its sum over the rows kept for every eps: a pair changes two terms of each sum. The primal is not
// convex, so W stays below F even at both optima.
#pragma once

#include <algorithm>
#include <vector>

#include "embedded/inner.hpp"
#include "embedded/objective.hpp"
#include "embedded/primal.hpp"
#include "watch.hpp"

namespace abstain {

struct DualSettings {
    Index max_iter = 1'000'000;  // pair steps
    double tolerance = 1e-5;     // stops where a round of as many steps as there are rows raises W by a smaller share
    Index t_values = 1201;
};

// The largest t tabulated: the slope of h'' beyond its steps is 2 a xi, between them that of a chord, below 1.
inline double largest_multiplier(const EmbeddedLoss& loss) { return std::max(1.5, 30 * loss.slack_penalty); }

struct DualOutcome {
    std::vector<double> multipliers;  // t_i
    std::vector<double> trace;        // W / C by the table, after each round
    std::vector<double> eps_grid;     // the values of eps tabulated, and
    std::vector<double> sums;         // sum_i g_eps(t_i) by the table for each of them
    Status status = Status::converged;
    Index iterations = 0;
};

DualOutcome solve_dual(const EmbeddedRows& rows, const EmbeddedLoss& loss, const DualSettings& settings, Watch& watch);

}  // namespace abstain
