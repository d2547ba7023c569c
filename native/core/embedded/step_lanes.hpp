// The loops of FR02's machine, compiled once per instruction set with those of lanes/lanes.hpp.
#pragma once

namespace abstain {

// FR02's smoothed step loss h''(xi, eps) with the numbers that stay the same over all rows; see loss.hpp.
struct StepLoss {
    double steepness, margin_cost, reject_step, error_step, slack_penalty, least_slack, eps;
};

struct StepLanes {
    // Over blocks of rows (the features of a block in turn, as in Lanes::accumulate) with margins m = rows . point:
    // gradient = d/dpoint sum_i weight_i phi(m_i, eps), sums = {that sum, its derivative by eps}. scratch: features * 16.
    void (*losses)(const StepLoss&, int features, const double* rows, const double* weight, const double* point, long blocks,
                   double* gradient, double* sums, double* scratch);
    // min_e base[e] + sum_k factor[k] row[k][e] over whole vectors; out[e] holds the sums where it is given.
    double (*least_sum)(const double* base, const double* const* row, const double* factor, int count, int size, double* out);
};

}  // namespace abstain
